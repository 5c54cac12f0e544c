//! The tour ends well, in words and in JSON.

use serde_json::{Value as Json, json};

use crate::program::{Data, ended};

/// The tour, in a home of its own.
fn tour(arguments: &str) -> crate::program::Ended {
    let data = Data::new();
    let mut program = data.program(arguments.split(' '));
    // What is set for another program of this kind is not the tour's.
    program.env("RELAYLINK_READ_ONLY", "true").env("RELAYLINK_LISTEN", "nonsense");
    for proxy in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        program.env(proxy, "http://127.0.0.1:1").env_remove("NO_PROXY").env_remove("no_proxy");
    }
    let ended = ended(program);
    assert!(data.mails().is_empty(), "the tour leaves everybody's own data alone");
    ended
}

#[test]
fn every_step_is_as_it_should_be() {
    let ended = tour("tour");
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.ends_with("\nEvery step was as it should be.\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("“Send package (irreversible)”"), "{}", ended.stdout);
}

#[test]
fn in_json_each_request_and_its_reply_is_a_line_and_the_mails_come_last() {
    let ended = tour("tour --json");
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let lines: Vec<Json> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(Json::is_object), "{}", ended.stdout);
    let (calls, mails) = lines.split_at(lines.len() - 3);
    let to: Vec<_> = mails.iter().map(|line| line["mail"]["to"].as_str().unwrap()).collect();
    assert_eq!(to.iter().filter(|to| **to == "ben@example.org").count(), 2, "{to:?}");
    assert!(mails.iter().all(|line| line["mail"]["subject"].as_str().is_some_and(|line| !line.is_empty())));
    for call in calls {
        assert!(call["caller"].is_string() && call["arguments"].is_object(), "{call}");
        assert!(call.get("reply").is_some() != call.get("refusal").is_some(), "{call}");
    }
    let of = |tool: &str| calls.iter().filter(|call| call["tool"] == tool).collect::<Vec<_>>();
    let [reader, other, sent, again] = of("confirm_send")[..] else { panic!("{}", ended.stdout) };
    assert_eq!((&reader["refusal"]["code"], &reader["annotations"]), (&json!("not_permitted"), &json!(null)));
    assert_eq!(other["refusal"]["code"], "not_found");
    assert_eq!(sent["asks"], "Send package (irreversible)");
    assert_eq!(sent["retries"], false);
    assert_eq!(sent["reply"], again["reply"]);
    assert_eq!(of("check_inbox")[0]["asks"], false);
}

#[test]
fn a_reader_that_has_had_enough_ends_it_well() {
    let data = Data::new();
    let mut child = data.program(["tour"]).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_in_a_sentence() {
    let data = Data::new();
    let mut program = data.program(["tour"]);
    program.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let ended = ended(program);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("error: the answer cannot be written: "), "{}", ended.stderr);
}

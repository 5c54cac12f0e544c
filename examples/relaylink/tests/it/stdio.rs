//! One client, one account, over stdin and stdout.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::mpsc,
    thread::{sleep, spawn},
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

use crate::program::{Client, Data, Server};

#[test]
fn an_empty_store_gets_an_account_and_the_only_account_is_taken() {
    let data = Data::new();
    for _ in 0..2 {
        let mut client = Client::start(data.program(["stdio"]));
        let me = client.call("whoami", &json!({}))["structuredContent"].clone();
        assert_eq!((me["address"].as_str(), me["keyName"].as_str()), (Some("me@localhost"), Some("stdio")));
        let ended = client.end();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
    }
    assert_eq!(data.done("account list").lines().count(), 1);
    let keys = data.done("key list");
    assert_eq!(keys.lines().count(), 1);
    let row: Vec<_> = keys.split('\t').collect();
    assert_eq!((row[1], row[2]), ("stdio", "-"));
    assert_ne!(row[4], "-", "its last use is written down when the client goes");
}

#[test]
fn with_several_accounts_it_must_be_told_whose() {
    let data = Data::with_ana();
    data.done("account create ben@example.org --name Ben");
    let ended = data.run("stdio");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("ana@example.org, ben@example.org"), "{}", ended.stderr);
    assert!(ended.stderr.contains("--account EMAIL"), "{}", ended.stderr);
    let mut client = Client::start(data.program(["stdio", "--account", "BEN@example.org"]));
    assert_eq!(client.call("whoami", &json!({}))["structuredContent"]["name"], "Ben");
}

#[test]
fn what_the_key_may_not_do_is_neither_listed_nor_done() {
    let data = Data::with_ana();
    let mut client = Client::start(data.program(["stdio", "--as", "Editor", "--may", "writes"]));
    let tools = client.tools();
    assert!(tools.contains(&"whoami".into()) && !tools.contains(&"memory_add".into()), "{tools:?}");
    let refused = client.call("memory_add", &json!({ "text": "x" }));
    assert_eq!(refused["isError"], true);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("not_permitted"), "{refused}");
    // The key keeps what it was made with, and another wish is refused.
    assert!(!Client::start(data.program(["stdio", "--as", "Editor"])).tools().contains(&"memory_add".into()));
    let ended = data.run("stdio --as Editor --may writes,removes");
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("what it may do differs"), "{}", ended.stderr);
}

#[test]
fn a_key_that_only_reads_is_offered_the_same_as_over_http_and_is_told_of() {
    let data = Data::with_ana();
    let secret = data.done("key create ana@example.org --name far --read-only");
    let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
    let (_, body) = server.post(&secret, "tools/list", &json!({}));
    let far: Json = serde_json::from_str(&body).unwrap();
    let mut program = data.program(["stdio", "--as", "near"]);
    program.env("RELAYLINK_KEY_READ_ONLY", "true");
    let mut client = Client::start(program);
    let id = client.send("tools/list", &json!({}));
    let near = client.answer();
    assert_eq!((&near["id"], &near["result"]["tools"]), (&json!(id), &far["result"]["tools"]));
    let refused = client.call("memory_add", &json!({ "text": "x" }));
    assert_eq!(refused, server.call(&secret, "memory_add", &json!({ "text": "x" })));
    let told = client.end().stderr;
    assert!(
        told.contains("acting as the key \"near\" of ana@example.org. May read. May not: write"),
        "{told}"
    );
    let mut again = Client::start(data.program(["stdio", "--as", "near", "--key-read-only"]));
    assert!(!again.tools().contains(&"memory_add".into()));
    let ended = data.run("stdio --as near --key-read-only --may writes");
    assert!(
        ended.code == Some(2) && ended.stderr.contains("--key-read-only and --may exclude"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_key_that_was_revoked_is_refused_at_once_and_not_made_anew() {
    let data = Data::with_ana();
    let mut client = Client::start(data.program(["stdio", "--as", "Editor"]));
    assert_eq!(client.call("whoami", &json!({}))["isError"], false);
    data.done("key revoke ana@example.org Editor");
    let refused = client.call("whoami", &json!({}));
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("not_permitted"), "{refused}");
    let ended = data.run("stdio --as editor");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(
        ended.stderr.contains("is not made anew") && ended.stderr.contains("--as NAME"),
        "{}",
        ended.stderr
    );
    assert_eq!(data.done("key list").lines().count(), 1);
}

#[test]
fn tools_are_offered_as_configured_by_flag_or_environment() {
    let data = Data::with_ana();
    let mut memory =
        Client::start(data.program(["stdio", "--toolsets", "memory", "--exclude-tools", "memory_add"]));
    assert_eq!(memory.tools(), ["memory_search", "memory_forget"]);
    let mut program = data.program(["stdio", "--exclude-tools", "whoami, memory_add"]);
    program.env("RELAYLINK_TOOLSETS", "memory, account");
    let mut spaced = Client::start(program).tools();
    spaced.sort();
    assert_eq!(spaced, ["list_api_keys", "memory_forget", "memory_search", "revoke_api_key"]);
    let mut program = data.program(["stdio", "--toolsets", "memory"]);
    program.env("RELAYLINK_READ_ONLY", "true");
    let mut reading = Client::start(program);
    assert_eq!(reading.tools(), ["memory_search"]);
}

/// Ana and Ben, who are contacts.
fn contacts() -> Data {
    let data = Data::with_ana();
    data.done("account create ben@example.org --name Ben");
    let mut ana = of(&data, "ana", &[]);
    let mut ben = of(&data, "ben", &[]);
    let invited = ana.call("invite_contact", &json!({ "email": "ben@example.org" }));
    let request = &invited["structuredContent"]["request"];
    assert_eq!(ben.call("accept_contact", &json!({ "request": request }))["isError"], false);
    data
}

/// A client of this person.
fn of(data: &Data, who: &str, more: &[&str]) -> Client {
    let account = format!("{who}@example.org");
    let arguments = ["stdio", "--account", &account].into_iter().chain(more.iter().copied());
    Client::start(data.program(arguments))
}

fn draft(client: &mut Client) -> Json {
    let draft = json!({ "to": ["ben@example.org"], "subject": "Numbers", "body": "All is well." });
    client.call("draft_package", &draft)["structuredContent"]["draft"].clone()
}

#[test]
fn a_briefing_goes_through_the_smallest_set() {
    let data = contacts();
    let mut ana = of(&data, "ana", &["--toolsets", "messages"]);
    let mut ben = of(&data, "ben", &["--toolsets", "messages"]);
    assert_eq!(ana.tools().len(), 8);
    let draft = draft(&mut ana);
    let sent = ana.call("confirm_send", &json!({ "draft": draft }));
    assert_eq!(sent["isError"], false, "{sent}");
    let inbox = ben.call("check_inbox", &json!({}));
    let package = &inbox["structuredContent"]["packages"][0]["package"];
    let read = ben.call("get_package", &json!({ "package": package }));
    assert_eq!(read["structuredContent"]["body"]["content"], "All is well.", "{read}");
    // A tool of another room is none here, and says which.
    ana.send("tools/call", &json!({ "name": "memory_add", "arguments": { "text": "x" } }));
    let error = &ana.answer()["error"];
    assert_eq!(error["code"], -32602);
    assert!(error["message"].as_str().unwrap().contains("memory_add"), "{error}");
}

#[test]
fn help_is_told_and_nothing_is_made() {
    for arguments in ["--help", "stdio --help", "serve --help"] {
        let data = Data::new();
        let told = data.run(arguments);
        assert_eq!((told.code, told.stderr.as_str()), (Some(0), ""), "{arguments}");
        assert!(told.stdout.contains("Usage: relaylink"), "{arguments}: {}", told.stdout);
        assert!(!data.store().exists(), "{arguments}");
    }
}

/// How soon it is gone once its input ends.
const SOON: Duration = Duration::from_secs(2);

#[test]
fn without_input_it_is_gone_at_once() {
    let data = Data::with_ana();
    let begun = Instant::now();
    let ended = data.run("stdio");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
fn a_request_and_the_end_of_input_are_answered_and_its_mail_goes_once() {
    let data = contacts();
    let mut ana = of(&data, "ana", &[]);
    let draft = draft(&mut ana);
    ana.send("tools/call", &json!({ "name": "confirm_send", "arguments": { "draft": draft } }));
    let ended = ana.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let sent: Json = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(sent["result"]["isError"], false, "{sent}");
    // If it has not gone yet, the next one that is started sends it.
    let next = of(&data, "ana", &[]);
    let letters = || data.mails().iter().filter(|mail| mail.contains("Numbers")).count();
    let patience = Instant::now() + Duration::from_secs(30);
    while letters() == 0 && Instant::now() < patience {
        sleep(Duration::from_millis(50));
    }
    assert_eq!(next.end().code, Some(0));
    assert_eq!(letters(), 1);
}

#[cfg(unix)]
#[test]
fn when_its_parent_is_killed_it_goes_too() {
    let data = Data::with_ana();
    // The parent alone holds the other end of its input, as a client does.
    let script = r#"mkfifo "$1"; "$2" stdio <"$1" & exec 3>"$1"; printf '%s\n' "$3" >&3; read -r forever"#;
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" }).to_string();
    let program = data.program([""; 0]);
    let mut parent = Command::new("sh");
    parent.args(["-c", script, "sh"]).arg(data.store().with_file_name("input"));
    parent.arg(program.get_program()).arg(hello);
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => parent.env(name, value),
            None => parent.env_remove(name),
        };
    }
    let mut parent = parent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Its stdout is the parent's: it ends when both are gone.
    let (told, lines) = mpsc::channel();
    let stdout = BufReader::new(parent.stdout.take().unwrap());
    spawn(move || stdout.lines().for_each(|line| told.send(line.unwrap()).unwrap()));
    let line = lines.recv_timeout(Duration::from_secs(30)).unwrap();
    assert!(line.contains("\"result\""), "{line}");
    parent.kill().unwrap();
    assert_eq!(lines.recv_timeout(SOON), Err(mpsc::RecvTimeoutError::Disconnected));
    parent.wait().unwrap();
}

#[test]
fn nothing_but_the_protocol_is_on_stdout_whatever_goes_wrong() {
    let data = Data::new();
    let mut program = data.program(["stdio"]);
    program.env("RELAYLINK_LOG", "trace").stdin(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let call = |id: u64, tool: &str, arguments: Json| {
        let params = json!({ "name": tool, "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    let me = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": me }).to_string(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        call(1, "whoami", json!({})),
        call(2, "memory_forget", json!({ "memory": "mem_00000000000000000000000000" })),
        call(3, "memory_add", json!({ "txt": "x" })),
        call(4, "nothing_of_the_kind", json!({})),
        "nonsense".to_owned(),
    ];
    child.stdin.take().unwrap().write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!output.stderr.is_empty(), "it logs, elsewhere");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Json> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 6, "{stdout}");
    assert!(answers.iter().all(|answer| answer["jsonrpc"] == "2.0"), "{stdout}");
}

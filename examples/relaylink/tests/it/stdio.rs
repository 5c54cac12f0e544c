//! One client, one account, over stdin and stdout.

use std::{io::Write, process::Stdio};

use serde_json::{Value as Json, json};

use crate::program::{Client, Data};

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
    let mut program = data.program(["stdio", "--toolsets", "memory"]);
    program.env("RELAYLINK_READ_ONLY", "true");
    let mut reading = Client::start(program);
    assert_eq!(reading.tools(), ["memory_search"]);
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

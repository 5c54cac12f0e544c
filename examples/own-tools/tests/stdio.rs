//! The program as a client starts it: a child process on pipes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

fn start(stdin: Stdio) -> Child {
    let mut program = Command::new(env!("CARGO_BIN_EXE_own-tools"));
    program.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Waits for the end, and fails where it takes longer than this.
fn ends_within(child: &mut Child, time: Duration) {
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if started.elapsed() > time {
            let _ = child.kill();
            panic!("still there after {time:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.success(), "{status}");
}

fn call(id: u64, town: &str) -> String {
    let params = json!({"name": "forecast_town", "arguments": {"town": town}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

#[test]
fn without_input_it_is_gone_at_once_and_has_said_nothing() {
    let mut child = start(Stdio::null());
    ends_within(&mut child, Duration::from_secs(2));
    let mut said = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut said).expect("text");
    assert_eq!(said, "");
}

#[test]
fn requests_and_the_end_of_input_in_one_write_are_answered_before_it_goes() {
    let mut child = start(Stdio::piped());
    let mut stdin = child.stdin.take().expect("piped");
    let all = format!("{INITIALIZE}\nnonsense\n{}\n{}\n", call(1, "Bergen"), call(2, "Nowhere"));
    stdin.write_all(all.as_bytes()).expect("written");
    drop(stdin);
    ends_within(&mut child, Duration::from_secs(2));
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut answers: Vec<Json> = lines
        .map(|line| serde_json::from_str(&line.expect("text")).expect("only protocol on stdout"))
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let [bad, initialized, bergen, nowhere] = &answers[..] else {
        panic!("four answers: {answers:?}");
    };
    assert_eq!(bad["error"]["code"], -32700);
    assert_eq!(initialized["result"]["serverInfo"]["name"], "forecasts");
    assert_eq!(bergen["result"]["structuredContent"], json!({"highest": 7.5}));
    assert_eq!(nowhere["result"]["isError"], true);
}

#[test]
fn its_hints_are_what_its_effect_allows() {
    let mut child = start(Stdio::piped());
    let mut stdin = child.stdin.take().expect("piped");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    stdin.write_all(format!("{INITIALIZE}\n{list}\n").as_bytes()).expect("written");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let listed: Json = serde_json::from_str(&lines.nth(1).expect("an answer").expect("text")).expect("JSON");
    let hints = json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true});
    assert_eq!(listed["result"]["tools"][0]["annotations"], hints);
    drop(stdin);
    ends_within(&mut child, Duration::from_secs(2));
}

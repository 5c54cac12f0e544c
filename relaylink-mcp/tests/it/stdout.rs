//! Case 95: a panic leaves nothing but the protocol on a process's own stdout.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use relaylink_mcp::stdio;
use serde_json::{Value as Json, json};

use crate::support::{call, initialize, tools};

const CHILD_VARIABLE: &str = "RELAYLINK_TEST_STDOUT_CHILD";
/// Ends what the test harness of the child prints; from here on stdout is the protocol's.
const BEGIN: &str = "the protocol begins";

/// Not a test: the server that the test talks to. Without its variable there is nothing to do.
#[test]
fn child() {
    if env::var_os(CHILD_VARIABLE).is_none() {
        return;
    }
    writeln!(std::io::stdout(), "{BEGIN}").unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let server = tools::server();
    let ended = runtime.block_on(stdio::serve(&server, tools::ana(), std::future::pending()));
    // Before the harness prints how it went.
    std::process::exit(i32::from(ended.is_err()));
}

#[test]
fn a_panic_leaves_nothing_but_the_protocol_on_stdout() {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "stdout::child", "--nocapture", "--test-threads", "1"])
        .env(CHILD_VARIABLE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let hello = call(2, "hello", &json!({}));
    let said = [initialize("2025-06-18"), told, call(1, "panics", &json!({})), hello];
    let mut stdin = child.stdin.take().unwrap();
    for message in said {
        writeln!(stdin, "{message}").unwrap();
    }
    drop(stdin);

    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(
        String::from_utf8_lossy(&ended.stderr).contains("panicked at"),
        "it did panic, and says so elsewhere"
    );
    let mut lines = BufReader::new(&*ended.stdout).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with(BEGIN)), "{}", String::from_utf8_lossy(&ended.stdout));
    let mut answers: Vec<Json> = lines.map(|line| serde_json::from_str(&line).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert!(answers.iter().all(|answer| answer["jsonrpc"] == "2.0"), "{answers:?}");
    let told = |at: usize| &answers[at]["result"];
    assert_eq!((answers.len(), &told(1)["isError"], &told(2)["isError"]), (3, &json!(true), &json!(false)));
}

//! No part of a key is in a log, however much is logged.
#![cfg(unix)]

use serde_json::json;

use crate::program::{Client, Data, Server};

/// As much as can be asked for.
const LOG: &str = "trace,rmcp=trace,rmcp::service=trace,hyper=trace";

/// Whether eight characters in a row of a key are in there.
fn holds_eight_of(text: &str, key: &str) -> bool {
    (0..=key.len() - 8).any(|at| text.contains(&key[at..at + 8]))
}

#[test]
fn no_part_of_a_key_is_logged_at_trace_level() {
    let data = Data::with_ana();
    let key = data.done("key create ana@example.org --name Laptop");
    let revoked = data.done("key create ana@example.org --name Old");
    let mut program = data.program(["serve", "--listen", "127.0.0.1:0"]);
    program.env("RELAYLINK_LOG", LOG);
    let server = Server::start(program);
    let mut wrong = key.clone();
    wrong.replace_range(39.., if key.ends_with('x') { "y" } else { "x" });
    server.call(&key, "memory_add", &json!({ "text": "I like tea" }));
    server.call(&key, "list_api_keys", &json!({}));
    let mut revoke = data.program(["key", "revoke", "ana@example.org", "Old"]);
    revoke.env("RELAYLINK_LOG", LOG);
    let mut log = crate::program::ended(revoke).stderr;
    for key in [&wrong, &revoked] {
        let (status, body) = server.post(key, "tools/list", &json!({}));
        assert_eq!(status, 401);
        assert!(!holds_eight_of(&body, key));
    }
    log += &server.terminate().stderr;
    let mut stdio = data.program(["stdio", "--account", "ana@example.org"]);
    stdio.env("RELAYLINK_LOG", LOG);
    let mut client = Client::start(stdio);
    // A key pasted where it does not belong.
    client.call("revoke_api_key", &json!({ "key": key }));
    client.call(&key, &json!({}));
    log += &client.end().stderr;
    assert!(log.contains("the data directory is open"), "it does log: {log}");
    for key in [&key, &wrong, &revoked] {
        assert!(!holds_eight_of(&log, key), "{log}");
    }
    assert!(!log.contains("I like tea"), "{log}");
}

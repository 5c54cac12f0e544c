//! All accounts over HTTP, to whoever has a key.
#![cfg(unix)]

use serde_json::json;

use crate::program::{Data, Server};

#[test]
fn a_key_opens_its_account_and_a_revoked_one_nothing() {
    let data = Data::with_ana();
    let key = data.done("key create ana@example.org --name Laptop");
    let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
    assert_eq!(server.call(&key, "whoami", &json!({}))["structuredContent"]["keyName"], "Laptop");
    // Revoked by another process.
    data.done("key revoke ana@example.org Laptop");
    let whoami = json!({ "name": "whoami", "arguments": {} });
    assert_eq!(server.post(&key, "tools/call", &whoami).0, 401);
    assert_eq!(server.post("nonsense", "tools/call", &whoami).0, 401);
    let ended = server.terminate();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
}

#[test]
fn the_last_use_is_written_down_when_it_ends() {
    let data = Data::with_ana();
    let key = data.done("key create ana@example.org --name Laptop");
    let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
    server.call(&key, "whoami", &json!({}));
    assert_eq!(server.terminate().code, Some(0));
    assert_ne!(data.done("key list").split('\t').nth(4), Some("-"));
}

#[test]
fn an_address_that_is_taken_is_told() {
    let data = Data::with_ana();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let ended = data.run(&format!("serve --listen {address}"));
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains(&format!("{address} cannot be listened on")), "{}", ended.stderr);
}

//! All accounts over HTTP, to whoever has a key.
#![cfg(unix)]

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread::sleep,
    time::{Duration, Instant},
};

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
fn a_server_that_a_tour_started_ends_with_it() {
    let data = Data::with_ana();
    let mut command = data.program(["serve", "--listen", "127.0.0.1:0", "--until-input-ends"]);
    let mut server = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut first = [0; 1];
    server.stderr.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert!(server.try_wait().unwrap().is_none());
    // As it is when whoever holds the other end is killed.
    drop(server.stdin.take());
    let told = Instant::now();
    while server.try_wait().unwrap().is_none() {
        assert!(told.elapsed() < Duration::from_secs(30), "it goes on");
        sleep(Duration::from_millis(20));
    }
    assert_eq!(server.wait().unwrap().code(), Some(0));
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

/// A request that never ends, for which a server that ends waits eight seconds.
fn half_a_request(server: &Server, key: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n{{",
        server.address()
    )
    .unwrap();
    // It says so once it waits for the body.
    let mut told = [0; 12];
    stream.read_exact(&mut told).unwrap();
    assert_eq!(&told, b"HTTP/1.1 100");
    stream
}

#[test]
fn told_to_end_it_ends_with_success_whatever_is_open() {
    let data = Data::with_ana();
    let key = data.done("key create ana@example.org --name Laptop");
    let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
    let _open = [(); 3].map(|()| half_a_request(&server, &key));
    let asked = Instant::now();
    let ended = server.terminate();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
}

#[test]
fn told_twice_to_end_it_ends_at_once_and_what_was_answered_is_there() {
    let data = Data::with_ana();
    let key = data.done("key create ana@example.org --name Laptop");
    let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
    let add = json!({ "text": "I like tea" });
    assert_eq!(server.call(&key, "memory_add", &add)["isError"], false);
    let _open = half_a_request(&server, &key);
    server.signal();
    // Told once, it takes no more connections.
    while TcpStream::connect(server.address()).is_ok() {
        sleep(Duration::from_millis(5));
    }
    let again = Instant::now();
    server.signal();
    let ended = server.ended();
    assert!(again.elapsed() < Duration::from_secs(2), "{:?}", again.elapsed());
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
    let found = server.call(&key, "memory_search", &json!({ "query": "tea" }));
    assert_eq!(found["structuredContent"]["memories"].as_array().unwrap().len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn connections_beyond_the_limit_wait_for_one_to_end() {
    let data = Data::with_ana();
    let key = data.done("key create ana@example.org --name Laptop");
    let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
    let connect = || TcpStream::connect(server.address()).unwrap();
    let mut open: Vec<_> = (0..relaylink_mcp::limits::CONNECTIONS).map(|_| connect()).collect();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| server.call(&key, "whoami", &json!({})));
        sleep(Duration::from_millis(500));
        assert!(!waiting.is_finished(), "one more than may be open is served");
        open.pop();
        assert_eq!(waiting.join().unwrap()["isError"], false);
    });
}

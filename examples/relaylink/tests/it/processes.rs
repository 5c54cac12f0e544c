//! Several processes on one data directory, since each client starts its own.
#![cfg(unix)]

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

use crate::program::{Client, Data, Server};

/// How long they all write at once.
const LONG: Duration = Duration::from_secs(4);
/// Calls in flight of each client.
const IN_FLIGHT: usize = 16;

/// Adds memories, sixteen at a time, until the time is over; every call must be answered with success.
fn write(client: &mut Client) -> usize {
    let until = Instant::now() + LONG;
    let add = json!({ "name": "memory_add", "arguments": { "text": "A fact that many write at once" } });
    let (mut flying, mut answered) = (0, 0);
    loop {
        while flying < IN_FLIGHT && Instant::now() < until {
            client.send("tools/call", &add);
            flying += 1;
        }
        if flying == 0 {
            return answered;
        }
        let answer = client.answer();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        (flying, answered) = (flying - 1, answered + 1);
    }
}

#[test]
fn three_clients_and_a_server_write_at_once_and_every_call_is_answered() {
    let data = Data::with_ana();
    let key = data.done("key create ana@example.org --name Laptop");
    let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
    let names = ["one", "two", "three"];
    let written: usize = thread::scope(|scope| {
        let clients = names.map(|name| {
            let program = data.program(["stdio", "--as", name]);
            scope.spawn(move || {
                let mut client = Client::start(program);
                let written = write(&mut client);
                let ended = client.end();
                assert_eq!(ended.code, Some(0), "{}", ended.stderr);
                assert!(!ended.stderr.contains("locked"), "{}", ended.stderr);
                written
            })
        });
        let posts = [(); 4].map(|()| {
            scope.spawn(|| {
                let until = Instant::now() + LONG;
                let mut written = 0;
                while Instant::now() < until {
                    let added =
                        server.call(&key, "memory_add", &json!({ "text": "A fact that many write at once" }));
                    assert_eq!(added["isError"], false, "{added}");
                    written += 1;
                }
                written
            })
        });
        let of_clients: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
        of_clients + posts.into_iter().map(|post| post.join().unwrap()).sum::<usize>()
    });
    let (mut found, mut cursor) = (0, Json::Null);
    loop {
        let arguments = json!({ "query": "many write", "limit": 100, "cursor": cursor });
        let page = server.call(&key, "memory_search", &arguments)["structuredContent"].clone();
        found += page["memories"].as_array().unwrap().len();
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    assert_eq!(found, written);
    let ended = server.terminate();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

//! Whether a server works, asked without a key.
#![cfg(unix)]

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    database::Database,
    program::{Data, Server},
};

#[test]
fn a_server_is_alive_and_ready_without_a_key_on_each_engine() {
    for data in Data::each() {
        let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
        for path in ["/healthz", "/readyz"] {
            assert_eq!(server.get(path, "localhost"), (200, "ok".to_owned()), "{path}");
            assert_eq!(server.get(path, "attacker.test").0, 403, "{path}: as every route");
        }
        assert_eq!(server.get("/elsewhere", "localhost").0, 404);
        assert_eq!(server.terminate().code, Some(0));
    }
}

#[test]
fn a_server_that_is_told_to_end_is_alive_and_not_ready_for_as_long_as_it_drains() {
    let data = Data::with_ana();
    let key = data.done("key create ana@example.org --name Laptop");
    let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0", "--drain", "2"]));
    server.signal();
    let told = Instant::now();
    while server.get("/readyz", "localhost").0 == 200 {
        assert!(told.elapsed() < Duration::from_secs(1), "it is ready still");
    }
    assert_eq!(server.get("/readyz", "localhost"), (503, "The server is about to end.".to_owned()));
    assert_eq!(server.get("/healthz", "localhost").0, 200);
    assert_eq!(server.call(&key, "whoami", &serde_json::json!({}))["isError"], false, "it serves on");
    assert_eq!(server.ended().code, Some(0));
    assert!(told.elapsed() < Duration::from_secs(10), "{:?}", told.elapsed());
}

#[test]
fn a_server_whose_database_is_away_is_alive_and_not_ready_until_it_is_back() {
    let Some(database) = Database::new() else { return };
    let line = database.line();
    let data = Data::new();
    let mut program = data.program(["serve", "--listen", "127.0.0.1:0"]);
    program.env("RELAYLINK_STORE", database.url_by(&line));
    let server = Server::start(program);
    assert_eq!(server.get("/readyz", "localhost"), (200, "ok".to_owned()));

    line.cut();
    for _ in 0..3 {
        let asked = Instant::now();
        let answer = server.get("/readyz", "localhost");
        assert_eq!(answer, (503, "The store does not answer.".to_owned()));
        assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
        assert_eq!(server.get("/healthz", "localhost"), (200, "ok".to_owned()));
    }

    line.mend();
    let mended = Instant::now();
    while server.get("/readyz", "localhost").0 != 200 {
        assert!(mended.elapsed() < Duration::from_secs(10), "it is not ready again");
        sleep(Duration::from_millis(50));
    }

    line.cut();
    let told = Instant::now();
    let ended = server.terminate();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(told.elapsed() < Duration::from_secs(10), "{:?}", told.elapsed());
    assert!(!ended.stderr.contains(&database.password()), "{}", ended.stderr);
}

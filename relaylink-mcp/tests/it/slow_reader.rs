//! Case 55: behind a client that stops half way through its answer, the log of changes stays small.

use std::{fs, path::Path, time::Duration};

use futures_util::future::join_all;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value as Json, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

use crate::support::{House, Site, call, site};

/// What the log of changes may hold: the engine takes it over at four million bytes.
const LOG_MAX: u64 = 16 << 20;
/// Writes while the client waits: so many at a time, so often.
const AT_ONCE: usize = 500;
const TIMES: usize = 40;
/// Answers that are asked for without waiting, and what each is longer than: all together, no socket's
/// buffers hold them.
const ANSWERS: usize = 8;
const LONG: usize = 2_000_000;
const FOUND: usize = 100;

fn object(value: Json) -> Map<String, Json> {
    let Json::Object(object) = value else { panic!("an object: {value}") };
    object
}

impl House {
    async fn remember(&self, count: usize, text: &str) {
        let adds =
            (0..count).map(|_| self.relay.call(&self.ana, "memory_add", object(json!({"text": text}))));
        assert!(join_all(adds).await.iter().all(Result::is_ok));
    }
}

/// Whether the log of changes can be taken over whole: not while anybody reads in an older state.
fn log_can_be_emptied(file: &Path) -> bool {
    let other = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    other.busy_timeout(Duration::from_secs(5)).unwrap();
    let busy: i64 = other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    busy == 0
}

/// A client that takes as little in advance as the system lets it.
async fn narrow(site: &Site) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(site.address).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_client_that_stops_half_way_the_log_of_changes_stays_small() {
    let house = House::build().await;
    // Long, and one word to the search.
    let text = format!("remembered {}", "—".repeat(3_900));
    house.remember(FOUND, &text).await;
    let site = house.serve(house.relay.toolset(), std::sync::Arc::default()).await;
    let mut client = narrow(&site).await;
    let search = call(1, "memory_search", &json!({"query": "remembered", "limit": FOUND}));
    client.write_all(site::kept(&search).repeat(ANSWERS).as_bytes()).await.unwrap();
    let mut taken = vec![0; 1024];
    client.read_exact(&mut taken).await.unwrap();

    let file = house.folder.path().join("relaylink.db");
    let log = house.folder.path().join("relaylink.db-wal");
    let mut largest = 0;
    for _ in 0..TIMES {
        house.remember(AT_ONCE, "small").await;
        largest = largest.max(fs::metadata(&log).unwrap().len());
    }
    assert!(largest < LOG_MAX, "{largest} bytes of log");
    assert!(log_can_be_emptied(&file), "somebody reads in an older state");
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);

    // The rest is there when the client comes for it.
    for _ in 0..ANSWERS {
        let answer = site::next(&mut client, &mut taken).await;
        assert!(answer.body.len() > LONG, "too short to be stopped in: {}", answer.body.len());
        let found = &answer.json()["result"]["structuredContent"]["memories"];
        assert_eq!(found.as_array().unwrap().len(), FOUND);
    }
}

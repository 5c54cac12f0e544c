//! A reply is whole when it is given, and the state it was read in is let go by then: whatever
//! becomes of the reply, the log of changes does not grow behind it.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use crate::{
    rows,
    town::{Town, list},
};

/// What the log of changes may hold: the engine takes it over at four million bytes.
const LOG_MAX: u64 = 16 << 20;

/// Whether the log of changes can be taken over whole: not while anybody reads in an older state.
fn log_can_be_emptied(town: &Town) -> bool {
    let other = rows::raw(&town.file());
    other.busy_timeout(Duration::from_secs(5)).unwrap();
    let busy: i64 = other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    busy == 0
}

/// Many memories, each of them found by the same word.
async fn remember(town: &Town, count: usize) {
    let text = json!({ "text": format!("Something remembered {}", "at some length ".repeat(100)) });
    join_all((0..count).map(|_| town.ok("ana", "memory_add", text.clone()))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_snapshot_outlives_a_reply() {
    let town = Town::new().await;
    remember(&town, 100).await;
    let search = || town.ok("ana", "memory_search", json!({ "query": "remembered", "limit": 100 }));
    // In the hands of whoever asked, and not yet written to anybody.
    let replies = join_all((0..20).map(|_| search())).await;
    let log = town.file().with_extension("db-wal");
    let mut largest = 0;
    for _ in 0..10 {
        remember(&town, 200).await;
        largest = largest.max(std::fs::metadata(&log).unwrap().len());
    }
    assert!(largest < LOG_MAX, "{largest} bytes of log");
    assert!(log_can_be_emptied(&town), "somebody reads in an older state");
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
    assert!(replies.iter().all(|reply| list(&reply["memories"]).len() == 100));
}

#[tokio::test]
async fn a_reader_in_an_older_state_would_be_seen() {
    let town = Town::new().await;
    let reader = rows::read(&town.file());
    reader.execute_batch("BEGIN; SELECT count(*) FROM accounts;").unwrap();
    remember(&town, 10).await;
    assert!(!log_can_be_emptied(&town));
    drop(reader);
    assert!(log_can_be_emptied(&town));
}

//! No transaction lives on behind a client that takes its time: what it asked for is whole before
//! it is given any of it, so nothing of the store waits for it.

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, future::join_all};
use relaylink_core::relay::Relay;
use serde_json::json;

use crate::{rows, town::Town, world::object};

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
async fn remember(relay: &Relay, town: &Town, count: usize) {
    let caller = town.caller("ana");
    let text = json!({ "text": format!("Something remembered {}", "at some length ".repeat(100)) });
    let adds = (0..count).map(|_| relay.call(&caller, "memory_add", object(text.clone())));
    assert!(join_all(adds).await.iter().all(Result::is_ok));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_nobody_takes_holds_no_transaction_open() {
    let town = Town::new().await;
    remember(&town.relay, &town, 100).await;
    let caller = town.caller("ana");
    let search = json!({ "query": "remembered", "limit": 100 });
    // Clients that have asked, and then take nothing: each answer stays in the server's hands.
    let mut asked: Vec<_> = (0..20)
        .map(|_| Box::pin(town.relay.call(&caller, "memory_search", object(search.clone()))))
        .collect();
    let mut taken: Vec<_> = asked.iter_mut().map(FutureExt::now_or_never).collect();
    let log = town.folder.path().join("relaylink.db-wal");
    let mut largest = 0;
    for _ in 0..10 {
        remember(&town.relay, &town, 200).await;
        largest = largest.max(std::fs::metadata(&log).unwrap().len());
    }
    assert!(largest < LOG_MAX, "{largest} bytes of log");
    assert!(log_can_be_emptied(&town), "somebody reads in an older state");
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
    // And each is answered, when it comes for it.
    for (call, taken) in asked.into_iter().zip(&mut taken) {
        let answer = match taken.take() {
            Some(answer) => answer,
            None => call.await,
        };
        assert_eq!(answer.unwrap()["memories"].as_array().unwrap().len(), 100);
    }
}

#[test]
fn a_reader_in_an_older_state_would_be_seen() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let town = Arc::new(Town::new().await);
        let reader = rows::read(&town.file());
        reader.execute_batch("BEGIN; SELECT count(*) FROM accounts;").unwrap();
        remember(&town.relay, &town, 10).await;
        assert!(!log_can_be_emptied(&town));
        drop(reader);
        assert!(log_can_be_emptied(&town));
    });
}

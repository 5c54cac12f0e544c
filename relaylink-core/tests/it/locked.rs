//! While another process holds the lock, a tool that writes waits and holds up no tool that reads.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{
    sqlite::processes::{AT_ONCE, locked_elsewhere},
    town::{Town, list},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_that_read_answer_while_another_process_holds_the_lock() {
    let town = std::sync::Arc::new(Town::new().await);
    town.contacts("ana", "ben").await;
    let held = Duration::from_secs(4);
    let mut other = locked_elsewhere(&town.file(), 1, held);
    let began = Instant::now();
    let adding = tokio::spawn({
        let town = town.clone();
        async move { town.ok("ana", "memory_add", json!({ "text": "Ben prefers tea." })).await }
    });
    let (mut reads, mut slowest) = (0, Duration::ZERO);
    while other.try_wait().unwrap().is_none() {
        for tool in ["whoami", "list_contacts"] {
            let start = Instant::now();
            town.ok("ana", tool, json!({})).await;
            slowest = slowest.max(start.elapsed());
            reads += 1;
        }
        assert!(!adding.is_finished() || began.elapsed() > held / 2, "it waits for no lock");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(slowest < AT_ONCE && reads > 20, "{reads} reads, one of them in {slowest:?}");
    adding.await.unwrap();
    let found = town.ok("ana", "memory_search", json!({ "query": "tea" })).await;
    assert_eq!(list(&found["memories"]).len(), 1);
}

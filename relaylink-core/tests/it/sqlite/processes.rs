//! Beside other processes on the same file.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use relaylink_core::store::{Session, Store, StoreError, Value, Verdict, sqlite::Options};

use super::{COUNT, INSERT, insert, look, open, writes};
use crate::{rows::raw, world::file};

/// The file that a process of its own is to lock.
const LOCK_VARIABLE: &str = "RELAYLINK_TEST_LOCK";

/// Not a test: a process of its own holds the lock for two seconds, four times. Without its variable
/// there is nothing to do.
#[test]
fn holds_the_lock() {
    let Some(place) = std::env::var_os(LOCK_VARIABLE) else { return };
    let other = raw(Path::new(&place));
    other.busy_timeout(Duration::from_secs(10)).unwrap();
    for _ in 0..4 {
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        std::thread::sleep(Duration::from_secs(2));
        other.execute_batch("COMMIT").unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_wait_for_another_process_and_reads_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
    let mut other = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sqlite::processes::holds_the_lock"])
        .env(LOCK_VARIABLE, file(folder.path()))
        .spawn()
        .unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..50 {
        let store = store.clone();
        writers.spawn(async move {
            // A read and a write in one transaction, as tools do.
            for n in 0..20 {
                let work = move |session: &mut dyn Session| {
                    let _ = session.query(&COUNT, &[]);
                    let _ = session.execute(&INSERT, &[Value::from(writer * 100 + n), Value::from("x")]);
                    Verdict::Commit
                };
                store.transact(writes(), Box::new(work)).await.unwrap();
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
    }
    let mut slowest = Duration::ZERO;
    while other.try_wait().unwrap().is_none() {
        let start = Instant::now();
        look(&store, &COUNT).await.unwrap();
        slowest = slowest.max(start.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(slowest < Duration::from_millis(500), "a read took {slowest:?}");
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
    assert_eq!(look(&store, &COUNT).await, Ok(1_000));
}

#[tokio::test]
async fn a_lock_that_is_never_given_back_is_a_clean_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default().busy_timeout(Duration::from_millis(300)));
    let other = raw(&file(folder.path()));
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for ended in join_all((0..20).map(|id| insert(&store, id))).await {
        assert_eq!(ended, Err(StoreError::Busy("another process holds the file")));
    }
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(insert(&store, 1).await, Ok(Verdict::Commit));
    assert_eq!(look(&store, &COUNT).await, Ok(1));
}

//! Reads within their budget and beyond it.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    thread::ThreadId,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use relaylink_core::store::{
    Session, Statement, Store, StoreError, Verdict,
    sqlite::{Options, Sqlite},
};

use super::{COUNT, ENDLESS, LONG, ONE, insert, look, open, reads};

#[tokio::test]
async fn a_read_within_its_budget_runs_here_and_one_beyond_it_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default().inline_time(Duration::from_mins(1)));
    let threads = |statement: &'static Statement| {
        let seen: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
        let into = Arc::clone(&seen);
        let work = move |session: &mut dyn Session| {
            into.lock().unwrap().push(std::thread::current().id());
            let _ = session.query(statement, &[]);
            Verdict::Commit
        };
        let done = store.transact(reads(), Box::new(work));
        async move {
            done.await.unwrap();
            let seen = seen.lock().unwrap();
            seen.clone()
        }
    };
    let here = std::thread::current().id();
    assert_eq!(threads(&ONE).await, [here]);
    let long = threads(&LONG).await;
    assert!(long.len() == 2 && long[0] == here && long[1] != here, "{long:?}");
}

#[tokio::test]
async fn a_read_that_does_not_end_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default().readers(1).deadline(Duration::from_millis(300)));
    let start = Instant::now();
    let both = join_all([look(&store, &ENDLESS), look(&store, &ENDLESS)]).await;
    assert!(
        both.iter().all(|ended| matches!(ended, Err(StoreError::Busy(_) | StoreError::TooLong))),
        "{both:?}"
    );
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert_eq!(look(&store, &ONE).await, Ok(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_long_reads_half_of_them_given_up_leaves_the_store_well() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default().inline(2).readers(2).deadline(Duration::from_millis(500)));
    let threads: Arc<Mutex<HashSet<ThreadId>>> = Arc::default();
    let read = |store: Sqlite| {
        let threads = Arc::clone(&threads);
        let work = move |session: &mut dyn Session| {
            threads.lock().unwrap().insert(std::thread::current().id());
            let _ = session.query(&LONG, &[]);
            Verdict::Commit
        };
        async move { store.transact(reads(), Box::new(work)).await }
    };
    let mut burst = tokio::task::JoinSet::new();
    for at in 0..600 {
        let read = read(store.clone());
        burst.spawn(async move {
            if at % 2 == 0 {
                let _ = tokio::time::timeout(Duration::from_millis(at % 50), read).await;
                return Ok(Verdict::Commit);
            }
            read.await
        });
    }
    while let Some(ended) = burst.join_next().await {
        assert!(matches!(ended.unwrap(), Ok(_) | Err(StoreError::Busy(_) | StoreError::TooLong)));
    }
    let start = Instant::now();
    assert_eq!(look(&store, &ONE).await, Ok(1));
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    // The runtime's two, this one, and the store's two readers.
    let threads = threads.lock().unwrap().len();
    assert!(threads <= 5, "{threads} threads");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_one_connection_of_each_kind_nothing_waits_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default().inline(1).readers(1));
    let mut works = tokio::task::JoinSet::new();
    for id in 0..200 {
        let store = store.clone();
        works.spawn(async move {
            insert(&store, id).await.unwrap();
            look(&store, &COUNT).await.unwrap();
        });
    }
    while let Some(ended) = works.join_next().await {
        ended.unwrap();
    }
    assert_eq!(look(&store, &COUNT).await, Ok(200));
}

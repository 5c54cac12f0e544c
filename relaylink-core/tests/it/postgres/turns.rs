//! How long a work waits for its turn.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use relaylink_core::store::{
    Request, Store, StoreError, Verdict, Work,
    postgres::{Options, Postgres},
};

use super::{WRITES, probe};
use crate::database::Database;

const PATIENCE: Duration = Duration::from_millis(400);
/// How long the first work keeps its account's lane.
const SLOW: Duration = Duration::from_millis(800);
const BEHIND: usize = 8;

/// A work that takes as long, and counts that it was run.
fn work(ran: &Arc<AtomicUsize>, takes: Duration) -> Work {
    let ran = Arc::clone(ran);
    Box::new(move |_| {
        ran.fetch_add(1, Relaxed);
        thread::sleep(takes);
        Verdict::Commit
    })
}

async fn call(store: Postgres, account: &str, work: Work) -> Result<Verdict, StoreError> {
    store.transact(Request::new(WRITES, account), work).await
}

#[tokio::test]
async fn a_work_whose_turn_comes_too_late_is_refused_as_busy_and_not_tried() {
    let Some(database) = Database::new() else { return };
    let store = probe(&database, Options::default().connections(2).patience(PATIENCE));
    let ran = Arc::<AtomicUsize>::default();
    let begun = Instant::now();
    let slow = tokio::spawn(call(store.clone(), "ana", work(&ran, SLOW)));
    while ran.load(Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // One after another, each of them would take far longer than its patience.
    let behind: Vec<_> =
        (0..BEHIND).map(|_| tokio::spawn(call(store.clone(), "ana", work(&ran, SLOW)))).collect();
    let elsewhere = call(store.clone(), "ben", work(&ran, Duration::ZERO)).await;
    assert_eq!(elsewhere, Ok(Verdict::Commit), "another account's work has a lane of its own");
    for late in behind {
        let ended = late.await.unwrap();
        assert!(matches!(ended, Err(StoreError::Busy(_))), "{ended:?}");
    }
    assert!(begun.elapsed() < SLOW * 3, "{:?}", begun.elapsed());
    assert_eq!(slow.await.unwrap(), Ok(Verdict::Commit), "what has begun is ended");
    assert_eq!(ran.load(Relaxed), 2);
    assert_eq!(call(store, "ana", work(&ran, Duration::ZERO)).await, Ok(Verdict::Commit));
}

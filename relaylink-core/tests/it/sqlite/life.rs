//! How it is opened, shared, closed, and what is then on the disk.

use std::time::Duration;

use futures_util::{FutureExt, future::join_all};
use relaylink_core::store::{
    Session, Store, StoreError, Verdict,
    sqlite::{Options, Sqlite},
};

use super::{COUNT, ONE, insert, look, open, writes};
use crate::place::file;

fn is_shared<T: Send + Sync + Clone + 'static>() {}

fn is_sendable<T: Send>(_: &T) {}

#[test]
fn the_store_and_its_futures_can_be_shared() {
    is_shared::<Sqlite>();
    let folder = tempfile::tempdir().unwrap();
    is_sendable(&insert(&open(&folder, Options::default()), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_changes_stays_small_and_is_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
    let log = file(folder.path()).with_extension("db-wal");
    let mut largest = 0;
    for chunk in 0..100 {
        join_all((0..100).map(|id| insert(&store, chunk * 100 + id))).await;
        look(&store, &COUNT).await.unwrap();
        largest = largest.max(std::fs::metadata(&log).unwrap().len());
    }
    assert!(largest < 16 << 20, "{largest} bytes");
    drop(store);
    assert!(!log.exists(), "the last handle empties the log and takes it away");
    assert_eq!(look(&open(&folder, Options::default()), &COUNT).await, Ok(10_000));
}

#[tokio::test]
async fn a_closed_store_finishes_what_waits_and_refuses_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
    let mut works: Vec<_> = (0..20).map(|id| Box::pin(insert(&store, id))).collect();
    for work in &mut works {
        assert!(work.now_or_never().is_none());
    }
    store.close();
    assert_eq!(insert(&store, 100).await, Err(StoreError::Closed));
    assert_eq!(look(&store, &ONE).await, Err(StoreError::Closed));
    drop(store.clone());
    assert_eq!(look(&open(&folder, Options::default()), &ONE).await, Ok(1));
}

#[test]
fn it_is_opened_and_dropped_outside_a_runtime_within_one_and_within_its_own_work() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(&folder, Options::default()));
    let store = open(&folder, Options::default());
    for id in 0..2 {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(insert(&store, id)).unwrap();
    }
    let last = store.clone();
    drop(store);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(async move { drop(last) });

    let store = open(&folder, Options::default());
    let (told, tells) = std::sync::mpsc::channel();
    let held = store.clone();
    let work = move |_: &mut dyn Session| {
        let _ = &held;
        told.send(()).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        Verdict::Commit
    };
    let mut call = Box::pin(async move { store.transact(writes(), Box::new(work)).await });
    assert!((&mut call).now_or_never().is_none());
    tells.recv().unwrap();
    // The caller is gone and its handle with it: the last one is in the work, on the writer's thread.
    drop(call);
    assert_eq!(tells.recv(), Err(std::sync::mpsc::RecvError), "the work was dropped, and the store with it");
    assert_eq!(runtime.block_on(look(&open(&folder, Options::default()), &COUNT)), Ok(2));
}

#[cfg(unix)]
#[test]
fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
    for file in ["relaylink.db", "relaylink.db-wal"] {
        let mode = std::fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    drop(store);
}

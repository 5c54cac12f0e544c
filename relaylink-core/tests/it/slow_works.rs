//! Works that take their time between their statements, which no engine's counter sees.

use std::{
    sync::{Arc, Mutex},
    thread::ThreadId,
    time::Duration,
};

use relaylink_core::{
    store::{
        Access, Request, Select, Session, Store, StoreError, Verdict,
        sqlite::{Options, Sqlite},
    },
    tool::{Code, Stop},
};

const ONE: Select = Select::new("SELECT 1");

fn open(folder: &tempfile::TempDir, options: Options) -> Sqlite {
    Sqlite::open_with(folder.path().join("data.db"), options).unwrap()
}

/// A read, a pause, and a read: how it ended, and the threads on which it was begun.
async fn pausing(
    store: &Sqlite,
    access: Access,
    pause: Duration,
) -> (Result<Verdict, StoreError>, Vec<ThreadId>) {
    let seen: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
    let into = Arc::clone(&seen);
    let work = move |session: &mut dyn Session| {
        into.lock().unwrap().push(std::thread::current().id());
        let _ = session.query(ONE.statement(), &[]);
        std::thread::sleep(pause);
        let _ = session.query(ONE.statement(), &[]);
        Verdict::Commit
    };
    let ended = store.transact(Request::new(access, "a"), Box::new(work)).await;
    let seen = seen.lock().unwrap();
    (ended, seen.clone())
}

#[tokio::test]
async fn a_read_that_holds_its_callers_thread_is_run_again_on_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default().budget(u32::MAX).inline_time(Duration::from_millis(20)));
    let here = std::thread::current().id();
    let (ended, threads) = pausing(&store, Access::READ, Duration::from_millis(40)).await;
    assert_eq!(ended, Ok(Verdict::Commit));
    assert!(threads.len() == 2 && threads[0] == here && threads[1] != here, "{threads:?}");
}

#[tokio::test]
async fn a_work_that_is_past_its_deadline_between_two_statements_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default().inline(0).deadline(Duration::from_millis(500)));
    for access in [Access::READ, Access::ALL] {
        let (ended, threads) = pausing(&store, access, Duration::from_millis(700)).await;
        assert_eq!((ended, threads.len()), (Err(StoreError::TooLong), 1));
        let (ended, _) = pausing(&store, access, Duration::ZERO).await;
        assert_eq!(ended, Ok(Verdict::Commit));
    }
    let told = Stop::Store(StoreError::TooLong).into_refusal();
    assert_eq!(told.code, Code::Unavailable);
    assert_eq!(told.message, "The call took too long and was ended; nothing was stored.");
}

//! Works that write, committed in groups.

use std::{path::Path, time::Duration};

use futures_util::{FutureExt, future::join_all};
use relaylink_core::store::{Session, Statement, Store, StoreError, Verdict, sqlite::Options};

use super::{COUNT, insert, look, open, writes};
use crate::{place::file, rows::raw};

/// Commits in the log of changes, as its frames say: those that carry the file's size end one.
fn commits_logged(path: &Path) -> usize {
    let log = std::fs::read(path.with_extension("db-wal")).unwrap();
    let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let page = number(8) as usize;
    (32..log.len())
        .step_by(24 + page)
        .filter(|&frame| log[frame + 8..frame + 16] == log[16..24] && number(frame + 4) != 0)
        .count()
}

#[tokio::test]
async fn works_that_wait_together_are_committed_together() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
    insert(&store, -1).await.unwrap();
    let before = (store.stats().commits, commits_logged(&file(folder.path())));
    // While somebody else holds the lock, all of them queue.
    let other = raw(&file(folder.path()));
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        other.execute_batch("ROLLBACK").unwrap();
    });
    for ended in join_all((0..64).map(|id| insert(&store, id))).await {
        assert_eq!(ended, Ok(Verdict::Commit));
    }
    release.join().unwrap();
    let commits = store.stats().commits - before.0;
    assert!((1..=16).contains(&commits), "64 works in {commits} commits");
    assert_eq!(commits_logged(&file(folder.path())) - before.1, usize::try_from(commits).unwrap());
    assert_eq!(look(&store, &COUNT).await, Ok(65));
}

#[tokio::test]
async fn a_refusal_before_the_first_write_costs_its_neighbours_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
    let before = store.stats();
    let refuse = |session: &mut dyn Session| {
        session.query(&COUNT, &[]).unwrap();
        Verdict::Rollback
    };
    let each = (0..60).map(|id| {
        let store = &store;
        async move {
            if id % 2 == 0 {
                insert(store, id).await
            } else {
                store.transact(writes(), Box::new(refuse)).await
            }
        }
    });
    for (id, ended) in join_all(each).await.into_iter().enumerate() {
        assert_eq!(ended, Ok(if id % 2 == 0 { Verdict::Commit } else { Verdict::Rollback }));
    }
    assert_eq!(store.stats().reruns, before.reruns);
    assert_eq!(look(&store, &COUNT).await, Ok(30));
}

#[tokio::test]
async fn a_statement_that_ends_everybodys_transaction_ends_only_its_own() {
    static OR_ROLLBACK: Statement =
        Statement::unchecked("INSERT OR ROLLBACK INTO probe_rows (id, text) VALUES (-1, 'x')");
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
    insert(&store, -1).await.unwrap();
    let each = (0..60).map(|id| {
        let store = &store;
        async move {
            if id % 5 != 2 {
                return insert(store, id).await;
            }
            let work = |session: &mut dyn Session| {
                let _ = session.execute(&OR_ROLLBACK, &[]);
                Verdict::Commit
            };
            store.transact(writes(), Box::new(work)).await
        }
    });
    for (id, ended) in join_all(each).await.into_iter().enumerate() {
        if id % 5 == 2 {
            assert!(matches!(ended, Err(StoreError::Constraint(_))), "{id}: {ended:?}");
        } else {
            assert_eq!(ended, Ok(Verdict::Commit), "{id}");
        }
    }
    assert_eq!(look(&store, &COUNT).await, Ok(49));
}

#[tokio::test]
async fn too_many_waiting_works_are_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default().queue(4));
    let other = raw(&file(folder.path()));
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut works: Vec<_> = (0..10).map(|id| Box::pin(insert(&store, id))).collect();
    let turned_away = works.iter_mut().filter_map(FutureExt::now_or_never).collect::<Vec<_>>();
    assert!((5..=6).contains(&turned_away.len()), "one may be in the writer's hands: {turned_away:?}");
    assert!(turned_away.iter().all(|ended| matches!(ended, Err(StoreError::Busy(_)))));
    drop(works);
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    insert(&store, 100).await.unwrap();
    // The others' callers are gone: theirs were dropped before they started, or landed whole.
    assert!(look(&store, &COUNT).await.unwrap() <= 6);
}

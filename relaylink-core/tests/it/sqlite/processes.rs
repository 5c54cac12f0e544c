//! Beside other processes on the same file.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use relaylink_core::store::{Session, Store, StoreError, Value, Verdict, sqlite::Options};

use super::{COUNT, INSERT, insert, look, open, writes};
use crate::{place::file, rows::raw};

/// The file that a process of its own is to lock, how often, and for how many milliseconds each time.
const LOCK_VARIABLES: [&str; 3] =
    ["RELAYLINK_TEST_LOCK", "RELAYLINK_TEST_LOCK_TIMES", "RELAYLINK_TEST_LOCK_MILLIS"];
/// Between one time and the next.
const UNLOCKED: Duration = Duration::from_millis(100);

/// Not a test: a process of its own holds the lock. Without its variables there is nothing to do.
#[test]
fn holds_the_lock() {
    let [Some(file), Some(times), Some(millis)] = LOCK_VARIABLES.map(std::env::var_os) else { return };
    let number = |text: OsString| text.into_string().unwrap().parse().unwrap();
    let other = raw(Path::new(&file));
    other.busy_timeout(Duration::from_secs(10)).unwrap();
    let (times, long) = (number(times), Duration::from_millis(number(millis)));
    for _ in 0..times {
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        // Past the capture of a test's output: whoever started it waits for this.
        writeln!(std::io::stderr(), "locked").unwrap();
        std::thread::sleep(long);
        other.execute_batch("COMMIT").unwrap();
        std::thread::sleep(UNLOCKED);
    }
}

/// Another process that holds the file's lock so often and so long; it has begun to.
pub(crate) fn locked_elsewhere(file: &Path, times: u32, long: Duration) -> Child {
    let values = [file.as_os_str().to_owned(), times.to_string().into(), long.as_millis().to_string().into()];
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sqlite::processes::holds_the_lock"])
        .envs(LOCK_VARIABLES.into_iter().zip(values))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(other.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "locked\n");
    other
}

/// As long as a read may take meanwhile: a busy machine's while, and far less than the lock is held.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_wait_for_another_process_and_reads_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
    let mut other = locked_elsewhere(&file(folder.path()), 4, AT_ONCE * 2);
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
    assert!(slowest < AT_ONCE, "a read took {slowest:?}");
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

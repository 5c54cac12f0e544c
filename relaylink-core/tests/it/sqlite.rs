//! The embedded engine under load, beside other processes, at its end.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    thread::ThreadId,
    time::{Duration, Instant},
};

use futures_util::{FutureExt, future::join_all};
use relaylink_core::store::{
    Access, Request, Session, Statement, Store, StoreError, Value, Verdict,
    migrations::Migration,
    sqlite::{Options, Sqlite},
};

static TABLES: [Migration; 1] =
    [Migration::new(1, "probe", "CREATE TABLE probe_rows (id BIGINT PRIMARY KEY, text TEXT NOT NULL);")];

static INSERT: Statement = Statement::unchecked("INSERT INTO probe_rows (id, text) VALUES (?1, ?2)");
static COUNT: Statement = Statement::unchecked("SELECT count(*) FROM probe_rows");
static ONE: Statement = Statement::unchecked("SELECT 1");
/// Far beyond a budget.
static LONG: Statement = Statement::unchecked(
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT max(i) FROM n",
);
static ENDLESS: Statement = Statement::unchecked(
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
);

fn path(folder: &tempfile::TempDir) -> std::path::PathBuf {
    folder.path().join("data.db")
}

fn open(folder: &tempfile::TempDir, options: Options) -> Sqlite {
    Sqlite::open_with(path(folder), options.migrations("probe", &TABLES)).unwrap()
}

fn raw(path: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

fn writes() -> Request {
    let mut access = Access::READ;
    access.writes = true;
    Request::new(access, "a")
}

fn reads() -> Request {
    Request::new(Access::READ, "a")
}

async fn insert(store: &Sqlite, id: i64) -> Result<Verdict, StoreError> {
    let work = move |session: &mut dyn Session| {
        let _ = session.execute(&INSERT, &[Value::from(id), Value::from("a text of some length")]);
        Verdict::Commit
    };
    store.transact(writes(), Box::new(work)).await
}

async fn look(store: &Sqlite, statement: &'static Statement) -> Result<i64, StoreError> {
    let found = Arc::new(Mutex::new(0));
    let into = Arc::clone(&found);
    let work = move |session: &mut dyn Session| {
        if let Ok(mut rows) = session.query(statement, &[]) {
            *into.lock().unwrap() = rows[0].take(0).unwrap();
        }
        Verdict::Commit
    };
    store.transact(reads(), Box::new(work)).await?;
    let found = *found.lock().unwrap();
    Ok(found)
}

fn is_shared<T: Send + Sync + Clone + 'static>() {}

fn is_sendable<T: Send>(_: &T) {}

#[test]
fn the_store_and_its_futures_can_be_shared() {
    is_shared::<Sqlite>();
    let folder = tempfile::tempdir().unwrap();
    is_sendable(&insert(&open(&folder, Options::default()), 1));
}

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
    let before = (store.stats().commits, commits_logged(&path(&folder)));
    // While somebody else holds the lock, all of them queue.
    let other = raw(&path(&folder));
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
    assert_eq!(commits_logged(&path(&folder)) - before.1, usize::try_from(commits).unwrap());
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
async fn a_read_within_its_budget_runs_here_and_one_beyond_it_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
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
    assert!(both.iter().all(|ended| matches!(ended, Err(StoreError::Busy(_)))), "{both:?}");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert_eq!(look(&store, &ONE).await, Ok(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_long_reads_half_of_them_given_up_leaves_the_store_well() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default().inline(2).readers(2).deadline(Duration::from_millis(500)));
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    look(&store, &LONG).await.unwrap_or_default();
    let before = threads();
    let mut burst = tokio::task::JoinSet::new();
    for at in 0..600 {
        let store = store.clone();
        burst.spawn(async move {
            if at % 2 == 0 {
                let _ = tokio::time::timeout(Duration::from_millis(at % 50), look(&store, &LONG)).await;
                return Ok(0);
            }
            look(&store, &LONG).await
        });
    }
    while let Some(ended) = burst.join_next().await {
        assert!(matches!(ended.unwrap(), Ok(_) | Err(StoreError::Busy(_))));
    }
    let start = Instant::now();
    assert_eq!(look(&store, &ONE).await, Ok(1));
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    // Threads of other tests come and go; the store's own are a handful.
    assert!(threads() < before + 50, "{} threads", threads());
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

#[tokio::test]
async fn too_many_waiting_works_are_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default().queue(4));
    let other = raw(&path(&folder));
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

/// Not a test: a process of its own holds the lock for two seconds, four times. Without its variable
/// there is nothing to do.
#[test]
fn holds_the_lock() {
    let Some(place) = std::env::var_os("PROBE_PATH") else { return };
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
        .args(["--exact", "sqlite::holds_the_lock"])
        .env("PROBE_PATH", path(&folder))
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
    let other = raw(&path(&folder));
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for ended in join_all((0..20).map(|id| insert(&store, id))).await {
        assert_eq!(ended, Err(StoreError::Busy("another process holds the file")));
    }
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(insert(&store, 1).await, Ok(Verdict::Commit));
    assert_eq!(look(&store, &COUNT).await, Ok(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_changes_stays_small_and_is_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
    let log = path(&folder).with_extension("db-wal");
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

#[test]
fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder, Options::default());
    for file in ["data.db", "data.db-wal"] {
        let mode = std::fs::metadata(folder.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    drop(store);
}

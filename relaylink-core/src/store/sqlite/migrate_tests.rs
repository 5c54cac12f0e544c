use std::{
    path::Path,
    process::{Command, ExitStatus},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use rusqlite::Connection;

use crate::store::{
    StoreError,
    migrations::Migration,
    sqlite::{Options, Sqlite},
};

/// Fail points until the process kills itself; the largest number is never.
static LEFT: AtomicU32 = AtomicU32::new(u32::MAX);

pub(super) fn fail_point() {
    if LEFT.load(Relaxed) != u32::MAX && LEFT.fetch_sub(1, Relaxed) == 0 {
        std::process::abort();
    }
}

static PROBE: [Migration; 2] = [
    Migration::new(
        1,
        "first",
        "CREATE TABLE probe_a (id TEXT PRIMARY KEY);
         CREATE INDEX probe_a_id ON probe_a (id);
         INSERT INTO probe_a (id) VALUES ('x');",
    ),
    Migration::new(
        2,
        "second",
        "ALTER TABLE probe_a ADD COLUMN n BIGINT;
         UPDATE probe_a SET n = 1;
         CREATE VIRTUAL TABLE probe_terms USING fts5 (terms);",
    ),
];

fn open(path: &Path, migrations: &'static [Migration]) -> Result<Sqlite, StoreError> {
    Sqlite::open_with(path, Options::default().inline(1).readers(1).migrations("probe", migrations))
}

/// The whole file, as text.
fn dump(path: &Path) -> Vec<String> {
    let raw = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let check: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let mut lines: Vec<String> = raw
        .prepare("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for text in [
        "SELECT owner || version || name || digest FROM migrations ORDER BY 1",
        "SELECT id || n FROM probe_a ORDER BY 1",
    ] {
        let mut statement = raw.prepare(text).unwrap();
        lines.extend(statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap));
    }
    lines
}

fn child(path: &Path, fail_points: u32) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "store::sqlite::migrate::tests::opens_in_a_process_of_its_own"])
        .env("PROBE_PATH", path)
        .env("PROBE_LEFT", fail_points.to_string());
    command
}

/// Not a test: what the tests below do in a process of its own. Without its variable there is nothing to do.
#[test]
fn opens_in_a_process_of_its_own() {
    let Ok(path) = std::env::var("PROBE_PATH") else { return };
    LEFT.store(std::env::var("PROBE_LEFT").unwrap().parse().unwrap(), Relaxed);
    open(path.as_ref(), &PROBE).unwrap();
}

#[test]
fn killed_at_any_statement_the_next_open_works() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    open(&whole, &PROBE).unwrap();
    let whole = dump(&whole);
    let mut killed = 0;
    loop {
        let path = folder.path().join(format!("{killed}.db"));
        let status: ExitStatus = child(&path, killed).output().unwrap().status;
        if status.success() {
            break;
        }
        assert_eq!(status.code(), None, "killed by a signal");
        open(&path, &PROBE).unwrap();
        assert_eq!(dump(&path), whole, "killed at fail point {killed}");
        killed += 1;
    }
    assert!(killed >= 10, "six statements and two versions: {killed}");
}

#[test]
fn several_processes_may_open_a_new_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    let children: Vec<_> = (0..6).map(|_| child(&path, u32::MAX).spawn().unwrap()).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    open(&path, &PROBE).unwrap();
}

fn refused(path: &Path, migrations: &'static [Migration], words: &str) {
    let before = std::fs::read(path).unwrap();
    match open(path, migrations) {
        Err(StoreError::Unusable(message)) => assert!(message.contains(words), "{message}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(std::fs::read(path).unwrap(), before);
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    open(&path, &PROBE).unwrap();
    refused(&path, &PROBE[..1], "a newer program: its tables of probe are at version 2 (second)");
    open(&path, &PROBE).unwrap();
}

#[test]
fn an_edited_migration_is_noticed() {
    static EDITED: [Migration; 1] = [Migration::new(1, "first", "CREATE TABLE probe_a (id TEXT)")];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    open(&path, &PROBE[..1]).unwrap();
    refused(&path, &EDITED, "migration 1 (first) of probe is not the one");
}

#[test]
fn other_files_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let raw = Connection::open_with_flags(
        &path,
        rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE | rusqlite::OpenFlags::SQLITE_OPEN_CREATE,
    )
    .unwrap();
    raw.execute_batch("CREATE TABLE others (a)").unwrap();
    drop(raw);
    refused(&path, &PROBE, "another program");
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "These are notes, and long enough to be taken for a header of a file, or not.\n".repeat(20),
    )
    .unwrap();
    refused(&text, &PROBE, "no SQLite file");
    let nowhere = open(&folder.path().join("none/data.db"), &PROBE);
    assert!(
        matches!(&nowhere, Err(StoreError::Unusable(m)) if m.contains("Make the folder first")),
        "{nowhere:?}"
    );
}

#[test]
fn a_migration_that_breaks_the_rules_is_not_applied() {
    static TRIGGER: [Migration; 1] = [Migration::new(
        1,
        "trigger",
        "CREATE TABLE probe_a (id TEXT); CREATE TRIGGER x AFTER INSERT ON probe_a BEGIN DELETE FROM probe_a; END",
    )];
    let folder = tempfile::tempdir().unwrap();
    let refused = open(&folder.path().join("data.db"), &TRIGGER);
    assert!(matches!(&refused, Err(StoreError::Unusable(m)) if m.contains("a trigger")), "{refused:?}");
}

#[test]
fn a_migration_that_fails_is_told_without_its_text() {
    static FAILING: [Migration; 1] =
        [Migration::new(1, "first", "CREATE TABLE probe_a (id TEXT); CREATE TABLE probe_a (id TEXT)")];
    let folder = tempfile::tempdir().unwrap();
    let Err(StoreError::Unusable(told)) = open(&folder.path().join("data.db"), &FAILING) else {
        panic!("it was applied")
    };
    assert!(told.contains("migration 1 (first) of probe") && told.contains("already exists"), "{told}");
    assert!(!told.contains("CREATE"), "{told}");
}

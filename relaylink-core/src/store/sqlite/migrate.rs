//! Brings a file's tables up to date.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::{
    Batch, Connection, ErrorCode, OptionalExtension, TransactionBehavior, fallible_iterator::FallibleIterator,
};

use super::{
    connection::{Role, error, open},
    unfit::unfit,
};
use crate::store::{
    Dialect, StoreError,
    migrations::{self, Migration, Owners, VERSIONS},
    upkeep::{MARKER, unfinished},
};

/// Opens the file for writing and applies what is missing. A file that this program cannot use is
/// left as it is.
pub(super) fn migrate(
    path: &Path,
    owners: &Owners,
    busy: Duration,
    patience: Duration,
) -> Result<Connection, StoreError> {
    for (owner, steps) in owners {
        migrations::check(owner, steps)?;
    }
    let mut raw = open(path, Role::Writer, busy)?;
    let until = Instant::now() + patience;
    wait(until, || usable(&raw, path, owners))?;
    wait(until, || write_ahead(&raw))?;
    for (owner, steps) in owners {
        for migration in *steps {
            wait(until, || apply(&mut raw, path, owner, migration))?;
        }
    }
    Ok(raw)
}

/// Tries again while another process is at it.
fn wait<R>(until: Instant, mut act: impl FnMut() -> Result<R, StoreError>) -> Result<R, StoreError> {
    loop {
        match act() {
            Err(StoreError::Busy(_)) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            result => return result,
        }
    }
}

/// Refuses a file that a move has begun to fill.
pub(super) fn refuse_unfinished(raw: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = raw
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1", [MARKER], |_| Ok(()))
        .optional()
        .map_err(error)?;
    match found {
        Some(()) => Err(unfinished(&path.display())),
        None => Ok(()),
    }
}

/// Refuses a file of another program and one that a newer program has written. Reads only.
pub(super) fn usable(raw: &Connection, path: &Path, owners: &Owners) -> Result<(), StoreError> {
    let failed = |found| unfit(path, found);
    let tables: i64 =
        raw.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    if tables == 0 {
        return Ok(());
    }
    let ours = raw
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'", [], |_| Ok(()))
        .optional()
        .map_err(failed)?;
    let path = path.display();
    if ours.is_none() {
        return Err(StoreError::Unusable(format!(
            "{path} is the SQLite file of another program: name another one"
        )));
    }
    let unlike = |found: rusqlite::Error| match found.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            failed(found)
        }
        _ => StoreError::Unusable(format!("{path} is not a file of this program: name another one")),
    };
    // What is asked below finds its rows by an index, and would not meet a damaged one.
    raw.query_row("SELECT count(digest) FROM migrations", [], |_| Ok(())).map_err(unlike)?;
    for (owner, steps) in owners {
        let newer = raw
            .query_row(
                "SELECT version, name FROM migrations WHERE owner = ?1 AND version > ?2 ORDER BY version DESC",
                (owner, i64::try_from(steps.len()).unwrap_or(i64::MAX)),
                |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)),
            )
            .optional()
            .map_err(unlike)?;
        if let Some((version, name)) = newer {
            return Err(migrations::newer(&path, owner, version, &name, steps.len()));
        }
    }
    Ok(())
}

/// Turns the write-ahead log on, for good.
fn write_ahead(raw: &Connection) -> Result<(), StoreError> {
    let mode: String =
        raw.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)).map_err(error)?;
    if mode != "wal" {
        return Err(StoreError::Unusable(format!(
            "the file system of the data file cannot carry a write-ahead log ({mode}): put it on a local disk"
        )));
    }
    raw.pragma_update(None, "synchronous", "FULL").map_err(error)
}

/// Applies one migration, together with its version, unless it has been.
fn apply(raw: &mut Connection, path: &Path, owner: &str, migration: &Migration) -> Result<(), StoreError> {
    let text = migration.text(Dialect::Sqlite);
    let digest = migration.digest(Dialect::Sqlite);
    let (version, name) = (migration.version(), migration.name());
    let transaction = raw.transaction_with_behavior(TransactionBehavior::Immediate).map_err(error)?;
    transaction.execute_batch(VERSIONS).map_err(error)?;
    let applied: Option<String> = transaction
        .query_row(
            "SELECT digest FROM migrations WHERE owner = ?1 AND version = ?2",
            (owner, version),
            |row| row.get(0),
        )
        .optional()
        .map_err(error)?;
    match applied {
        Some(found) if found == digest => return Ok(()),
        Some(_) => return Err(migration.edited(owner)),
        None => {}
    }
    let there: Vec<String> = transaction
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .and_then(|mut find| find.query_map([], |row| row.get(0))?.collect())
        .map_err(error)?;
    migration.refuse_there(&path.display().to_string(), owner, Dialect::Sqlite, &there)?;
    let failed = |found: rusqlite::Error| match error(found) {
        busy @ StoreError::Busy(_) => busy,
        error => StoreError::Unusable(format!("migration {version} ({name}) of {owner}: {error}")),
    };
    let mut statements = Batch::new(&transaction, text);
    while let Some(mut statement) = statements.next().map_err(failed)? {
        fail_point();
        statement.raw_execute().map_err(failed)?;
    }
    fail_point();
    transaction
        .execute(
            "INSERT INTO migrations (owner, version, name, digest) VALUES (?1, ?2, ?3, ?4)",
            (owner, version, name, digest),
        )
        .map_err(error)?;
    fail_point();
    transaction.commit().map_err(error)
}

/// Where a test kills the process.
#[cfg(not(test))]
const fn fail_point() {}

#[cfg(test)]
fn fail_point() {
    tests::fail_point();
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;

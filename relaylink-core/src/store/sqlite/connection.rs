//! One connection: its settings, asserted when it is opened; its notes, its meter, its statements' classes.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use super::{
    class::{Class, Notes, commands},
    options::{LOG_KEPT, STATEMENTS, TICK},
    unfit::unfit,
};
use crate::store::{StoreError, verify};

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Writer,
    Reader,
}

/// How much the work at hand may still use.
#[derive(Debug)]
pub(super) struct Meter {
    start: Instant,
    /// Ticks left; the largest number is no limit.
    ticks: AtomicU32,
    /// Nanoseconds after `start` at which time is up; zero is no limit.
    until: AtomicU64,
}

impl Meter {
    /// Sets the limits of the next work.
    pub(super) fn set(&self, steps: Option<u32>, deadline: Option<Instant>) {
        self.ticks.store(steps.map_or(u32::MAX, |steps| steps / TICK), Relaxed);
        let until = deadline.map_or(0, |deadline| {
            u64::try_from(deadline.saturating_duration_since(self.start).as_nanos())
                .unwrap_or(u64::MAX)
                .max(1)
        });
        self.until.store(until, Relaxed);
    }

    /// Counts a tick and says whether the work has used too much.
    fn tick(&self) -> bool {
        let ticks = self.ticks.load(Relaxed);
        if ticks == 0 {
            return true;
        }
        if ticks != u32::MAX {
            self.ticks.store(ticks - 1, Relaxed);
        }
        self.is_late()
    }

    /// Whether the work's time is up.
    pub(super) fn is_late(&self) -> bool {
        let until = self.until.load(Relaxed);
        until != 0 && self.start.elapsed() > Duration::from_nanos(until)
    }
}

/// A connection. The statements it has prepared are kept with it, and beside each its class.
#[derive(Debug)]
pub(super) struct Conn {
    pub(super) raw: Connection,
    pub(super) notes: Arc<Notes>,
    pub(super) meter: Arc<Meter>,
    /// By address and length of the text, which is the program's own.
    classes: HashMap<(usize, usize), Class>,
    /// The schema's full-text indexes.
    indexes: Vec<String>,
}

impl Conn {
    /// Opens the file. The writer's connection makes it; a reader's cannot write.
    pub(super) fn open(path: &Path, role: Role, busy: Duration) -> Result<Self, StoreError> {
        let raw = open(path, role, busy)?;
        Self::over(raw, role, busy)
    }

    /// Takes a bare connection whose tables are all there.
    pub(super) fn over(mut raw: Connection, role: Role, busy: Duration) -> Result<Self, StoreError> {
        configure(&raw, role, busy)?;
        let notes = Notes::new(tables(&raw, "shadow")?);
        let indexes = tables(&raw, "virtual")?;
        let meter =
            Arc::new(Meter { start: Instant::now(), ticks: u32::MAX.into(), until: AtomicU64::default() });
        let (watch, count) = (Arc::clone(&notes), Arc::clone(&meter));
        raw.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| watch.authorize(context)))
            .map_err(error)?;
        raw.progress_handler(TICK.cast_signed(), Some(move || count.tick())).map_err(error)?;
        Ok(Self { raw, notes, meter, classes: HashMap::new(), indexes })
    }

    /// What the statement does. Noted at its first preparation on this connection, which is made
    /// for that alone: the engine's cache may hold the same text from elsewhere, and says nothing then.
    pub(super) fn class(&mut self, text: &'static str) -> Result<Class, StoreError> {
        let key = (text.as_ptr() as usize, text.len());
        if let Some(class) = self.classes.get(&key) {
            return Ok(*class);
        }
        let (readonly, mut class) =
            self.notes.during(|| self.raw.prepare(text).map(|statement| statement.readonly()));
        if !verify::is_plain(text) || (!readonly.map_err(error)? && !class.changes()) {
            class = class.and(Class::REFUSED);
        }
        if class.changes() && self.indexes.iter().any(|index| commands(text, index)) {
            class = class.and(Class::REMOVES);
        }
        self.classes.insert(key, class);
        Ok(class)
    }

    /// Runs one of the store's own statements.
    pub(super) fn run(&self, text: &str) -> Result<(), StoreError> {
        self.raw.prepare_cached(text).and_then(|mut statement| statement.raw_execute()).map_err(error)?;
        Ok(())
    }

    /// Ends a transaction, if one is open, without a trace.
    pub(super) fn roll_back(&self) {
        if !self.raw.is_autocommit()
            && let Err(error) = self.run("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }
}

/// A bare connection to the file, with nothing changed in it.
pub(super) fn open(path: &Path, role: Role, busy: Duration) -> Result<Connection, StoreError> {
    let how = match role {
        Role::Writer => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        Role::Reader => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    let raw = Connection::open_with_flags(path, how | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(|found| unfit(path, found))?;
    raw.busy_timeout(busy).map_err(error)?;
    Ok(raw)
}

/// Sets what holds for a connection's life, and reads back that it does.
fn configure(raw: &Connection, role: Role, busy: Duration) -> Result<(), StoreError> {
    raw.set_prepared_statement_cache_capacity(STATEMENTS);
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
    ] {
        raw.set_db_config(setting, on).map_err(error)?;
    }
    raw.busy_timeout(busy).map_err(error)?;
    raw.pragma_update(None, "synchronous", "FULL").map_err(error)?;
    raw.pragma_update(None, "foreign_keys", true).map_err(error)?;
    raw.pragma_update(None, "query_only", role == Role::Reader).map_err(error)?;
    raw.pragma_update_and_check(None, "journal_size_limit", LOG_KEPT, |_| Ok(())).map_err(error)?;
    let busy = i64::try_from(busy.as_millis()).unwrap_or(i64::MAX);
    let settings = [
        ("synchronous", 2),
        ("foreign_keys", 1),
        ("query_only", i64::from(role == Role::Reader)),
        ("busy_timeout", busy),
    ];
    for (name, expected) in settings {
        let found: i64 = raw.pragma_query_value(None, name, |row| row.get(0)).map_err(error)?;
        if found != expected {
            return Err(StoreError::Engine(format!("{name} is {found} and not {expected}")));
        }
    }
    let journal: String = raw.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(error)?;
    if journal != "wal" {
        return Err(StoreError::Engine(format!("journal_mode is {journal} and not wal")));
    }
    Ok(())
}

/// The tables of this type, as the engine knows them: the full-text indexes are `virtual`, and what
/// the engine keeps them in is `shadow`.
fn tables<C: FromIterator<String>>(raw: &Connection, of: &str) -> Result<C, StoreError> {
    let mut statement = raw.prepare("SELECT name FROM pragma_table_list WHERE type = ?1").map_err(error)?;
    let names = statement.query_map([of], |row| row.get(0)).map_err(error)?;
    names.collect::<Result<_, _>>().map_err(error)
}

/// The engine's error as ours.
#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
pub(super) fn error(error: rusqlite::Error) -> StoreError {
    let (failure, message) = match &error {
        rusqlite::Error::SqliteFailure(failure, message) => (failure, message),
        // Without its text, which may be a whole migration.
        rusqlite::Error::SqlInputError { msg, .. } => return StoreError::Engine(msg.clone()),
        _ => return StoreError::Engine(error.to_string()),
    };
    match failure.code {
        ErrorCode::ConstraintViolation => {
            StoreError::Constraint(message.clone().unwrap_or_else(|| failure.to_string()))
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            StoreError::Busy("another process holds the file")
        }
        ErrorCode::OperationInterrupted => StoreError::TooLong,
        _ => StoreError::Engine(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_has_its_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.db");
        let busy = Duration::from_millis(1_234);
        let raw = super::super::migrate::migrate(&path, &[], busy, busy).unwrap();
        let writer = Conn::over(raw, Role::Writer, busy).unwrap();
        writer.raw.execute_batch("CREATE TABLE t (a)").unwrap();
        let reader = Conn::open(&path, Role::Reader, busy).unwrap();
        for (conn, reads) in [(&writer, false), (&reader, true)] {
            let number = |name| conn.raw.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
            assert_eq!(number("synchronous"), 2, "FULL");
            assert_eq!(number("foreign_keys"), 1);
            assert_eq!(number("busy_timeout"), 1_234);
            let journal: String =
                conn.raw.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
            assert_eq!(journal, "wal");
            // A reader is held twice: by how the file was opened, and by its setting.
            assert_eq!(conn.raw.is_readonly("main").unwrap(), reads);
            assert_eq!(number("query_only"), i64::from(reads));
        }
        writer.raw.execute_batch("INSERT INTO t (a) VALUES (1)").unwrap();
        let refused = reader.raw.execute_batch("INSERT INTO t (a) VALUES (1)").unwrap_err();
        assert_eq!(refused.sqlite_error_code(), Some(ErrorCode::ReadOnly));
    }
}

//! The statements and short forms that the cases share.

use std::sync::{Arc, Mutex, PoisonError};

use crate::store::{
    Access, FromValue, OutboxWrite, Remove, Request, Row, Select, Session, Statement, Store, StoreError,
    Value, Verdict, Write,
};

pub(super) static INSERT: Write = Write::new("INSERT INTO behaviour_rows (id, n) VALUES (?1, ?2)");
pub(super) static INSERT_RETURNING: Write =
    Write::new("INSERT INTO behaviour_rows (id, n) VALUES (?1, ?2) RETURNING id");
pub(super) static UPDATE: Write = Write::new("UPDATE behaviour_rows SET n = ?2 WHERE id = ?1");
pub(super) static DELETE: Remove = Remove::new("DELETE FROM behaviour_rows WHERE id = ?1");
pub(super) static DELETE_RETURNING: Remove =
    Remove::new("DELETE FROM behaviour_rows WHERE id = ?1 RETURNING n");
pub(super) static READ: Select = Select::new("SELECT n FROM behaviour_rows WHERE id = ?1");
pub(super) static ALL: Select = Select::new("SELECT id, n FROM behaviour_rows ORDER BY id");
pub(super) static MAIL: OutboxWrite = OutboxWrite::new("INSERT INTO outbox_behaviour (id) VALUES (?1)");
pub(super) static LATE: Write = Write::new("INSERT INTO behaviour_late (id, row_id) VALUES (?1, ?2)");
static CLEAR: [Remove; 3] = [
    Remove::new("DELETE FROM behaviour_late"),
    Remove::new("DELETE FROM behaviour_rows"),
    Remove::new("DELETE FROM behaviour_values"),
];

pub(super) const WRITES: Access = Access { writes: true, removes: false, mails: false };
pub(super) const REMOVES: Access = Access { writes: false, removes: true, mails: false };
pub(super) const MAILS: Access = Access { writes: false, removes: false, mails: true };
pub(super) const WRITES_AND_REMOVES: Access = Access { writes: true, removes: true, mails: false };

/// What a work does, its errors left to the session.
pub(super) type Act = Result<Verdict, StoreError>;

/// Runs `act` with this access; an error of its own becomes a commit, which a poisoned session
/// must turn down.
pub(super) async fn run(
    store: &dyn Store,
    access: Access,
    mut act: impl FnMut(&mut dyn Session) -> Act + Send + 'static,
) -> Result<Verdict, StoreError> {
    let work = Box::new(move |session: &mut dyn Session| act(session).unwrap_or(Verdict::Commit));
    store.transact(Request::new(access, "behaviour"), work).await
}

/// Runs one statement with this access.
pub(super) async fn execute(
    store: &dyn Store,
    access: Access,
    statement: &'static Statement,
    parameters: Vec<Value>,
) -> Result<Verdict, StoreError> {
    run(store, access, move |session| session.execute(statement, &parameters).map(|_| Verdict::Commit)).await
}

/// Runs one query with this access and gives its rows.
pub(super) async fn query(
    store: &dyn Store,
    access: Access,
    statement: &'static Statement,
    parameters: Vec<Value>,
) -> Result<Vec<Row>, StoreError> {
    let slot = Slot::default();
    let filled = slot.clone();
    run(store, access, move |session| {
        filled.put(session.query(statement, &parameters)?);
        Ok(Verdict::Commit)
    })
    .await?;
    Ok(slot.take().unwrap_or_default())
}

/// All rows of the suite's main table.
pub(super) async fn all(store: &dyn Store) -> Result<Vec<(String, i64)>, String> {
    let rows = query(store, Access::READ, ALL.statement(), vec![]).await;
    pairs(rows.map_err(|error| format!("the rows could not be read: {error}"))?)
}

fn pairs(rows: Vec<Row>) -> Result<Vec<(String, i64)>, String> {
    rows.into_iter()
        .map(|mut row| Ok((row.take(0)?, row.take(1)?)))
        .collect::<Result<_, StoreError>>()
        .map_err(|error| error.to_string())
}

/// The first column of the first row.
pub(super) fn first<T: FromValue>(rows: Vec<Row>) -> Result<Option<T>, StoreError> {
    rows.into_iter().next().map(|mut row| row.take(0)).transpose()
}

/// Empties the tables and puts these rows in.
pub(super) async fn start_with(
    store: &dyn Store,
    rows: &'static [(&'static str, i64)],
) -> Result<(), String> {
    let done = run(store, Access::ALL, move |session| {
        for statement in &CLEAR {
            session.execute(statement.statement(), &[])?;
        }
        for (id, n) in rows {
            session.execute(INSERT.statement(), &[Value::from(*id), Value::from(*n)])?;
        }
        Ok(Verdict::Commit)
    })
    .await;
    equal("emptying the suite's tables", &done, &Ok(Verdict::Commit))
}

/// The rows must be these.
pub(super) async fn rows_are(store: &dyn Store, due: &[(&str, i64)]) -> Result<(), String> {
    let due: Vec<_> = due.iter().map(|(id, n)| ((*id).to_owned(), *n)).collect();
    equal("the rows", &all(store).await?, &due)
}

pub(super) fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, due: &T) -> Result<(), String> {
    if found == due { Ok(()) } else { Err(format!("{what}: {found:?}, where {due:?} was due")) }
}

pub(super) fn denied(what: &str, found: &Result<Verdict, StoreError>) -> Result<(), String> {
    match found {
        Err(StoreError::Denied(_)) => Ok(()),
        other => Err(format!("{what}: {other:?}, where a denial was due")),
    }
}

/// A place that a work overwrites at each run.
pub(super) struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Slot<T> {
    pub(super) fn put(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }

    pub(super) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

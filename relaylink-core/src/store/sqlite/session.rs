//! The session that a work is given.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::{
    Statement as Prepared,
    types::{ToSqlOutput, ValueRef},
};

use super::{
    class::Class,
    connection::{Conn, error},
};
use crate::store::{Access, Dialect, Row, Session, Statement, StoreError, Value, Verdict, Work};

/// A session on a connection whose transaction is open.
struct Open<'c> {
    conn: &'c mut Conn,
    /// What the transaction may do.
    granted: Access,
    /// What holds now: at most that.
    access: Access,
    poison: Option<StoreError>,
    wrote: bool,
}

/// How a run of a work ended; its transaction is still open.
pub(super) struct Ran {
    pub(super) result: Result<Verdict, StoreError>,
    /// Whether rows may have been changed.
    pub(super) wrote: bool,
}

impl Ran {
    /// Whether its changes are to stay.
    pub(super) fn stays(&self) -> bool {
        self.result == Ok(Verdict::Commit)
    }
}

/// Runs a work once in the open transaction. A panic ends here.
pub(super) fn run(conn: &mut Conn, access: Access, work: &mut Work) -> Ran {
    let mut session = Open { conn, granted: access, access, poison: None, wrote: false };
    let verdict = catch_unwind(AssertUnwindSafe(|| work(&mut session)));
    let result = match (session.poison, verdict) {
        (Some(error), _) => Err(error),
        (None, Ok(verdict)) => Ok(verdict),
        (None, Err(_)) => Err(StoreError::Panicked),
    };
    Ran { result, wrote: session.wrote }
}

impl Open<'_> {
    /// Runs `act` unless an error came before, and keeps its error for all that comes after.
    fn unless_poisoned<R>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        if let Some(error) = &self.poison {
            return Err(error.clone());
        }
        act(self).inspect_err(|error| self.poison = Some(error.clone()))
    }

    /// Binds the statement, checks it against the access and lets `step` run it.
    fn step<R>(
        &mut self,
        statement: &'static Statement,
        parameters: &[Value],
        step: impl FnOnce(&mut Prepared<'_>) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        // The engine looks at the meter within a statement; what the work does between two is seen here.
        if self.conn.meter.is_late() {
            return Err(StoreError::TooLong);
        }
        let text = statement.text(Dialect::Sqlite);
        let allowed = Class::of(self.access);
        let class = self.conn.class(text)?;
        class.within(allowed)?;
        let conn = &*self.conn;
        let mut prepared = conn.raw.prepare_cached(text).map_err(error)?;
        if prepared.parameter_count() != parameters.len() {
            return Err(StoreError::Engine(format!(
                "the statement takes {} parameters and was given {}",
                prepared.parameter_count(),
                parameters.len()
            )));
        }
        for (at, value) in parameters.iter().enumerate() {
            prepared.raw_bind_parameter(at + 1, borrowed(value)).map_err(error)?;
        }
        conn.notes.take();
        let result = step(&mut prepared);
        if class.changes() {
            self.wrote |= result.is_err() || conn.raw.changes() > 0;
        }
        // The engine prepares again on its own where the schema has changed under it.
        conn.notes.take().within(allowed)?;
        result
    }
}

impl Session for Open<'_> {
    fn execute(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, StoreError> {
        self.unless_poisoned(|open| {
            open.step(statement, parameters, |prepared| {
                prepared.raw_execute().map(|changed| changed as u64).map_err(error)
            })
        })
    }

    fn query(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, StoreError> {
        self.unless_poisoned(|open| open.step(statement, parameters, collect))
    }

    fn restrict(&mut self, access: Access) -> Result<Access, StoreError> {
        self.unless_poisoned(|open| {
            let narrowed = access.and(open.granted);
            Ok(std::mem::replace(&mut open.access, narrowed))
        })
    }
}

pub(super) fn borrowed(value: &Value) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        Value::Null => ValueRef::Null,
        Value::Bool(value) => ValueRef::Integer(i64::from(*value)),
        Value::Integer(value) => ValueRef::Integer(*value),
        Value::Real(value) => ValueRef::Real(*value),
        Value::Text(value) => ValueRef::Text(value.as_bytes()),
        Value::Bytes(value) => ValueRef::Blob(value),
    })
}

/// All rows of the answer. A statement that changes rows is run to its end by that.
fn collect(prepared: &mut Prepared<'_>) -> Result<Vec<Row>, StoreError> {
    let columns = prepared.column_count();
    let mut rows = prepared.raw_query();
    let mut collected = Vec::new();
    while let Some(row) = rows.next().map_err(error)? {
        collected.push(values(row, columns)?);
    }
    Ok(collected)
}

/// The engine's row as ours.
pub(super) fn values(row: &rusqlite::Row<'_>, columns: usize) -> Result<Row, StoreError> {
    let mut values = Vec::with_capacity(columns);
    for column in 0..columns {
        values.push(match row.get_ref(column).map_err(error)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(value) => Value::Integer(value),
            ValueRef::Real(value) => Value::Real(value),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Value::Text(text.to_owned()),
                Err(_) => return Err(StoreError::Shape(format!("column {column} is not UTF-8"))),
            },
            ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
        });
    }
    Ok(Row::new(values))
}

use std::path::Path;

use relaylink_core::store::Value;
use rusqlite::{
    Connection, OpenFlags, ToSql,
    types::{ToSqlOutput, ValueRef},
};

use crate::Statements;

/// A bare connection: the store's pragmas that a statement's cost depends on and its statement cache, and nothing else of it.
pub struct Bare(Connection);

impl Bare {
    /// Opens a file that the store has made.
    pub fn open(path: &Path) -> Self {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        connection.pragma_update(None, "synchronous", "FULL").unwrap();
        connection.pragma_update(None, "foreign_keys", true).unwrap();
        connection.set_prepared_statement_cache_capacity(512);
        Self(connection)
    }

    /// Runs one of the transaction's own statements.
    pub fn run(&self, text: &str) {
        self.0.prepare_cached(text).unwrap().raw_execute().unwrap();
    }

    /// Runs statements as they were recorded, and reads every column they answer into a value of
    /// its own, as a session does.
    pub fn replay(&self, statements: &Statements) -> usize {
        let mut read = 0;
        for (text, parameters) in statements {
            let mut prepared = self.0.prepare_cached(text).unwrap();
            for (at, parameter) in parameters.iter().enumerate() {
                prepared.raw_bind_parameter(at + 1, Parameter(parameter)).unwrap();
            }
            let columns = prepared.column_count();
            let mut rows = prepared.raw_query();
            while let Some(row) = rows.next().unwrap() {
                let values: Vec<_> = (0..columns).map(|at| value(row.get_ref(at).unwrap())).collect();
                read += std::hint::black_box(values).len();
            }
        }
        read
    }
}

struct Parameter<'a>(&'a Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Bool(value) => ValueRef::Integer(i64::from(*value)),
            Value::Integer(value) => ValueRef::Integer(*value),
            Value::Real(value) => ValueRef::Real(*value),
            Value::Text(value) => ValueRef::Text(value.as_bytes()),
            Value::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

fn value(column: ValueRef<'_>) -> Value {
    match column {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(text) => Value::Text(std::str::from_utf8(text).unwrap().to_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

//! A store of a user's own: rows in memory, one transaction at a time, held to all that the
//! embedded one is held to. It is written with what this crate publishes and nothing else of it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use relaylink_core::{
    relay::Relay,
    store::{
        Access, Dialect, Request, Row, Session, Statement, Store, StoreError, Value, Verdict, Work,
        behaviour,
        migrations::{CORE, Migration},
    },
    tool::Caller,
};
use rusqlite::{Connection, params_from_iter, types::ValueRef};
use serde_json::json;

/// All rows, in memory.
pub(crate) struct InMemory(Mutex<Connection>);

impl InMemory {
    pub(crate) fn with(migrations: &[Migration]) -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "foreign_keys", true).unwrap();
        for migration in migrations {
            connection.execute_batch(migration.text(Dialect::Sqlite)).unwrap();
        }
        Self(Mutex::new(connection))
    }
}

#[async_trait]
impl Store for InMemory {
    async fn transact(&self, request: Request, mut work: Work) -> Result<Verdict, StoreError> {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connection.execute_batch("BEGIN").map_err(|error| engine(&error))?;
        let mut session = Open { rows: &connection, most: request.access, now: request.access, error: None };
        let ended = catch_unwind(AssertUnwindSafe(|| work(&mut session)));
        let ended = match (session.error, ended) {
            (_, Err(_)) => Err(StoreError::Panicked),
            (Some(error), _) => Err(error),
            (None, Ok(verdict)) => Ok(verdict),
        };
        let ended = match ended {
            Ok(Verdict::Commit) => {
                connection.execute_batch("COMMIT").map(|()| Verdict::Commit).map_err(|error| engine(&error))
            }
            ended => ended,
        };
        if !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK").map_err(|error| engine(&error))?;
        }
        ended
    }
}

struct Open<'a> {
    rows: &'a Connection,
    most: Access,
    now: Access,
    error: Option<StoreError>,
}

impl Open<'_> {
    /// Runs a statement, unless one has failed before.
    fn run<T>(
        &mut self,
        statement: &Statement,
        parameters: &[Value],
        run: impl FnOnce(&mut rusqlite::Statement<'_>, Vec<rusqlite::types::Value>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let text = statement.text(Dialect::Sqlite);
        let ran = allowed(text, self.now).and_then(|()| {
            let mut prepared = self.rows.prepare_cached(text).map_err(|error| engine(&error))?;
            run(&mut prepared, parameters.iter().map(put).collect()).map_err(|error| engine(&error))
        });
        ran.inspect_err(|error| self.error = Some(error.clone()))
    }
}

impl Session for Open<'_> {
    fn execute(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, StoreError> {
        self.run(statement, parameters, |prepared, parameters| {
            prepared.execute(params_from_iter(parameters)).map(|changed| changed as u64)
        })
    }

    fn query(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, StoreError> {
        self.run(statement, parameters, |prepared, parameters| {
            let columns = prepared.column_count();
            let rows = prepared.query_map(params_from_iter(parameters), |row| {
                (0..columns).map(|at| row.get_ref(at).map(taken)).collect::<Result<_, _>>().map(Row::new)
            })?;
            rows.collect()
        })
    }

    fn restrict(&mut self, access: Access) -> Result<Access, StoreError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let before = self.now;
        self.now = access;
        self.now.writes &= self.most.writes;
        self.now.removes &= self.most.removes;
        self.now.mails &= self.most.mails;
        Ok(before)
    }
}

/// Whether this access covers a statement of the subset that the core speaks.
fn allowed(text: &str, access: Access) -> Result<(), StoreError> {
    let mut words = text.split([' ', '(']).filter(|word| !["INTO", "FROM"].contains(word));
    let (verb, table) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let covered = match verb {
        "SELECT" | "WITH" => true,
        _ if table.starts_with("outbox") => access.mails,
        "INSERT" | "UPDATE" => access.writes,
        "DELETE" => access.removes,
        _ => false,
    };
    if covered { Ok(()) } else { Err(StoreError::Denied("does what its access does not cover")) }
}

fn engine(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::ConstraintViolation) => StoreError::Constraint(error.to_string()),
        _ => StoreError::Engine(error.to_string()),
    }
}

fn put(value: &Value) -> rusqlite::types::Value {
    match value.clone() {
        Value::Null => rusqlite::types::Value::Null,
        Value::Bool(value) => i64::from(value).into(),
        Value::Integer(value) => value.into(),
        Value::Real(value) => value.into(),
        Value::Text(value) => value.into(),
        Value::Bytes(value) => value.into(),
    }
}

fn taken(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(value) => Value::Text(String::from_utf8_lossy(value).into_owned()),
        ValueRef::Blob(value) => Value::Bytes(value.to_vec()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_holds_every_case_of_the_public_suite() {
    let store = InMemory::with(behaviour::TABLES);
    store.0.lock().unwrap().execute_batch(behaviour::LATE_KEY).unwrap();
    behaviour::verify(Arc::new(store)).await.unwrap();
}

#[tokio::test]
async fn a_briefing_goes_through_it() {
    let relay = Relay::new(Arc::new(InMemory::with(CORE))).unwrap();
    let mut people = Vec::new();
    for (address, name) in [("ana@example.org", "Ana"), ("ben@example.org", "Ben")] {
        let account =
            relay.accounts().create_account(address.parse().unwrap(), name.parse().unwrap()).await.unwrap();
        people.push(Caller::local(account.id.as_str()));
    }
    let call = async |who: usize, tool: &str, arguments: serde_json::Value| {
        crate::world::call(&relay, &people[who], tool, arguments).await
    };
    let asked = call(0, "invite_contact", json!({ "email": "ben@example.org" })).await;
    call(1, "accept_contact", json!({ "request": asked["request"] })).await;
    let draft =
        call(0, "draft_package", json!({ "to": ["Ben"], "subject": "Budget", "body": "See below." })).await;
    let sent = call(0, "confirm_send", json!({ "draft": draft["draft"] })).await;
    let read = call(1, "get_package", json!({ "package": sent["package"] })).await;
    assert!(read.to_string().contains("See below."), "{read}");
    call(1, "memory_add", json!({ "text": "Ana counts in euros" })).await;
    let found = call(1, "memory_search", json!({ "query": "euros" })).await;
    assert_eq!(found["memories"].as_array().unwrap().len(), 1);
}

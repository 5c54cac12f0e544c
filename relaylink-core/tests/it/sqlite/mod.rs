//! The embedded engine under load, beside other processes, at its end.

mod groups;
mod life;
pub(crate) mod processes;
mod reads;

use std::sync::{Arc, Mutex};

use relaylink_core::store::{
    Access, Request, Session, Statement, Store, StoreError, Value, Verdict,
    migrations::Migration,
    sqlite::{Options, Sqlite},
};

use crate::place::file;

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

fn open(folder: &tempfile::TempDir, options: Options) -> Sqlite {
    Sqlite::open_with(file(folder.path()), options.migrations("probe", &TABLES)).unwrap()
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

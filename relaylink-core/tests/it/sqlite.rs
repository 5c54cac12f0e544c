//! The embedded engine: opening, its one writer, its readers.

use std::sync::{Arc, Mutex};

use relaylink_core::store::{
    Access, Request, Row, Statement, Store, StoreError, Value, Verdict,
    migrations::Migration,
    sqlite::{Options, Sqlite},
};

pub(crate) static PROBE: [Migration; 1] = [Migration::new(
    1,
    "probe",
    "CREATE TABLE probe_rows (id TEXT PRIMARY KEY, n BIGINT NOT NULL);
     CREATE VIRTUAL TABLE probe_terms USING fts5 (terms, tokenize = \"ascii tokenchars '~'\");",
)];

pub(crate) fn store(folder: &tempfile::TempDir) -> Sqlite {
    Sqlite::open_with(folder.path().join("data.db"), Options::default().migrations("probe", &PROBE)).unwrap()
}

static INSERT: Statement = Statement::unchecked("INSERT INTO probe_rows (id, n) VALUES (?1, ?2)");
static DELETE: Statement = Statement::unchecked("DELETE FROM probe_rows");
static ALL: Statement = Statement::unchecked("SELECT id, n FROM probe_rows ORDER BY id");

fn access(writes: bool, removes: bool) -> Access {
    let mut access = Access::READ;
    access.writes = writes;
    access.removes = removes;
    access
}

async fn execute(
    store: &Sqlite,
    access: Access,
    statement: &'static Statement,
    parameters: Vec<Value>,
) -> Result<Verdict, StoreError> {
    store
        .transact(
            Request::new(access, "a"),
            Box::new(move |session| match session.execute(statement, &parameters) {
                Ok(_) => Verdict::Commit,
                Err(_) => Verdict::Rollback,
            }),
        )
        .await
}

async fn rows(store: &Sqlite) -> Vec<Row> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&found);
    store
        .transact(
            Request::new(Access::READ, "a"),
            Box::new(move |session| {
                *into.lock().unwrap() = session.query(&ALL, &[]).unwrap();
                Verdict::Commit
            }),
        )
        .await
        .unwrap();
    let found = found.lock().unwrap();
    found.clone()
}

#[tokio::test]
async fn what_is_written_is_read_and_what_is_beyond_the_access_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let row = vec![Value::from("x"), Value::from(7_i64)];
    assert_eq!(execute(&store, access(true, false), &INSERT, row.clone()).await, Ok(Verdict::Commit));
    let expected = vec![Row::new(row)];
    assert_eq!(rows(&store).await, expected);
    let denied = execute(&store, access(true, false), &DELETE, vec![]).await;
    assert!(matches!(denied, Err(StoreError::Denied(_))), "{denied:?}");
    assert_eq!(rows(&store).await, expected);
    drop(store);
    assert_eq!(rows(&self::store(&folder)).await, expected);
}

//! Texts that compile, and by which a work could go beyond its tables.

use relaylink_core::store::{Access, Select, Statement, StoreError, Verdict, Write, postgres::Options};

use super::{ADD, WRITES, probe, rows, run};
use crate::database::Database;

const fn select(text: &'static str) -> Select {
    Select::new(text)
}

/// What runs another text, changes the connection or keeps what a read may not.
static READS: [Select; 12] = [
    select("SELECT word FROM ts_stat('SELECT to_tsvector(set_' || 'config(''role'', ''none'', true))')"),
    select(
        "SELECT CAST(query_to_xml('SELECT set_' || 'config(''role'', ''none'', true)', true, false, '') AS TEXT)",
    ),
    select(
        "SELECT CAST(ts_rewrite(CAST('a' AS tsquery), 'SELECT set_' || 'config(''role'', ''none'', true)') AS TEXT)",
    ),
    select("SELECT CAST(\"Lo_create\"(0) AS BIGINT)"),
    select("SELECT CAST(lo_create(0) AS BIGINT)"),
    select("SELECT CAST(lo_from_bytea(0, CAST('x' AS bytea)) AS BIGINT)"),
    select("SELECT pg_advisory_lock(1) IS NULL"),
    select("SELECT pg_notify('a', 'b') IS NULL"),
    select("SELECT pg_logical_emit_message(false, 'a', 'b') IS NULL"),
    select("SELECT pg_export_snapshot()"),
    select("SELECT COUNT(pg_cancel_backend(0))"),
    select("SELECT setseed(0) IS NULL"),
];
static PATH: Write = Write::new("UPDATE pg_settings SET setting = 'pg_catalog' WHERE name = 'search_path'");
static HIDDEN: Write =
    Write::new("WITH x AS (SELECT 1) SELECT (1) insert INTO TEMP probe_rows FROM probe_rows WHERE FALSE");
static INTO: Statement = Statement::unchecked("SELECT * INTO TEMP probe_rows FROM probe_rows WHERE FALSE");
static CODES: Statement =
    Statement::unchecked("SELECT U&\"set!005fconfig\" UESCAPE '!'('role', 'none', true)");

/// What stays with the tables.
static SNAPSHOT: Select = Select::new("SELECT CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT)");
static LISTED: Write = Write::new(
    "WITH x (id) AS (SELECT 'into b') INSERT INTO probe_rows (id, n) SELECT id, 0 FROM x ON CONFLICT DO NOTHING",
);

#[tokio::test]
async fn a_text_that_reaches_beyond_the_tables_is_refused_and_leaves_nothing() {
    let Some(database) = Database::new() else { return };
    let store = probe(&database, Options::default().connections(1));
    let reads = READS.iter().map(Select::statement);
    let others = [PATH.statement(), HIDDEN.statement(), &INTO];
    for statement in reads.chain(others) {
        for access in [Access::READ, WRITES, Access::ALL] {
            let ended = run(&store, access, statement).await;
            let due = Err(StoreError::Denied("names what reaches beyond the tables"));
            assert_eq!(ended, due, "{statement:?}");
        }
    }
    let ended = run(&store, WRITES, &CODES).await;
    assert!(matches!(ended, Err(StoreError::Denied(_))), "{ended:?}");
    // The one connection goes on with the same tables.
    assert_eq!(run(&store, WRITES, ADD.statement()).await, Ok(Verdict::Commit));
    assert_eq!(rows(&database), 1);
    let objects: i64 = database
        .on(|client| client.query_one("SELECT count(*) FROM pg_largeobject_metadata", &[]).unwrap().get(0));
    assert_eq!(objects, 0);
}

#[tokio::test]
async fn a_text_that_stays_with_the_tables_is_taken() {
    let Some(database) = Database::new() else { return };
    let store = probe(&database, Options::default().connections(1));
    assert_eq!(run(&store, Access::READ, SNAPSHOT.statement()).await, Ok(Verdict::Commit));
    assert_eq!(run(&store, WRITES, LISTED.statement()).await, Ok(Verdict::Commit));
    let put: i64 = database.on(|client| {
        client.query_one("SELECT count(*) FROM probe_rows WHERE id = 'into b'", &[]).unwrap().get(0)
    });
    assert_eq!(put, 1);
}

//! How SQLite carries out a statement: for tests that a list is read from where its page begins.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use rusqlite::Connection;

use super::{Dialect, Statement, migrations::CORE};

/// The steps of the plan, over the tables as they are made.
pub(crate) fn plan(statement: &Statement) -> Vec<String> {
    let connection = Connection::open_in_memory().unwrap();
    for migration in CORE {
        connection.execute_batch(migration.text(Dialect::Sqlite)).unwrap();
    }
    let text = format!("EXPLAIN QUERY PLAN {}", statement.text(Dialect::Sqlite));
    let mut query = connection.prepare(&text).unwrap();
    let nothing = vec![rusqlite::types::Null; query.parameter_count()];
    let steps = query.query_map(rusqlite::params_from_iter(nothing), |row| row.get(3)).unwrap();
    steps.map(Result::unwrap).collect()
}

/// Panics unless every table is entered by an index and no more than a page's rows are sorted.
/// `x` and `v` are what statements call rows that they make up or have cut to a page.
pub(crate) fn reads_a_range(statement: &Statement) {
    for step in plan(statement) {
        let scans = step.starts_with("SCAN") && !["SCAN CONSTANT ROW", "SCAN x", "SCAN v"].contains(&&*step);
        let sorts = step.contains("TEMP B-TREE") && !step.contains("LAST TERM");
        assert!(!scans && !sorts, "{}: {step}", statement.text(Dialect::Sqlite));
    }
}

#[test]
fn a_scan_and_a_sort_are_found() {
    for text in
        ["SELECT id FROM packages WHERE body = ?1", "SELECT id FROM packages WHERE sender = ?1 ORDER BY sent"]
    {
        let statement = Box::leak(Box::new(super::Select::new(text)));
        assert!(std::panic::catch_unwind(|| reads_a_range(statement.statement())).is_err(), "{text}");
    }
}

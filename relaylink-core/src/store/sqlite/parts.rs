//! What the tables of a file consist of, by its catalog.

use rusqlite::Connection;

use super::connection::error;
use crate::store::{
    Dialect, StoreError,
    migrations::{Owners, VERSIONS},
    upkeep::Part,
};

/// Columns with their place in the primary key, foreign keys, what is unique, and indexes. A CHECK stands
/// in no catalog: the engine holds the rows to those that are there.
const PARTS: &str = "\
    WITH t AS (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') \
        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\') \
    SELECT t.name, 'column ' || c.name, c.type || iif(c.\"notnull\", ' NOT NULL', '') || \
        coalesce(' DEFAULT ' || c.dflt_value, '') || iif(c.pk > 0, ' PRIMARY KEY ' || c.pk, '') \
    FROM t, pragma_table_info(t.name) c \
    UNION ALL \
    SELECT t.name, 'constraint FOREIGN KEY (' || group_concat(f.\"from\", ', ' ORDER BY f.seq) || ') REFERENCES ' \
        || f.\"table\" || coalesce(' (' || group_concat(f.\"to\", ', ' ORDER BY f.seq) || ')', ''), '' \
    FROM t, pragma_foreign_key_list(t.name) f GROUP BY t.name, f.id \
    UNION ALL \
    SELECT t.name, 'constraint UNIQUE (' || (SELECT group_concat(name, ', ' ORDER BY seqno) \
        FROM pragma_index_info(i.name)) || ')', '' \
    FROM t, pragma_index_list(t.name) i WHERE i.origin = 'u' \
    UNION ALL \
    SELECT t.name, 'index ' || i.name, iif(i.\"unique\", 'UNIQUE ', '') || '(' || \
        (SELECT group_concat(coalesce(name, 'an expression') || iif(coll = 'BINARY', '', ' COLLATE ' || coll) \
            || iif(\"desc\", ' DESC', ''), ', ' ORDER BY seqno) FROM pragma_index_xinfo(i.name) WHERE key) \
        || ')' || iif(i.partial, ' WHERE …', '') \
    FROM t, pragma_index_list(t.name) i WHERE i.origin = 'c'";

/// What the tables consist of.
pub(super) fn parts(raw: &Connection) -> Result<Vec<Part>, StoreError> {
    let mut prepared = raw.prepare(PARTS).map_err(error)?;
    let parts = prepared
        .query_map([], |row| Ok(Part { table: row.get(0)?, what: row.get(1)?, how: row.get(2)? }))
        .map_err(error)?;
    parts.collect::<Result<_, _>>().map_err(error)
}

/// What they consist of where these have just made them.
pub(super) fn due(owners: &Owners) -> Result<Vec<Part>, StoreError> {
    let raw = Connection::open_in_memory().map_err(error)?;
    raw.execute_batch(VERSIONS).map_err(error)?;
    for step in owners.iter().flat_map(|(_, steps)| *steps) {
        raw.execute_batch(step.text(Dialect::Sqlite)).map_err(error)?;
    }
    parts(&raw)
}

//! The rows of a store's file, read from outside.

use std::path::Path;

use relaylink_core::tool::audit::State;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value as Json};

use crate::place::value;

/// The file as another program has it that reads.
pub(crate) fn read(file: &Path) -> Connection {
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// The file as another program has it that writes.
pub(crate) fn raw(file: &Path) -> Connection {
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

/// Every row of every table, by table and key, those of the text index and of the engine left out.
/// Two are equal where nothing has changed.
pub(crate) fn of(connection: &Connection) -> State {
    of_tables(connection, "type = 'table' AND name NOT LIKE 'sqlite_%'")
}

/// Likewise, with the rows of the text index, the schema and all that the engine keeps beside them.
pub(crate) fn of_everything(connection: &Connection) -> State {
    of_tables(connection, "true")
}

fn of_tables(connection: &Connection, which: &str) -> State {
    let query = format!("SELECT name FROM pragma_table_list WHERE schema = 'main' AND {which} ORDER BY name");
    let mut query = connection.prepare(&query).unwrap();
    let tables = query.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let mut state = State::default();
    for table in tables.filter(|table| !is_bookkeeping(table)) {
        let columns = columns(connection, &table);
        let quoted = table.replace('"', "\"\"");
        let mut query = connection.prepare(&format!("SELECT * FROM \"{quoted}\"")).unwrap();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let value = |at: usize| value(row.get_ref(at).unwrap());
            let named = columns.iter().enumerate();
            let key: Vec<_> =
                named.clone().filter(|(_, (_, key))| *key).map(|(at, _)| value(at).to_string()).collect();
            let columns = named.map(|(at, (name, _))| (name.clone(), value(at)));
            if table == "outbox" {
                state.reached("ExternalMail", 1);
            }
            state.row(&table, key.join(" "), columns);
        }
    }
    state
}

/// Tables that are no part of what a tool leaves unchanged, and why.
const BOOKKEEPING: [(&str, &str); 1] =
    [("key_use", "when a key was last used is written by the layer that authenticates, and may be lost")];

/// Whether the table is no part of what a tool leaves unchanged.
pub(crate) fn is_bookkeeping(table: &str) -> bool {
    BOOKKEEPING.iter().any(|(name, _)| *name == table)
}

/// A row's key, by the columns of its table's: its id where it has one, and all of it where there is no key.
pub(crate) fn key(row: &Map<String, Json>, of_table: &[String]) -> String {
    let columns: Vec<_> = match row.get("id") {
        Some(id) => vec![id],
        None if of_table.is_empty() => row.values().collect(),
        None => of_table.iter().map(|name| &row[name]).collect(),
    };
    columns.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// A table's columns, and which of them are its key: all, where it has none.
fn columns(connection: &Connection, table: &str) -> Vec<(String, bool)> {
    let mut query = connection.prepare("SELECT name, pk FROM pragma_table_info(?1)").unwrap();
    let columns = query.query_map([table], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? > 0))).unwrap();
    let mut columns: Vec<(String, bool)> = columns.map(Result::unwrap).collect();
    // The engine gives the number of a row that went to one that comes; its id is never used again.
    let has_id = columns.iter().any(|(name, _)| name == "id");
    let has_key = columns.iter().any(|(_, key)| *key);
    for (name, key) in &mut columns {
        *key = if has_id { name == "id" } else { *key || !has_key };
    }
    columns
}

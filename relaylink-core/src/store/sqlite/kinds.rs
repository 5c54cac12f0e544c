//! Whether values are of the kinds that their columns were made for, which the engine does not see to.

use rusqlite::{Connection, types::ValueRef};

use super::connection::error;
use crate::{
    relay::is_id,
    store::{
        StoreError,
        upkeep::{Misfit, Table, quoted},
    },
};

/// A column as it was declared.
struct Column {
    name: String,
    kind: String,
    in_key: bool,
}

/// Reads the whole table, and hands over each value that does not fit.
pub(super) fn misfits(
    raw: &Connection,
    table: &Table,
    found: &mut dyn FnMut(Misfit<'_>),
) -> Result<(), StoreError> {
    let of = quoted(&table.name);
    let columns = columns(raw, &of).map_err(error)?;
    let names: Vec<_> = columns.iter().map(|column| quoted(&column.name)).collect();
    let mut prepared = raw.prepare(&format!("SELECT {} FROM {of}", names.join(", "))).map_err(error)?;
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next().map_err(error)? {
        for (at, column) in columns.iter().enumerate() {
            if let Some(says) = wrong(column, row.get_ref(at).map_err(error)?) {
                let key = table.key.iter().map(|part| row.get_ref(&**part).map(shown));
                let key = key.collect::<Result<Vec<_>, _>>().map_err(error)?.join(" ");
                found(Misfit { column: &column.name, says, key });
            }
        }
    }
    Ok(())
}

fn columns(raw: &Connection, of: &str) -> rusqlite::Result<Vec<Column>> {
    let mut prepared =
        raw.prepare(&format!("SELECT name, upper(type), pk > 0 FROM pragma_table_info({of})"))?;
    let columns = prepared
        .query_map([], |row| Ok(Column { name: row.get(0)?, kind: row.get(1)?, in_key: row.get(2)? }))?;
    columns.collect()
}

/// What is wrong with the value; nothing where its column is of a kind that no migration uses.
fn wrong(column: &Column, value: ValueRef<'_>) -> Option<&'static str> {
    match (&*column.kind, value) {
        // Elsewhere the engine's own check sees to it.
        (_, ValueRef::Null) => column.in_key.then_some("are missing, and part of the key"),
        ("TEXT", ValueRef::Text(text)) if std::str::from_utf8(text).is_err() => Some("are no UTF-8"),
        ("TEXT", ValueRef::Text(text)) => text.contains(&0).then_some("hold a NUL"),
        ("BIGINT" | "INTEGER", ValueRef::Integer(_)) | ("BLOB", ValueRef::Blob(_)) => None,
        ("TEXT", _) => Some("are no text"),
        ("BIGINT" | "INTEGER", _) => Some("are no whole numbers"),
        ("BLOB", _) => Some("are no bytes"),
        _ => None,
    }
}

/// A part of a key: an id or a number. What a person may have written, as an address, is not shown.
fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) if is_id(text) => text.to_owned(),
            _ => "…".to_owned(),
        },
        _ => "…".to_owned(),
    }
}

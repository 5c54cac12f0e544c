//! What an engine does for the whole of a store: few verbs, so that all that is made of them is the same
//! on each.

use std::ops::ControlFlow;

use super::{Misfit, Part, STAMP, listed, quoted};
use crate::store::{Dialect, Row, StoreError, Value, migrations::Owners};

/// What is done with each row of a scan. `Break` ends it.
pub(crate) type Each<'e> = dyn FnMut(Row) -> Result<ControlFlow<()>, StoreError> + 'e;

/// One statement of a transaction, run once for each row of parameters.
pub(crate) struct Change {
    pub(crate) sql: String,
    pub(crate) rows: Vec<Vec<Value>>,
    /// Rows that it must change in all; with another number the transaction is undone.
    pub(crate) exactly: Option<u64>,
}

impl Change {
    /// A statement without parameters.
    pub(crate) fn plain(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), rows: vec![Vec::new()], exactly: None }
    }

    /// A statement with one parameter, which must change one row.
    pub(crate) fn one(sql: String, value: Value) -> Self {
        Self { sql, rows: vec![vec![value]], exactly: Some(1) }
    }
}

/// A connection that sees a whole store. Statements have `?1`, `?2` … as their parameters.
pub(crate) trait Raw: Send {
    fn dialect(&self) -> Dialect;

    /// What the store is called in messages, without a password.
    fn name(&self) -> &str;

    /// Which store it is, however it was reached.
    fn site(&self) -> Site<'_> {
        Site { name: self.name(), known: None }
    }

    /// Its tables, by its catalog, without the engine's own.
    fn tables(&mut self) -> Result<Vec<Table>, StoreError>;

    /// What its tables consist of, by its catalog.
    fn parts(&mut self) -> Result<Vec<Part>, StoreError>;

    /// What they consist of where the migrations have just made them, which nobody else sees.
    fn parts_due(&mut self, owners: &Owners) -> Result<Vec<Part>, StoreError>;

    /// Hands over each value of the table that is not of its column's kind. None is where the engine sees
    /// to the kinds.
    fn misfits(&mut self, _: &Table, _: &mut dyn FnMut(Misfit<'_>)) -> Result<(), StoreError> {
        Ok(())
    }

    /// From here on all is read as it is now, until the next snapshot or [`release`](Self::release).
    fn snapshot(&mut self) -> Result<(), StoreError>;

    /// Reads what comes as it is then.
    fn release(&mut self) -> Result<(), StoreError>;

    /// Hands over the answer row by row, never all of it at once where there is a snapshot.
    fn scan(&mut self, sql: &str, parameters: &[Value], each: &mut Each<'_>) -> Result<(), StoreError>;

    /// Does all of this in one transaction, or nothing. `false`: one did not change the rows it must.
    fn change(&mut self, changes: &[Change]) -> Result<bool, StoreError>;

    /// The statements that take all rows from an index of text.
    fn emptying(&self, index: &str) -> String;

    /// A statement that answers what an index of text holds of the numbers above ?1 and up to ?2: the
    /// number with nothing, and the number with each of its terms.
    fn entries(&mut self, index: &str) -> Result<String, StoreError>;

    /// What the engine itself finds wrong, in sentences.
    fn damage(&mut self) -> Result<Vec<String>, StoreError>;
}

/// Which store it is.
pub(crate) struct Site<'s> {
    /// What it is called, which another server's may be called too.
    pub(crate) name: &'s str,
    /// What no other store has, where the engine tells it.
    pub(crate) known: Option<&'s str>,
}

impl Site<'_> {
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self.known, other.known) {
            (Some(one), Some(other)) => one == other,
            _ => self.name == other.name,
        }
    }
}

/// The rows that a statement answers, which are few.
pub(super) fn select(raw: &mut dyn Raw, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, StoreError> {
    let mut rows = Vec::new();
    raw.scan(sql, parameters, &mut |row| {
        rows.push(row);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(rows)
}

/// The number that a statement answers; none where it answers nothing.
pub(super) fn number(raw: &mut dyn Raw, sql: &str, parameters: &[Value]) -> Result<Option<i64>, StoreError> {
    match select(raw, sql, parameters)?.first_mut() {
        Some(row) => row.take(0),
        None => Ok(None),
    }
}

/// A table as its catalog has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Its columns by name, so that their order is one on every engine.
    pub(crate) columns: Vec<String>,
    /// Whether it has a column of places in the order of commits, which is not among the others.
    pub(crate) stamped: bool,
    /// Those of its primary key, in the key's order.
    pub(crate) key: Vec<String>,
    /// The tables that its foreign keys point to.
    pub(crate) references: Vec<String>,
}

impl Table {
    /// Reads its rows in the order of the key: all of them, or those after one whose key is given.
    pub(super) fn rows(&self, after: bool) -> String {
        let (columns, key, name) = (listed(&self.columns), listed(&self.key), quoted(&self.name));
        let behind = if after {
            let places: Vec<_> = (1..=self.key.len()).map(|at| format!("?{at}")).collect();
            format!(" WHERE ({key}) > ({})", places.join(", "))
        } else {
            String::new()
        };
        format!("SELECT {columns} FROM {name}{behind} ORDER BY {key}")
    }

    /// The key of its last row.
    pub(super) fn last(&self) -> String {
        let down: Vec<_> = self.key.iter().map(|column| format!("{} DESC", quoted(column))).collect();
        let (key, name) = (listed(&self.key), quoted(&self.name));
        format!("SELECT {key} FROM {name} ORDER BY {} LIMIT 1", down.join(", "))
    }

    /// Puts in a row of all its columns, before all that any cursor is behind.
    pub(super) fn insert(&self) -> String {
        let places: Vec<_> = (1..=self.columns.len()).map(|at| format!("?{at}")).collect();
        let (columns, name) = (listed(&self.columns), quoted(&self.name));
        let (stamp, first) =
            if self.stamped { (format!(", {}", quoted(STAMP)), ", 0") } else { Default::default() };
        format!("INSERT INTO {name} ({columns}{stamp}) VALUES ({}{first})", places.join(", "))
    }
}

/// Counts a table's rows.
pub(super) fn count(table: &str) -> String {
    format!("SELECT COUNT(*) FROM {}", quoted(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_of_one_name_are_two_where_the_engine_knows_them_apart() {
        let site = |name, known| Site { name, known };
        assert!(!site("a", Some("1")).is(&site("a", Some("2"))));
        assert!(site("a", Some("1")).is(&site("b", Some("1"))));
        for known in [None, Some("1")] {
            assert!(site("a", known).is(&site("a", None)) && site("a", None).is(&site("a", known)));
            assert!(!site("a", known).is(&site("b", None)));
        }
    }

    #[test]
    fn names_are_quoted_and_keys_compared_as_a_whole() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let table = Table {
            name: "a\"b".to_owned(),
            columns: names(&["at", "select", "to"]),
            key: names(&["to", "at"]),
            ..Table::default()
        };
        assert_eq!(
            table.rows(true),
            "SELECT \"at\", \"select\", \"to\" FROM \"a\"\"b\" WHERE (\"to\", \"at\") > (?1, ?2) \
             ORDER BY \"to\", \"at\""
        );
        assert_eq!(
            table.last(),
            "SELECT \"to\", \"at\" FROM \"a\"\"b\" ORDER BY \"to\" DESC, \"at\" DESC LIMIT 1"
        );
        assert_eq!(table.insert(), "INSERT INTO \"a\"\"b\" (\"at\", \"select\", \"to\") VALUES (?1, ?2, ?3)");
    }
}

//! The store as a whole, beside its calls: copied to another one, and checked.
//!
//! - A [`Source`] is a store that is read from end to end, and changed by nothing here. A [`Target`] is
//!   one that is filled. Each engine opens both: `Sqlite::source`, `Postgres::target` and their like.
//! - [`copy`] carries all rows from one to the other, whatever the engines, and compares what arrived.
//! - [`check`] looks for damage.
//!
//! Both are told by [`Rooms`] what no catalog says: which tables are made from others, and which rows
//! belong together without a foreign key. All of it blocks, for minutes where much is stored: call it
//! from a thread where nothing else waits, and never from an async task.

mod check;
mod compare;
mod copy;
mod digest;
mod misfit;
mod order;
mod raw;
mod rooms;
mod shape;

pub use check::{Finding, Health, check};
pub use compare::{Compared, Content, Progress, Step};
pub use copy::{Outcome, Report, copy};
pub use rooms::{Derived, Question, Rooms, Weight};

pub(crate) use misfit::Misfit;
#[cfg(feature = "postgres")]
pub(crate) use raw::Site;
pub(crate) use raw::{Change, Each, Raw, Table};
pub(crate) use shape::Part;

use crate::store::{
    Dialect, StoreError,
    migrations::{self, Migration, Owners, tables_of},
};

/// The table that stands in a store while it is filled, and at no other time.
pub(crate) const MARKER: &str = "unfinished_move";
/// The table that counts the places in the order of commits, and the columns that keep them: a store's own,
/// which mean nothing in another.
const PLACES: &str = "changes";
pub(crate) const STAMP: &str = "changed";
/// PostgreSQL's, in which the server names its life, for the same.
pub(crate) const LIFE: &str = "server_life";

/// A store opened to be read as a whole.
pub struct Source(Whole);

/// A store opened to be filled.
pub struct Target(Whole);

/// A store by its connection, its migrations, and the tables that they make.
struct Whole {
    raw: Box<dyn Raw>,
    owners: Vec<(&'static str, &'static [Migration])>,
    made: Vec<String>,
}

impl Whole {
    /// Refuses a store whose tables are not those of this program.
    fn new(mut raw: Box<dyn Raw>, owners: &Owners) -> Result<Self, StoreError> {
        let sql = "SELECT owner, version, name, digest FROM migrations ORDER BY owner, version";
        let mut applied = Vec::new();
        for mut row in raw::select(&mut *raw, sql, &[])? {
            applied.push((row.take(0)?, row.take(1)?, row.take(2)?, row.take(3)?));
        }
        let there: Vec<_> = raw.tables()?.into_iter().map(|table| table.name).collect();
        migrations::agree(raw.name(), raw.dialect(), owners, &applied, &there)?;
        let made = tables_of(owners, raw.dialect());
        Ok(Self { raw, owners: owners.to_vec(), made })
    }

    /// The tables that are copied and compared, by name: those of the migrations that are made from no other,
    /// without the places in the order of commits.
    fn tables(&mut self, rooms: &Rooms) -> Result<Vec<Table>, StoreError> {
        if let Some(name) = self.gone()?.first() {
            return Err(StoreError::Unusable(format!("{} has no table {name} any more", self.raw.name())));
        }
        let tables = self.there(rooms)?;
        match tables.iter().find(|table| table.key.is_empty()) {
            Some(Table { name, .. }) => Err(StoreError::Unusable(format!(
                "the table {name} has no primary key, so that its rows have no order: add one"
            ))),
            None => Ok(tables),
        }
    }

    /// The tables of the migrations that are not there.
    fn gone(&mut self) -> Result<Vec<String>, StoreError> {
        let tables = self.raw.tables()?;
        let is_gone = |name: &&String| !tables.iter().any(|table| table.name == **name);
        Ok(self.made.iter().filter(is_gone).cloned().collect())
    }

    /// Whether a database lacks the table in which its server names its life, which no migration makes.
    fn lacks_life(&mut self) -> Result<bool, StoreError> {
        Ok(self.raw.dialect() == Dialect::Postgres
            && !self.raw.tables()?.iter().any(|table| table.name == LIFE))
    }

    /// Those of [`tables`](Self::tables) that are there.
    fn there(&mut self, rooms: &Rooms) -> Result<Vec<Table>, StoreError> {
        let mut tables = self.raw.tables()?;
        let is_own = |name: &str| name == PLACES || rooms.derived.iter().any(|derived| derived.table == name);
        tables.retain(|table| self.made.contains(&table.name) && !is_own(&table.name));
        for table in &mut tables {
            let columns = table.columns.len();
            table.columns.retain(|column| column != STAMP);
            table.stamped = table.columns.len() < columns;
        }
        tables.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(tables)
    }

    /// Refuses a store with a table that would be left behind.
    fn refuse_unknown(&mut self, rooms: &Rooms) -> Result<(), StoreError> {
        let is_known = |name: &String| {
            self.made.contains(name)
                || name == "migrations"
                || name == LIFE
                || rooms.derived.iter().any(|derived| derived.table == name)
        };
        match self.raw.tables()?.into_iter().find(|table| !is_known(&table.name)) {
            None => Ok(()),
            Some(Table { name, .. }) => Err(StoreError::Unusable(format!(
                "{} holds the table {name}, which this program does not know and would leave behind: use the \
                 program that made it, or take it out",
                self.raw.name()
            ))),
        }
    }

    /// Refuses a store that is half filled.
    fn refuse_unfinished(&mut self) -> Result<(), StoreError> {
        if self.marker()?.is_some() { Err(unfinished(&self.raw.name())) } else { Ok(()) }
    }

    /// Where the store says that it is being filled, from where and by which run.
    fn marker(&mut self) -> Result<Option<Marker>, StoreError> {
        if !self.raw.tables()?.iter().any(|table| table.name == MARKER) {
            return Ok(None);
        }
        let rows = raw::select(&mut *self.raw, &format!("SELECT source, spoiled FROM {MARKER}"), &[])?;
        let Some(mut row) = rows.into_iter().next() else { return Ok(None) };
        Ok(Some(Marker { source: row.take(0)?, spoiled: row.take(1)? }))
    }
}

/// What a store says of its filling.
struct Marker {
    source: String,
    /// What has been copied is of no use.
    spoiled: bool,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Source").field(&self.name()).finish()
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Target").field(&self.name()).finish()
    }
}

impl Source {
    pub(crate) fn new(raw: Box<dyn Raw>, owners: &Owners) -> Result<Self, StoreError> {
        Whole::new(raw, owners).map(Self)
    }

    /// What it is called in messages. No password is in it.
    pub fn name(&self) -> &str {
        self.0.raw.name()
    }

    /// Refuses a store that is half filled.
    #[cfg(feature = "sqlite")]
    pub(crate) fn refuse_unfinished(mut self) -> Result<(), StoreError> {
        self.0.refuse_unfinished()
    }

    /// What the engine itself finds wrong, in sentences.
    #[cfg(feature = "sqlite")]
    pub(crate) fn damage(mut self) -> Result<Vec<String>, StoreError> {
        self.0.raw.damage()
    }
}

impl Target {
    pub(crate) fn new(raw: Box<dyn Raw>, owners: &Owners) -> Result<Self, StoreError> {
        Whole::new(raw, owners).map(Self)
    }

    /// What it is called in messages. No password is in it.
    pub fn name(&self) -> &str {
        self.0.raw.name()
    }
}

/// The error of a store that is half filled, where somebody would work with it.
pub(crate) fn unfinished(store: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unusable(format!(
        "{store} is half filled: a move to it was not finished. Run the same move again, which goes on where \
         it stopped"
    ))
}

/// The name of an era, or of a run: none has it before.
pub(crate) fn fresh() -> Result<String, StoreError> {
    let number =
        getrandom::u64().map_err(|_| StoreError::Engine("the machine gives no random numbers".to_owned()))?;
    Ok(format!("{number:016x}"))
}

/// Begins the era ?1, in which no cursor that was handed out before is good.
pub(crate) fn era() -> String {
    format!("UPDATE {PLACES} SET era = ?1")
}

/// The sentence about rows whose foreign key points nowhere.
pub(crate) fn orphans(count: u64, table: &str, parent: &str) -> String {
    if count == 1 {
        return format!("1 row of {table} points to a row of {parent} that is not there");
    }
    format!("{count} rows of {table} point to rows of {parent} that are not there")
}

/// A name as SQL writes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Names as SQL lists them.
fn listed(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

//! From one store to another.
//!
//! Rows are read in one snapshot of the source, and put in the target page by page, a page a transaction,
//! in the order of the tables' keys. So the last row of a table that the target has is where a run that
//! was stopped goes on, and nothing else has to be remembered. The table [`MARKER`] says meanwhile whose
//! rows these are, and which run may add to them: one that another has taken over from adds no more. At
//! the end the source is read again, as it is then, and compared with what arrived; only where all is
//! equal does the marker go. A target that was filled wrongly is emptied by the next run.

use std::ops::ControlFlow;

use super::{
    Change, Derived, MARKER, Rooms, Source, Table, Target, Whole,
    compare::{Compared, Progress, Step, Tell, compare, rows},
    era, fresh,
    misfit::blame,
    order::ordered,
    quoted,
    raw::{number, select},
};
use crate::store::{StoreError, Value};

/// Rows of a page at most: some hundred share one sync to the disk, and a run that is stopped loses no more.
const PAGE_ROWS: usize = 500;
/// Bytes of a page, which its last row may exceed: what is kept in memory at a time.
const PAGE_BYTES: usize = 4 << 20;
/// Rows that an index of text is made from at a time: each may bear some thousand terms.
const INDEX_ROWS: usize = 100;

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// All is there and equal.
    Copied,
    /// All was there before and is equal: nothing was done.
    AlreadyThere,
    /// It was stopped as it was told; run again, it goes on.
    Stopped,
    /// The stores differ: the source has changed meanwhile, or something went wrong on the way. The next
    /// run begins anew.
    Differs,
}

/// How it ended, and each table on both sides, as far as they were compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// Each table, by name.
    pub tables: Vec<Compared>,
}

/// Copies all rows of a store to one that is empty, makes its indexes of text, and compares the two.
/// Where it was stopped it goes on; `progress` may stop it.
///
/// The source must rest meanwhile: what changes in it is found at the end, and nothing is done about it
/// but to say so.
pub fn copy(
    from: &mut Source,
    to: &mut Target,
    rooms: &Rooms,
    progress: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
) -> Result<Report, StoreError> {
    let (from, to) = (&mut from.0, &mut to.0);
    if from.raw.site().is(&to.raw.site()) {
        return Err(StoreError::Unusable(format!("{} is both: name two stores", from.raw.name())));
    }
    from.refuse_unfinished()?;
    from.refuse_unknown(rooms)?;
    let tables = ordered(alike(from, to, rooms)?)?;
    let Some(run) = Run::begin(from, to, rooms, &tables)? else {
        return settled(from, to, &tables, progress);
    };
    match run.fill(from, to, rooms, &tables, progress) {
        Ok(ControlFlow::Continue(())) => {}
        Ok(ControlFlow::Break(())) => return Ok(Report { outcome: Outcome::Stopped, tables: Vec::new() }),
        Err(error) => return Err(run.failed(from, to, &tables, error)),
    }
    let (stopped, compared) = compare(from, to, &tables, progress)?;
    let outcome = if stopped {
        Outcome::Stopped
    } else if compared.iter().all(Compared::is_equal) {
        run.end(to)?;
        Outcome::Copied
    } else {
        run.spoil(to)?;
        Outcome::Differs
    };
    Ok(Report { outcome, tables: compared })
}

/// The tables, which must be the same on both sides.
fn alike(from: &mut Whole, to: &mut Whole, rooms: &Rooms) -> Result<Vec<Table>, StoreError> {
    let (ours, theirs) = (from.tables(rooms)?, to.tables(rooms)?);
    let shape = |table: &Table| (table.name.clone(), table.columns.clone(), table.key.clone());
    if ours.iter().map(shape).eq(theirs.iter().map(shape)) {
        return Ok(ours);
    }
    Err(StoreError::Unusable(format!(
        "the tables of {} and of {} have not the same columns and keys, though the same migrations made \
         them: one was changed by hand",
        from.raw.name(),
        to.raw.name()
    )))
}

/// Compares a target that is not being filled and holds rows. It is refused unless all is equal.
fn settled(
    from: &mut Whole,
    to: &mut Whole,
    tables: &[Table],
    progress: &mut Tell<'_>,
) -> Result<Report, StoreError> {
    let other = StoreError::Unusable(format!(
        "{} holds rows of its own, and what is copied goes to an empty store: name another one, or empty it",
        to.raw.name()
    ));
    for table in tables {
        if rows(from, &table.name)? != rows(to, &table.name)? {
            return Err(other);
        }
    }
    let (stopped, compared) = compare(from, to, tables, progress)?;
    if stopped {
        return Ok(Report { outcome: Outcome::Stopped, tables: compared });
    }
    if !compared.iter().all(Compared::is_equal) {
        return Err(other);
    }
    Ok(Report { outcome: Outcome::AlreadyThere, tables: compared })
}

/// One run.
struct Run {
    /// The name under which it may add to the target.
    name: Value,
    /// Nothing in the target is of another run: all that it copies was in the source at one moment.
    anew: bool,
}

impl Run {
    /// Marks the target as its own: an empty one, or one that a run from the same source has left. `None`
    /// where it is neither.
    fn begin(
        from: &Whole,
        to: &mut Whole,
        rooms: &Rooms,
        tables: &[Table],
    ) -> Result<Option<Self>, StoreError> {
        let mut run = Self { name: fresh()?.into(), anew: true };
        let source = from.raw.name();
        let Some(marker) = to.marker()? else {
            for table in tables {
                if rows(to, &table.name)? > 0 {
                    return Ok(None);
                }
            }
            let begun = match to.raw.change(&[
                Change::plain(format!(
                    "CREATE TABLE {MARKER} (source TEXT NOT NULL PRIMARY KEY, run TEXT NOT NULL, \
                     spoiled BIGINT NOT NULL)"
                )),
                Change {
                    sql: format!("INSERT INTO {MARKER} (source, run, spoiled) VALUES (?1, ?2, 0)"),
                    rows: vec![vec![source.into(), run.name.clone()]],
                    exactly: Some(1),
                },
            ]) {
                // One that began at the same moment was first.
                Err(_) if to.marker()?.is_some() => false,
                begun => begun?,
            };
            return if begun { Ok(Some(run)) } else { Err(filling(to.raw.name())) };
        };
        if marker.source != source {
            return Err(StoreError::Unusable(format!(
                "{} is half filled from {}: run that move to its end, or empty the target",
                to.raw.name(),
                marker.source
            )));
        }
        let mut changes =
            vec![Change::one(format!("UPDATE {MARKER} SET run = ?1, spoiled = 0"), run.name.clone())];
        run.anew = marker.spoiled;
        if run.anew {
            changes.extend(emptying(to, rooms));
            let tables = tables.iter().rev();
            changes.extend(tables.map(|table| Change::plain(format!("DELETE FROM {}", quoted(&table.name)))));
        }
        if to.raw.change(&changes)? { Ok(Some(run)) } else { Err(overtaken()) }
    }

    /// Copies what is not there yet, and makes the indexes.
    fn fill(
        &self,
        from: &mut Whole,
        to: &mut Whole,
        rooms: &Rooms,
        tables: &[Table],
        progress: &mut Tell<'_>,
    ) -> Result<ControlFlow<()>, StoreError> {
        from.raw.snapshot()?;
        let mut added = false;
        for table in tables {
            if self.table(from, to, table, &mut added, progress)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        from.raw.release()?;
        if added {
            // An index that a run before has begun may be past the numbers of these rows.
            self.change(to, emptying(to, rooms))?;
        }
        for index in &rooms.derived {
            if self.index(to, index, progress)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Copies the rows of a table behind the last that is there.
    fn table(
        &self,
        from: &mut Whole,
        to: &mut Whole,
        table: &Table,
        added: &mut bool,
        progress: &mut Tell<'_>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let of = rows(from, &table.name)?;
        let mut done = rows(to, &table.name)?;
        let last = select(&mut *to.raw, &table.last(), &[])?;
        let after = last.first().map(|row| row.columns().to_vec());
        let insert = table.insert();
        let mut page: Vec<Vec<Value>> = Vec::new();
        let mut bytes = 0;
        let mut flow = progress(&Progress { step: Step::Copy, table: &table.name, done, of });
        if flow.is_break() {
            return Ok(flow);
        }
        let mut put = |page: Vec<Vec<Value>>| -> Result<ControlFlow<()>, StoreError> {
            done += page.len() as u64;
            *added = true;
            self.put(to, &insert, page).map_err(|error| in_table(&table.name, error))?;
            Ok(progress(&Progress { step: Step::Copy, table: &table.name, done, of }))
        };
        let sql = table.rows(after.is_some());
        from.raw.scan(&sql, after.as_deref().unwrap_or_default(), &mut |row| {
            bytes += row.columns().iter().map(size).sum::<usize>();
            page.push(row.columns().to_vec());
            if page.len() < PAGE_ROWS && bytes < PAGE_BYTES {
                return Ok(ControlFlow::Continue(()));
            }
            bytes = 0;
            flow = put(std::mem::take(&mut page))?;
            Ok(flow)
        })?;
        if flow.is_continue() && !page.is_empty() {
            flow = put(page)?;
        }
        Ok(flow)
    }

    /// Makes an index of text behind the last entry that is there, of the rows that have arrived.
    fn index(
        &self,
        to: &mut Whole,
        index: &Derived,
        progress: &mut Tell<'_>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let dialect = to.raw.dialect();
        let of = rows(to, index.of)?;
        let mut after = number(&mut *to.raw, index.last.text(dialect), &[])?;
        let mut done = match after {
            Some(_) => rows(to, index.table)?,
            None => 0,
        };
        loop {
            let flow = progress(&Progress { step: Step::Index, table: index.table, done, of });
            if flow.is_break() {
                return Ok(flow);
            }
            let made = made(to, index, after.unwrap_or(i64::MIN))?;
            let Some((last, _)) = made.last() else { return Ok(ControlFlow::Continue(())) };
            after = Some(*last);
            done += made.len() as u64;
            let page: Vec<_> =
                made.into_iter().map(|(number, terms)| vec![number.into(), terms.into()]).collect();
            self.put(to, index.insert.text(dialect), page)?;
        }
    }

    /// Adds a page, unless another run has taken over.
    fn put(&self, to: &mut Whole, insert: &str, page: Vec<Vec<Value>>) -> Result<(), StoreError> {
        let expected = Some(page.len() as u64);
        self.change(to, vec![Change { sql: insert.to_owned(), rows: page, exactly: expected }])
    }

    /// Does all of this, unless another run has taken over.
    fn change(&self, to: &mut Whole, mut changes: Vec<Change>) -> Result<(), StoreError> {
        let mine = format!("UPDATE {MARKER} SET spoiled = 0 WHERE run = ?1");
        changes.insert(0, Change::one(mine, self.name.clone()));
        if to.raw.change(&changes)? { Ok(()) } else { Err(overtaken()) }
    }

    /// What is said where copying failed. Where the source's rows are why, the next run begins anew.
    fn failed(&self, from: &mut Whole, to: &mut Whole, tables: &[Table], error: StoreError) -> StoreError {
        let blamed = blame(from, tables, &error, self.anew);
        match blamed.and_then(|why| why.map_or(Ok(None), |why| self.spoil(to).map(|()| Some(why)))) {
            Ok(Some(why)) => StoreError::Unusable(why),
            Ok(None) => error,
            Err(other) => other,
        }
    }

    /// Leaves the target to the next run, which is to begin anew.
    fn spoil(&self, to: &mut Whole) -> Result<(), StoreError> {
        to.raw.release()?;
        self.change(to, vec![Change::plain(format!("UPDATE {MARKER} SET spoiled = 1"))])
    }

    /// Begins an era, and takes the marker away: the target is a store like any other.
    fn end(&self, to: &mut Whole) -> Result<(), StoreError> {
        to.raw.release()?;
        let era = Change::one(era(), fresh()?.into());
        self.change(to, vec![era, Change::plain(format!("DROP TABLE {MARKER}"))])
    }
}

/// The next entries of an index, made of the rows they are made from.
pub(super) fn made(whole: &mut Whole, index: &Derived, after: i64) -> Result<Vec<(i64, String)>, StoreError> {
    let limit = i64::try_from(INDEX_ROWS).unwrap_or(i64::MAX);
    let sql = index.rows.text(whole.raw.dialect());
    let rows = select(&mut *whole.raw, sql, &[after.into(), limit.into()])?;
    rows.into_iter().map(index.make).collect()
}

/// Takes all from the indexes.
fn emptying(to: &Whole, rooms: &Rooms) -> Vec<Change> {
    rooms.derived.iter().map(|index| Change::plain(to.raw.emptying(index.table))).collect()
}

fn filling(name: &str) -> StoreError {
    StoreError::Unusable(format!("another move is filling {name}; this one has stopped"))
}

fn overtaken() -> StoreError {
    StoreError::Unusable("another move to the same store has taken over; this one has stopped".to_owned())
}

fn in_table(table: &str, error: StoreError) -> StoreError {
    match error {
        StoreError::Engine(why) => StoreError::Engine(format!("{why} (in the table {table})")),
        StoreError::Shape(why) => StoreError::Shape(format!("{why} (in the table {table})")),
        error => error,
    }
}

/// What a value takes in memory, about.
fn size(value: &Value) -> usize {
    let own = match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    own + size_of::<Value>()
}

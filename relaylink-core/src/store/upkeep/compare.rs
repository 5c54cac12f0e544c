//! Two stores side by side.

use std::ops::ControlFlow;

use super::{
    Table, Whole,
    digest::Digest,
    raw::{count, number},
};
use crate::store::{Row, StoreError};

/// Rows after which progress is told while stores are compared.
const TOLD_EVERY: u64 = 2_000;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Rows are copied.
    Copy,
    /// An index of text is made.
    Index,
    /// Both stores are read and compared.
    Compare,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'p> {
    /// What is being done.
    pub step: Step,
    /// To which table.
    pub table: &'p str,
    /// Rows that are done.
    pub done: u64,
    /// Rows in all, as far as is known.
    pub of: u64,
}

/// What is in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Content {
    /// Its rows.
    pub rows: u64,
    /// SHA-256 over them, in hex; the same on every engine.
    pub digest: String,
}

/// A table on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compared {
    /// Its name.
    pub table: String,
    /// What the source has.
    pub from: Content,
    /// What the target has.
    pub to: Content,
}

impl Compared {
    /// Whether both sides have the same.
    pub fn is_equal(&self) -> bool {
        self.from == self.to
    }
}

pub(super) type Tell<'t> = dyn FnMut(&Progress<'_>) -> ControlFlow<()> + 't;

/// How many rows a table has.
pub(super) fn rows(whole: &mut Whole, table: &str) -> Result<u64, StoreError> {
    let rows = number(&mut *whole.raw, &count(table), &[])?.unwrap_or_default();
    Ok(u64::try_from(rows).unwrap_or_default())
}

/// Reads each table on both sides as it is now. Whether it was stopped, and what was compared.
pub(super) fn compare(
    from: &mut Whole,
    to: &mut Whole,
    tables: &[Table],
    progress: &mut Tell<'_>,
) -> Result<(bool, Vec<Compared>), StoreError> {
    let mut compared = Vec::with_capacity(tables.len());
    from.raw.snapshot()?;
    to.raw.snapshot()?;
    for table in tables {
        let of = rows(from, &table.name)? + rows(to, &table.name)?;
        let mut tell = |done| progress(&Progress { step: Step::Compare, table: &table.name, done, of });
        let Some(ours) = content(from, table, 0, &mut tell)? else { return Ok((true, compared)) };
        let Some(theirs) = content(to, table, ours.rows, &mut tell)? else { return Ok((true, compared)) };
        compared.push(Compared { table: table.name.clone(), from: ours, to: theirs });
    }
    from.raw.release()?;
    to.raw.release()?;
    compared.sort_by(|one, other| one.table.cmp(&other.table));
    Ok((false, compared))
}

/// What is in a table; `None` where it was stopped.
fn content(
    whole: &mut Whole,
    table: &Table,
    before: u64,
    tell: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Content>, StoreError> {
    let mut digest = Digest::of(table);
    let mut flow = tell(before);
    if flow.is_break() {
        return Ok(None);
    }
    whole.raw.scan(&table.rows(false), &[], &mut |row: Row| {
        digest.add(&row);
        if digest.rows().is_multiple_of(TOLD_EVERY) {
            flow = tell(before + digest.rows());
        }
        Ok(flow)
    })?;
    Ok(flow.is_continue().then(|| digest.end()))
}

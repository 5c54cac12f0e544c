//! How the tables of a store are made, part by part: as its catalog has them, beside what its migrations
//! make.

use std::collections::BTreeSet;

use super::{Health, Whole, check::MAKE_ANEW, rooms::DAMAGED};
use crate::store::StoreError;

/// What to do where a table is not made as it should be, and its values are there.
const AS_IT_WAS: &str =
    "Make it so again, where the database has an ALTER for it and every row fits, or restore a backup.";

pub(super) const GONE: &str = "the table is not there any more";

/// A column, a constraint or an index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Part {
    pub(crate) table: String,
    /// What it is, with its name: `column subject`.
    pub(crate) what: String,
    /// How it is made: `TEXT NOT NULL`.
    pub(crate) how: String,
}

/// Looks for tables of which something is not as the migrations make it. What somebody added is let be.
pub(super) fn shape(whole: &mut Whole, health: &mut Health) -> Result<(), StoreError> {
    let due = match whole.raw.parts_due(&whole.owners) {
        // What is in the way of making them is no damage of theirs.
        Err(error @ (StoreError::Denied(_) | StoreError::Engine(_))) => {
            for table in whole.gone()? {
                health.fault(&table, GONE.to_owned(), DAMAGED);
            }
            health.note(
                "store",
                format!("it is not known whether its tables are made as the migrations make them: {error}"),
                "To compare them takes a database that may be written and a user who may make temporary tables in \
                 it: GRANT TEMPORARY ON DATABASE … TO …",
            );
            return Ok(());
        }
        due => due?,
    };
    let there: BTreeSet<_> = whole.raw.parts()?.into_iter().collect();
    let mut gone = BTreeSet::new();
    for part in &due {
        let Part { table, what, how } = part;
        if there.contains(part) {
            continue;
        }
        if !there.iter().any(|other| other.table == *table) {
            if gone.insert(table) {
                health.fault(table, GONE.to_owned(), DAMAGED);
            }
            continue;
        }
        let is_there = there.iter().any(|other| other.table == *table && other.what == *what);
        let says = if is_there {
            format!("the {what} is not made as it should be, which is: {how}")
        } else {
            format!("the {what} is not there any more")
        };
        let advice = match what.split_once(' ') {
            Some(("index", _)) => MAKE_ANEW,
            Some(("column", _)) if !is_there => DAMAGED,
            _ => AS_IT_WAS,
        };
        health.fault(table, says, advice);
    }
    Ok(())
}

//! Values that are not of their column's kind, which an engine without strict types takes in, and what
//! they do to a copy.

use super::{Table, Whole};
use crate::store::StoreError;

/// A value that no other engine would hold.
pub(crate) struct Misfit<'m> {
    pub(crate) column: &'m str,
    /// What is wrong with such values, as `are no text`.
    pub(crate) says: &'static str,
    /// Its row's key, without what a person may have written.
    pub(crate) key: String,
}

/// Why rows of the source cannot be copied, where the error is about them. `anew`: all that was copied was
/// in the source at one moment.
pub(super) fn blame(
    from: &mut Whole,
    tables: &[Table],
    error: &StoreError,
    anew: bool,
) -> Result<Option<String>, StoreError> {
    if !matches!(error, StoreError::Constraint(_) | StoreError::Engine(_) | StoreError::Shape(_)) {
        return Ok(None);
    }
    let first = first(from, tables)?;
    let name = from.raw.name();
    Ok(match (first, error) {
        (Some(misfit), _) => {
            Some(format!("{name} is damaged: {misfit}. Run `relaylink check FROM`, which finds all of them"))
        }
        (None, StoreError::Constraint(why)) if anew => Some(format!(
            "{name} is damaged: what is copied of it does not fit together ({why}), as where rows point to rows \
             that are not there. Run `relaylink check FROM`, which says where"
        )),
        (None, StoreError::Constraint(why)) => Some(format!(
            "what is copied no longer fits together ({why}): the source has changed since a part of it was \
             copied. Stop its servers, and run the same move again, which begins anew"
        )),
        _ => None,
    })
}

/// The first of these values, in words.
fn first(whole: &mut Whole, tables: &[Table]) -> Result<Option<String>, StoreError> {
    let mut first = None;
    for table in tables {
        whole.raw.misfits(table, &mut |Misfit { column, says, key }| {
            first.get_or_insert_with(|| {
                format!("values of {column} in {} {says}, as in the row {key}", table.name)
            });
        })?;
        if first.is_some() {
            break;
        }
    }
    Ok(first)
}

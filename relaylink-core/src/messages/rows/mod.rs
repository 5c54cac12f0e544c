//! All SQL of the room.

mod drafts;
mod inbox;
mod packages;
mod threads;

pub(super) use drafts::*;
pub(super) use inbox::*;
pub(super) use packages::*;
pub(super) use threads::*;

use crate::store::Value;

/// The bound of a first page: behind no id that a clock can give.
fn behind(id: Option<&str>, prefix: &str) -> Value {
    Value::Text(id.map_or_else(|| format!("{prefix}_{}", "z".repeat(26)), str::to_owned))
}

//! All SQL of the room.

mod drafts;
mod inbox;
mod packages;
mod threads;

pub(super) use drafts::*;
pub(super) use inbox::*;
pub(super) use packages::*;
pub(super) use threads::*;

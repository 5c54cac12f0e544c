//! What an account's assistants are to remember: short texts, each perhaps about somebody or
//! something. They are the account's own and nobody else ever sees them.
//!
//! A memory that goes leaves its id in `memories_gone`, so that forgetting it again is answered as
//! the first time; its text and its search terms are deleted.

mod memory_add;
mod memory_forget;
mod memory_search;
mod rows;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod upkeep;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    relay::{Name, Table, Timestamp, ids},
    tool::{Code, Refusal},
};

pub use memory_add::MemoryAdd;
pub use memory_forget::{Forgotten, MemoryForget};
pub use memory_search::{FoundMemories, MemorySearch};

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use upkeep::upkeep;

ids! {
    /// A memory.
    MemoryId: "mem";
}

/// The room's tools.
pub(crate) fn tools(table: Table) -> Table {
    table.room("memory").tool::<MemorySearch>().tool::<MemoryAdd>().tool::<MemoryForget>()
}

/// Something remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// The memory.
    pub memory: MemoryId,
    /// What is remembered.
    pub text: String,
    /// Whom or what it is about, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<Name>,
    /// When it was added.
    pub created: Timestamp,
}

/// The same answer for a memory that never was and for another account's.
fn no_memory(field: &'static str) -> Refusal {
    Refusal::new(Code::NotFound, "The account has no such memory.")
        .field(field)
        .hint("memory_search finds the account's memories.")
}

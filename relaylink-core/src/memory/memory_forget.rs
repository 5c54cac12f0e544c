use super::{MemoryId, no_memory, rows};
use crate::prelude::*;

/// Deletes a memory for good, text and all. Forgotten already: nothing changes. `memory_add` with
/// `replaces` deletes one and puts another in its place.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes, Removes), hints(idempotent, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct MemoryForget {
    /// The memory to delete.
    pub memory: MemoryId,
}

/// A memory that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Forgotten {
    /// The memory that was.
    pub memory: MemoryId,
}

impl Run for MemoryForget {
    type Reply = Forgotten;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Forgotten, Stop> {
        if rows::remove(tx, &self.memory)? || rows::is_gone(tx, &self.memory)? {
            Ok(Forgotten { memory: self.memory.clone() })
        } else {
            Err(no_memory("memory").into())
        }
    }
}

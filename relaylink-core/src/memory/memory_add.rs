use super::{Memory, MemoryId, no_memory, rows};
use crate::{
    prelude::*,
    relay::{Name, limits::MEMORY_MAX, text},
};

/// Remembers a statement for the account's assistants. With `replaces`, a wrong or outdated memory
/// is deleted in the same step, for good. Called twice it is remembered twice. `memory_search` finds
/// it, `memory_forget` deletes it.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes, Removes), hints(closed_world))]
#[serde(rename_all = "camelCase")]
pub struct MemoryAdd {
    /// What to remember, at most 4,000 characters.
    pub text: String,
    /// Whom or what it is about, if it is to be found by that name.
    pub about: Option<Name>,
    /// The memory that this one takes the place of.
    pub replaces: Option<MemoryId>,
}

impl Run for MemoryAdd {
    type Reply = Memory;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Memory, Stop> {
        let text = text::lines("text", &self.text, MEMORY_MAX)?.text().to_owned();
        if let Some(replaced) = &self.replaces
            && !rows::remove(tx, replaced)?
        {
            return Err(no_memory("replaces").into());
        }
        let memory = Memory { memory: tx.new_id(), text, about: self.about.clone(), created: tx.now() };
        rows::insert(tx, &memory)?;
        Ok(memory)
    }
}

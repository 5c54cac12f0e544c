//! A crate whose manifest names relaylink-core, schemars and serde, and that imports the prelude.
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications, single_use_lifetimes)]
#![forbid(unsafe_code)]

mod hints;
mod items;
pub mod own_state;

use relaylink_core::prelude::*;

/// What was forgotten.
#[derive(Serialize, JsonSchema)]
pub struct Forgotten {
    /// Whether there was anything.
    pub was_there: bool,
}

/// Take a fact about somebody out of memory.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes, Removes), hints(idempotent, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct MemoryForget {
    /// The fact to take out.
    memory_id: String,
    /// Why.
    r#type: Option<String>,
}

const DELETE: Remove = Remove::new("DELETE FROM facts WHERE id = ?1");
const NOTE: Write = Write::new("UPDATE people SET facts = facts - 1");
const COUNT: Select = Select::new("SELECT count(*) FROM facts");

fn delete(tx: &mut Tx<'_, impl May<Removes>>, id: &str) -> Result<bool, Stop> {
    Ok(tx.remove(&DELETE, &[id.into()])? == 1)
}

impl Run for MemoryForget {
    type Reply = Forgotten;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Forgotten, Stop> {
        if self.memory_id.is_empty() || self.r#type.is_some() {
            return Err(Stop::refuse(Code::InvalidArgument, "Name the fact to forget."));
        }
        tx.select(&COUNT, &[])?;
        tx.write(&NOTE, &[])?;
        Ok(Forgotten { was_there: delete(tx, &self.memory_id)? })
    }
}

/// Take out everything about somebody.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(
    effects(Writes, Removes, ExternalMail),
    title = "Forget all of it",
    declines(idempotent = "Each call is put on record."),
    always_ask,
    name = "memory_clear",
    crate = relaylink_core
)]
pub struct ForgetEverything {}

impl Run for ForgetEverything {
    type Reply = Forgotten;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Forgotten, Stop> {
        tx.perform(&MemoryForget { memory_id: "1".into(), r#type: None })
    }
}

const _: () = {
    assert!(same(MemoryForget::NAME, "memory_forget"));
    assert!(MemoryForget::TITLE.is_none());
    assert!(same(MemoryForget::DESCRIPTION, "Take a fact about somebody out of memory."));
    assert!(MemoryForget::HINTS.idempotent && MemoryForget::HINTS.closed_world);
    assert!(!MemoryForget::HINTS.additive && !MemoryForget::HINTS.read_only);
    assert!(MemoryForget::EFFECTS.len() == 2);
    assert!(same(MemoryForget::EFFECTS[0].name, "Writes") && same(MemoryForget::EFFECTS[1].name, "Removes"));
    assert!(MemoryForget::DECLINES.is_empty() && !MemoryForget::ALWAYS_ASK);

    assert!(same(ForgetEverything::NAME, "memory_clear"));
    assert!(same(ForgetEverything::TITLE.unwrap(), "Forget all of it"));
    assert!(same(ForgetEverything::DECLINES[0].hint, "idempotent"));
    assert!(same(ForgetEverything::DECLINES[0].reason, "Each call is put on record."));
    assert!(ForgetEverything::ALWAYS_ASK);
};

/// Whether two texts are one, when it is compiled.
pub(crate) const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    one.len() == other.len()
}

//! Words that are unknown, misspelt, repeated, in the wrong place or contradictory.
use relaylink_core::prelude::*;

/// Unknown and misspelt keys.
#[derive(Tool)]
#[tool(effect(Writes), banana, tittle = "Two", description = "Three", always_aks)]
pub struct Keys {}

/// Keys given twice.
#[derive(Tool)]
#[tool(title = "One", effects(Writes), title = "Two")]
#[tool(effects(Removes), always_ask, always_ask)]
pub struct Twice {}

/// Hints and effects outside of their lists.
#[derive(Tool)]
#[tool(read_only, Writes)]
pub struct Outside {}

/// Hints outside of their list, and not as they are called.
#[derive(Tool)]
#[tool(readonly, idempotentHint = true, destructive = false, openWorld)]
pub struct NearlyOutside {}

/// Hints that are none.
#[derive(Tool)]
#[tool(hints(readonly, aditive, openWorldHint, destructive, cheap, open_world = false))]
pub struct Hints {}

/// The same hint twice.
#[derive(Tool)]
#[tool(hints(additive, closed_world, additive))]
pub struct TwiceTheHint {}

/// A hint only narrows.
#[derive(Tool)]
#[tool(hints(read_only = false, additive = true, idempotent("yes")))]
pub struct Values {}

/// It cannot read only and destroy.
#[derive(Tool)]
#[tool(hints(read_only, destructive))]
pub struct Contradictory {}

/// The attribute belongs on the type.
#[derive(Tool)]
pub struct OnAField {
    #[tool(title = "One")]
    one: String,
}

/// Not a list.
#[derive(Tool)]
#[tool = "effects(Writes)"]
pub struct NotAList {}

fn main() {}

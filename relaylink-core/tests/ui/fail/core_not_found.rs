//! The core under another name wants `crate = …`, and the path has to lead there. Where it does not, the
//! mistakes of the other tools and statements are told all the same.
extern crate relaylink_core as link;

use link::prelude::*;

/// Leads nowhere.
#[derive(Tool)]
#[tool(crate = nowhere, effects(Writes), hints(read_only))]
pub struct Nowhere {}

/// Leads nowhere within the core, and has another mistake.
#[derive(Tool)]
#[tool(crate = link::nowhere, effects(Writes), effects(Removes))]
pub struct NowhereWithin {}

/// Leads to what is not the core.
#[derive(Tool)]
#[tool(crate = std, effects(Writes))]
pub struct Elsewhere {}

/// A false hint of another tool.
#[derive(Tool)]
#[tool(crate = link, effects(Removes), hints(additive))]
pub struct Another {}

const WRONG: Write = Write::new("DELETE FROM t");

fn main() {}

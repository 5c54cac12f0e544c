//! Effects that are none, are misspelt, repeated or not written as paths.
use relaylink_core::prelude::*;

/// A statement type is no effect.
#[derive(Tool)]
#[tool(effects(Write), hints(additive))]
pub struct NoEffect {}

/// Misspelt.
#[derive(Tool)]
#[tool(effects(Wirtes, my::Own), hints(additive))]
pub struct Misspelt {}

/// Repeated.
#[derive(Tool)]
#[tool(effects(Writes, Removes, Writes))]
pub struct Repeated {}

/// Repeated by another path.
#[derive(Tool)]
#[tool(effects(Writes, relaylink_core::tool::Writes))]
pub struct RepeatedByPath {}

/// Not a path.
#[derive(Tool)]
#[tool(effects("Writes", Removes = true, 3))]
pub struct NotAPath {}

/// Without commas, and with too many.
#[derive(Tool)]
#[tool(effects(Writes Removes,, ExternalMail))]
pub struct Commas {}

fn main() {}

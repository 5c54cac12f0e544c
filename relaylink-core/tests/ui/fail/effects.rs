//! Effects that are none, are misspelt, repeated or not written as paths.
use relaylink_core::prelude::*;

/// A statement type is no effect.
#[derive(Tool)]
#[tool(effects(Select), hints(additive))]
pub struct NoEffect {}

/// Misspelt. A statement type is near, and an effect is meant.
#[derive(Tool)]
#[tool(effects(Wirtes, Removs, my::Own), hints(additive))]
pub struct Misspelt {}

/// Repeated.
#[derive(Tool)]
#[tool(effects(Writes, Removes, Writes))]
pub struct Repeated {}

/// Repeated by another path.
#[derive(Tool)]
#[tool(effects(Writes, relaylink_core::tool::Writes))]
pub struct RepeatedByPath {}

/// Own effects by names that are nearly those of others, by their paths.
#[derive(Tool)]
#[tool(effects(self::Removed, own::Write), hints(additive))]
pub struct NearlyAnother {}

pub enum Removed {}
pub mod own {
    pub enum Write {}
}

/// Not a path.
#[derive(Tool)]
#[tool(effects("Writes", Removes = true, 3))]
pub struct NotAPath {}

/// Without commas, and with too many.
#[derive(Tool)]
#[tool(effects(Writes Removes,, ExternalMail))]
pub struct Commas {}

fn main() {}

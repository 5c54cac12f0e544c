//! Attributes as they are while they are being typed.
use relaylink_core::prelude::*;

/// Lists without their parentheses.
#[derive(Tool)]
#[tool(effects, hints, declines)]
pub struct One {}

/// Values without their equals sign, or nothing behind it.
#[derive(Tool)]
#[tool(title, name =, crate)]
pub struct Two {}

/// A path that ends too early.
#[derive(Tool)]
#[tool(effects(Writes, relaylink_core::tool::))]
pub struct Three {}

/// A word that ends too early, and a comma too many.
#[derive(Tool)]
#[tool(effects(Writes), hints(add, ), , hin)]
pub struct Four {}

/// Without commas.
#[derive(Tool)]
#[tool(effects(Writes) hints(additive idempotent) title = "Five" always_ask)]
pub struct Five {}

/// Odd tokens.
#[derive(Tool)]
#[tool(=> effects(Writes), "title", hints(!additive, (idempotent)), 'a, always_ask = true)]
pub struct Six {}

/// Lists with equals signs.
#[derive(Tool)]
#[tool(effects = Writes, hints = (additive), crate = "relaylink_core")]
pub struct Seven {}

/// Lists in other brackets.
#[derive(Tool)]
#[tool(effects[Writes], hints{additive}, declines["why"])]
pub struct InOtherBrackets {}

/// Empty lists are fine.
#[derive(Tool)]
#[tool(effects(), hints(), declines())]
pub struct Eight {}

fn main() {}

//! What could not have been hinted cannot be declined.
use relaylink_core::prelude::*;

/// Its effects leave nothing to decline but `idempotent`, which can always be.
#[derive(Tool)]
#[tool(
    effects(Removes, ExternalMail),
    declines(read_only = "it", additive = "cannot", closed_world = "be", idempotent = "anyway")
)]
pub struct Impossible {}

/// Declined and hinted, directly or because `read_only` implies it.
#[derive(Tool)]
#[tool(
    hints(read_only, closed_world),
    declines(closed_world = "no", additive = "no", idempotent = "no")
)]
pub struct Both {}

/// Without a reason.
#[derive(Tool)]
#[tool(declines(additive, read_only = " ", closed_world = 3, idempotent("why")))]
pub struct Unreasoned {}

/// Unknown, misspelt and repeated.
#[derive(Tool)]
#[tool(declines(destructive = "no", idempotnet = "no", additive = "no", additive = "still no"))]
pub struct Words {}

fn main() {}

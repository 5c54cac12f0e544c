//! Every hint beside every effect. `idempotent` is never refused here: the replay audit tests it.
use relaylink_core::prelude::*;

/// Inserts and updates.
#[derive(Tool)]
#[tool(effects(Writes), hints(read_only, additive, idempotent, closed_world))]
pub struct WithWrites {}

/// Deletes.
#[derive(Tool)]
#[tool(effects(Removes), hints(read_only, additive, idempotent, closed_world))]
pub struct WithRemoves {}

/// Mails.
#[derive(Tool)]
#[tool(effects(ExternalMail), hints(read_only, additive, idempotent, closed_world))]
pub struct WithExternalMail {}

/// Changes what others see.
#[derive(Tool)]
#[tool(effects(SharedWork), hints(read_only, additive, idempotent, closed_world))]
pub struct WithSharedWork {}

/// All at once: each hint names each effect that contradicts it.
#[derive(Tool)]
#[tool(effects(Writes, Removes, ExternalMail, SharedWork), hints(closed_world, additive, read_only))]
pub struct WithAll {}

fn main() {}

//! Every hint and decline that its effects allow.
use relaylink_core::prelude::*;

/// No effect.
#[derive(Tool)]
#[tool(hints(read_only, closed_world))]
pub(crate) struct Reads {}

/// No effect, and every word, also those that the first implies.
#[derive(Tool)]
#[tool(hints(read_only, additive, idempotent, closed_world))]
pub(crate) struct ReadsInFull {}

/// Nothing claimed is the worst case, and always compiles.
#[derive(Tool)]
pub(crate) struct ClaimsNothing {}

/// Everything declined that could be claimed.
#[derive(Tool)]
#[tool(declines(read_only = "a", additive = "b", idempotent = "c", closed_world = "d"))]
pub(crate) struct DeclinesAll {}

/// Writes.
#[derive(Tool)]
#[tool(effects(Writes), hints(additive, idempotent, closed_world))]
pub(crate) struct Inserts {}

/// Writes.
#[derive(Tool)]
#[tool(effects(Writes), declines(additive = "It overwrites.", closed_world = "Later.", idempotent = "No."))]
pub(crate) struct Overwrites {}

/// Removes.
#[derive(Tool)]
#[tool(effects(Removes), hints(idempotent, closed_world))]
pub(crate) struct Deletes {}

/// Mails.
#[derive(Tool)]
#[tool(effects(ExternalMail), hints(additive, idempotent))]
pub(crate) struct Mails {}

/// Changes what others see.
#[derive(Tool)]
#[tool(effects(SharedWork), hints(additive, idempotent))]
pub(crate) struct Shares {}

/// Everything.
#[derive(Tool)]
#[tool(effects(Writes, Removes, ExternalMail, SharedWork), hints(idempotent))]
pub(crate) struct DoesAll {}

const _: () = {
    assert!(Reads::HINTS.read_only && Reads::HINTS.closed_world && !Reads::HINTS.additive);
    assert!(!ClaimsNothing::HINTS.read_only && !ClaimsNothing::HINTS.closed_world);
    assert!(DeclinesAll::DECLINES.len() == 4 && ReadsInFull::HINTS.additive);
    assert!(Inserts::HINTS.additive && Overwrites::DECLINES.len() == 3 && Deletes::HINTS.closed_world);
    assert!(Mails::EFFECTS[0].reaches_out && Shares::EFFECTS[0].reaches_out && DoesAll::EFFECTS.len() == 4);
};

/// Performs each within the one that may do everything.
fn _within(tx: &mut Tx<'_, DoesAll>) -> Result<(), Stop> {
    fn covered<T: relaylink_core::tool::Within<DoesAll>>() {}
    covered::<Reads>();
    covered::<Inserts>();
    covered::<Deletes>();
    covered::<Mails>();
    covered::<Shares>();
    covered::<DoesAll>();
    tx.select(&const { Select::new("SELECT 1") }, &[]).map(drop)
}

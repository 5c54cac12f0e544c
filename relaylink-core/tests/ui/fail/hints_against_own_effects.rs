//! Effects of a user's own, one property each, beside every hint.
use relaylink_core::prelude::*;

mod lamp {
    use relaylink_core::prelude::Effect;

    pub enum Dims {}
    impl Effect for Dims {
        const NAME: &'static str = "Dims";
        const CHANGES: bool = true;
        const REMOVES: bool = false;
        const REACHES_OUT: bool = false;
    }

    pub enum Unscrews {}
    impl Effect for Unscrews {
        const NAME: &'static str = "Unscrews";
        const CHANGES: bool = false;
        const REMOVES: bool = true;
        const REACHES_OUT: bool = false;
    }

    pub enum Signals {}
    impl Effect for Signals {
        const NAME: &'static str = "Signals";
        const CHANGES: bool = false;
        const REMOVES: bool = false;
        const REACHES_OUT: bool = true;
    }
}

/// Dims.
#[derive(Tool)]
#[tool(effects(lamp::Dims), hints(read_only, additive, idempotent, closed_world))]
pub struct Dim {}

/// Unscrews.
#[derive(Tool)]
#[tool(effects(lamp::Unscrews), hints(read_only, additive, idempotent, closed_world))]
pub struct Unscrew {}

/// Signals.
#[derive(Tool)]
#[tool(effects(crate::lamp::Signals), hints(read_only, additive, idempotent, closed_world))]
pub struct Signal {}

fn main() {}

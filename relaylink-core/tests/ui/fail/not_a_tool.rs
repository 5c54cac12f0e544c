//! What is missing when a tool is used that is none, or does nothing.
use std::sync::Arc;

use relaylink_core::{prelude::*, tool::Toolset};

/// No derive.
pub struct Plain {}

impl Run for Plain {
    type Reply = bool;
    fn run(&self, _tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        Ok(true)
    }
}

/// A tool that does not say what it does.
#[derive(Tool, Deserialize, JsonSchema)]
pub struct Idle {}

fn main() {
    let _ = Toolset::over(Arc::new(())).tool::<Idle>();
}

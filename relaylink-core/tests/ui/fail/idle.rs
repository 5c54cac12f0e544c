//! A tool that does not say what it does.
use std::sync::Arc;

use relaylink_core::{prelude::*, tool::Toolset};

/// Nothing.
#[derive(Tool, Deserialize, JsonSchema)]
pub struct Idle {}

fn main() {
    let _ = Toolset::over(Arc::new(())).tool::<Idle>();
}

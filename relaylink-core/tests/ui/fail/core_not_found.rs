//! The core under another name wants `crate = …`, and the path has to lead there.
extern crate relaylink_core as link;

use link::prelude::*;

/// Leads nowhere.
#[derive(Tool)]
#[tool(crate = nowhere, effects(Writes), hints(read_only))]
pub struct Nowhere {}

fn main() {}

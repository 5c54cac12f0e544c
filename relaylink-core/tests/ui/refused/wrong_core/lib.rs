//! The core under another name, and the derive is not told.
use link::prelude::*;

/// Looks.
#[derive(Tool)]
#[tool(effects(Writes))]
pub struct Look {}

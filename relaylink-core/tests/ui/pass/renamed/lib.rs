//! The core under another name.
#![deny(warnings)]

use link::prelude::*;

/// By its name.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive), crate = link)]
pub struct ByName {}

/// By its absolute path.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(link::tool::Writes), hints(additive), crate = ::link)]
pub struct ByPath {}

impl Run for ByName {
    type Reply = bool;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        const NOTE: Write = Write::new("INSERT INTO notes (id) VALUES (?1)");
        Ok(tx.write(&NOTE, &[])? == 1)
    }
}

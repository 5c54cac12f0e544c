//! Several mistakes at once, all told; and the type is usable, so nothing else is.
use relaylink_core::prelude::*;

const NOTE: Write = Write::new("INSERT INTO notes (id) VALUES (?1)");

#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(aditive, read_only), title = "", banana)]
pub struct Note {
    text: String,
}

impl Run for Note {
    type Reply = bool;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        Ok(tx.write(&NOTE, &[])? == 1)
    }
}

/// Either of two, which is no tool.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes))]
pub enum Either {
    One { text: String },
    Two { text: String },
}

impl Run for Either {
    type Reply = bool;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        tx.perform(&Note { text: String::new() })
    }
}

/// Lies, and is told so in the same compile.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(ExternalMail), hints(closed_world))]
pub struct Lie {
    text: String,
}

fn main() {
    let _ = (Note::NAME, Either::EFFECTS, Lie::HINTS);
}

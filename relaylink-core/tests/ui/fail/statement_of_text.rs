//! A text is no statement.
use relaylink_core::prelude::*;

/// Looks.
#[derive(Tool)]
pub struct Look {
    table: String,
}

impl Run for Look {
    type Reply = bool;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        tx.select(&format!("SELECT * FROM {}", self.table), &[])?;
        tx.select("SELECT 1", &[])?;
        Ok(true)
    }
}

fn main() {}

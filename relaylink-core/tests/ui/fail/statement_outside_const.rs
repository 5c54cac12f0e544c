//! A statement is a const: one put together while the program runs cannot be used.
use relaylink_core::prelude::*;

/// Looks.
#[derive(Tool)]
pub struct Look {
    table: String,
}

impl Run for Look {
    type Reply = bool;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        let made = Select::new("SELECT 1");
        tx.select(&made, &[])?;
        tx.select(&Select::new("SELECT 1"), &[])?;
        tx.select(&Select::new(&format!("SELECT * FROM {}", self.table)), &[])?;
        Ok(true)
    }
}

fn main() {}

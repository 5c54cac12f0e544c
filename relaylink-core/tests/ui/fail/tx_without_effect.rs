//! Every way to do something in a transaction, from a tool that may not.
use relaylink_core::{mail::Letter, prelude::*, store::Value};

const WRITE: Write = Write::new("INSERT INTO lamps (id) VALUES (?1)");
const WRITE_RETURNING: Write = Write::new("UPDATE lamps SET lit = 1 RETURNING id");
const REMOVE: Remove = Remove::new("DELETE FROM lamps WHERE id = ?1");
const REMOVE_RETURNING: Remove = Remove::new("DELETE FROM lamps RETURNING id");

/// A front that deletes.
fn delete(tx: &mut Tx<'_, impl May<Removes>>) -> Result<bool, Stop> {
    Ok(tx.remove(&REMOVE, &[])? == 1)
}

/// Deletes.
#[derive(Tool)]
#[tool(effects(Removes))]
pub struct Forget {}

impl Run for Forget {
    type Reply = bool;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        delete(tx)
    }
}

/// Only reads, and tries everything.
#[derive(Tool)]
#[tool(hints(read_only, closed_world))]
pub struct Look {}

impl Run for Look {
    type Reply = bool;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        let none: &[Value] = &[];
        tx.write(&WRITE, none)?;
        tx.write_returning(&WRITE_RETURNING, none)?;
        tx.remove(&REMOVE, none)?;
        tx.remove_returning(&REMOVE_RETURNING, none)?;
        tx.mail(letter())?;
        tx.perform(&Forget {})?;
        delete(tx)
    }
}

/// No effect implies another: one that writes may not delete, and the other way round.
#[derive(Tool)]
#[tool(effects(Writes))]
pub struct Note {}

impl Run for Note {
    type Reply = bool;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        tx.write(&WRITE, &[])?;
        delete(tx)
    }
}

/// One that deletes may not write.
#[derive(Tool)]
#[tool(effects(Removes))]
pub struct Tidy {}

impl Run for Tidy {
    type Reply = bool;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        tx.write(&WRITE, &[])?;
        tx.perform(&Forget {})
    }
}

fn letter() -> Letter {
    loop {}
}

fn main() {}

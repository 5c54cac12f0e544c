//! The tables `memories`, `memory_terms` (the search index) and `memories_gone` (ids alone).

use super::{Memory, MemoryId};
use crate::{
    account,
    relay::{Name, Tx, terms},
    store::{Remove, Row, Select, StoreError, Write},
    tool::{May, Removes, Stop, Tool, Writes},
};

fn read(mut row: Row) -> Result<Memory, StoreError> {
    Ok(Memory { memory: row.take(0)?, text: row.take(1)?, about: row.take(2)?, created: row.take(3)? })
}

const LISTED: Select = Select::new(
    "SELECT id, text, about, created FROM memories \
     WHERE account = ?1 AND id < ?2 AND (CAST(?3 AS TEXT) IS NULL OR about_key = ?3) \
     ORDER BY id DESC LIMIT ?4",
);
const FOUND: Select = Select::new(
    "SELECT m.id, m.text, m.about, m.created FROM memory_terms JOIN memories m ON m.number = memory_terms.rowid \
     WHERE memory_terms MATCH ?5 AND m.account = ?1 AND m.id < ?2 AND (CAST(?3 AS TEXT) IS NULL OR m.about_key = ?3) \
     ORDER BY m.id DESC LIMIT ?4",
);

/// The account's memories that hold all words of `query` and are about that name, newest first; at
/// most `limit`.
pub(super) fn search(
    tx: &mut Tx<'_, impl Tool>,
    query: &str,
    about: Option<&str>,
    behind: Option<MemoryId>,
    limit: usize,
) -> Result<Vec<Memory>, Stop> {
    let number = account::number(tx)?;
    let search = terms::search(number, query);
    let coarse = search.as_ref().filter(|search| search.is_coarse());
    let page = |tx: &mut Tx<'_, _>, behind: Option<&MemoryId>| {
        // Without a cursor: what no id comes behind.
        let behind = behind.map_or("mem_zzzzzzzzzzzzzzzzzzzzzzzzzzz", MemoryId::as_str);
        let rows = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut parameters = vec![tx.account().into(), behind.into(), about.into(), rows.into()];
        let rows = match &search {
            None => tx.select(&LISTED, &parameters)?,
            Some(search) => {
                parameters.push((&search.asked).into());
                tx.select(&FOUND, &parameters)?
            }
        };
        Ok::<Vec<_>, Stop>(rows.into_iter().map(read).collect::<Result<_, _>>()?)
    };
    let (mut found, mut behind) = (Vec::new(), behind);
    loop {
        let memories = page(tx, behind.as_ref())?;
        let last = memories.last().map(|memory| memory.memory.clone());
        let full = memories.len() == limit;
        found.extend(
            memories.into_iter().filter(|memory| coarse.is_none_or(|search| search.holds(&searched(memory)))),
        );
        if !full || found.len() >= limit {
            found.truncate(limit);
            return Ok(found);
        }
        behind = last;
    }
}

/// The text by whose words a memory is found.
fn searched(memory: &Memory) -> String {
    let about = memory.about.as_ref().map(Name::as_str).unwrap_or_default();
    format!("{}\n{about}", memory.text)
}

const INSERT: Write = Write::new(
    "INSERT INTO memories (id, account, text, about, about_key, created) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING number",
);
const INSERT_TERMS: Write = Write::new("INSERT INTO memory_terms (rowid, terms) VALUES (?1, ?2)");

/// Adds a memory and its search terms.
pub(super) fn insert(tx: &mut Tx<'_, impl May<Writes>>, memory: &Memory) -> Result<(), Stop> {
    let about = memory.about.as_ref();
    let row = [
        (&memory.memory).into(),
        tx.account().into(),
        (&memory.text).into(),
        about.into(),
        about.map(Name::key).into(),
        memory.created.into(),
    ];
    let account = account::number(tx)?;
    let words = terms::index(account, &searched(memory));
    let mut rows = tx.write_returning(&INSERT, &row)?;
    let number: i64 = rows.pop().map(|mut row| row.take(0)).transpose()?.unwrap_or_default();
    tx.write(&INSERT_TERMS, &[number.into(), words.into()])?;
    Ok(())
}

const REMOVE: Remove = Remove::new("DELETE FROM memories WHERE account = ?1 AND id = ?2 RETURNING number");
const REMOVE_TERMS: Remove = Remove::new("DELETE FROM memory_terms WHERE rowid = ?1");
const INSERT_GONE: Write = Write::new("INSERT INTO memories_gone (id, account) VALUES (?1, ?2)");

/// Takes a memory away with its search terms and leaves its id behind. False where it is not there.
pub(super) fn remove<T>(tx: &mut Tx<'_, T>, memory: &MemoryId) -> Result<bool, Stop>
where
    T: May<Writes> + May<Removes>,
{
    let mut rows = tx.remove_returning(&REMOVE, &[tx.account().into(), memory.into()])?;
    let Some(number) = rows.pop().map(|mut row| row.take::<i64>(0)).transpose()? else {
        return Ok(false);
    };
    tx.remove(&REMOVE_TERMS, &[number.into()])?;
    tx.write(&INSERT_GONE, &[memory.into(), tx.account().into()])?;
    Ok(true)
}

const GONE: Select = Select::new("SELECT 1 FROM memories_gone WHERE id = ?1 AND account = ?2");

/// Whether the account once had it and it was taken away.
pub(super) fn is_gone(tx: &mut Tx<'_, impl Tool>, memory: &MemoryId) -> Result<bool, Stop> {
    Ok(!tx.select(&GONE, &[memory.into(), tx.account().into()])?.is_empty())
}

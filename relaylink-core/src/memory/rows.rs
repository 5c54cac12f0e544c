//! The tables `memories`, `memory_terms` (the search index) and `memories_gone` (ids alone).

use super::{Memory, MemoryId};
use crate::{
    account,
    relay::{Name, Tx, terms},
    store::{Remove, Row, Select, StoreError, Write, one},
    tool::{May, Removes, Stop, Tool, Writes},
};

/// Memories of one account: its number times this, and a count.
const ROOM: i64 = 1 << 32;

const LISTED: Select = Select::new(
    "SELECT id, text, about, created, number FROM memories \
     WHERE account = ?1 AND number < ?2 AND (CAST(?3 AS TEXT) IS NULL OR about_key = ?3) \
     ORDER BY number DESC LIMIT ?4",
);
// CROSS JOIN has the engine begin with the index, which answers the newest first.
const FOUND: Select = Select::new(
    "SELECT m.id, m.text, m.about, m.created, m.number FROM memory_terms CROSS JOIN memories m \
     WHERE memory_terms MATCH ?5 AND memory_terms.rowid < ?2 AND m.number = memory_terms.rowid \
     AND m.account = ?1 AND (CAST(?3 AS TEXT) IS NULL OR m.about_key = ?3) \
     ORDER BY memory_terms.rowid DESC LIMIT ?4",
)
// The question is written for FTS5, and turned into PostgreSQL's writing.
.on_postgres(
    "SELECT m.id, m.text, m.about, m.created, m.number FROM memory_terms t JOIN memories m ON m.number = t.number \
     WHERE t.terms @@ CAST(replace(replace(replace(CAST(?5 AS TEXT), '\"*', ''':*'), '\"', ''''), ' AND ', ' & ') \
     AS tsquery) AND t.number < ?2 AND m.account = ?1 AND (CAST(?3 AS TEXT) IS NULL OR m.about_key = ?3) \
     ORDER BY t.number DESC LIMIT ?4",
);

/// A memory and its place among the account's, counted from the oldest.
pub(super) struct Placed {
    pub(super) place: i64,
    pub(super) memory: Memory,
}

/// The account's memories that hold all words of `query` and are about that name, newest first and
/// at most `limit`; only those before that place.
pub(super) fn search(
    tx: &mut Tx<'_, impl Tool>,
    query: &str,
    about: Option<&str>,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<Placed>, Stop> {
    let account = account::number(tx)?;
    let search = terms::search(account, query);
    let coarse = search.as_ref().filter(|search| search.is_coarse());
    let (mut found, mut before) = (Vec::new(), before.unwrap_or(i64::MAX));
    loop {
        let behind = before.saturating_add(account * ROOM);
        let rows = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut parameters = vec![tx.account().into(), behind.into(), about.into(), rows.into()];
        let rows = match &search {
            None => tx.select(&LISTED, &parameters)?,
            Some(search) => {
                parameters.push((&search.asked).into());
                tx.select(&FOUND, &parameters)?
            }
        };
        let full = rows.len() == limit;
        for row in rows {
            let placed = read(row, account)?;
            before = placed.place;
            if coarse.is_none_or(|search| search.holds(&words(&placed.memory))) {
                found.push(placed);
            }
        }
        if !full || found.len() >= limit {
            found.truncate(limit);
            return Ok(found);
        }
    }
}

fn read(mut row: Row, account: i64) -> Result<Placed, StoreError> {
    let (memory, text, about, created) = (row.take(0)?, row.take(1)?, row.take(2)?, row.take(3)?);
    let place = row.take::<i64>(4)? - account * ROOM;
    Ok(Placed { place, memory: Memory { memory, text, about, created } })
}

/// The text by whose words a memory is found.
pub(super) fn searched(text: &str, about: Option<&str>) -> String {
    format!("{text}\n{}", about.unwrap_or_default())
}

fn words(memory: &Memory) -> String {
    searched(&memory.text, memory.about.as_ref().map(Name::as_str))
}

const INSERT: Write = Write::new(
    "INSERT INTO memories (number, id, account, text, about, about_key, created) \
     SELECT COALESCE(MAX(number), ?7) + 1, ?1, ?2, ?3, ?4, ?5, CAST(?6 AS BIGINT) \
     FROM memories WHERE account = ?2 RETURNING number",
);
pub(super) const INSERT_TERMS: Write = Write::new("INSERT INTO memory_terms (rowid, terms) VALUES (?1, ?2)")
    .on_postgres(
        "INSERT INTO memory_terms (number, terms) \
     VALUES (?1, array_to_tsvector(string_to_array(CAST(?2 AS TEXT), ' ')))",
    );

/// Adds a memory and its search terms.
pub(super) fn insert(tx: &mut Tx<'_, impl May<Writes>>, memory: &Memory) -> Result<(), Stop> {
    let about = memory.about.as_ref();
    let account = account::number(tx)?;
    let row = [
        (&memory.memory).into(),
        tx.account().into(),
        (&memory.text).into(),
        about.into(),
        about.map(Name::key).into(),
        memory.created.into(),
        (account * ROOM).into(),
    ];
    let words = terms::index(account, &words(memory));
    let number: i64 = one(tx.write_returning(&INSERT, &row)?, |mut row| row.take(0))?.unwrap_or_default();
    tx.write(&INSERT_TERMS, &[number.into(), words.into()])?;
    Ok(())
}

const REMOVE: Remove = Remove::new("DELETE FROM memories WHERE account = ?1 AND id = ?2 RETURNING number");
const REMOVE_TERMS: Remove = Remove::new("DELETE FROM memory_terms WHERE rowid = ?1")
    .on_postgres("DELETE FROM memory_terms WHERE number = ?1");
const INSERT_GONE: Write = Write::new("INSERT INTO memories_gone (id, account) VALUES (?1, ?2)");

/// Takes a memory away with its search terms and leaves its id behind. False where it is not there.
pub(super) fn remove<T>(tx: &mut Tx<'_, T>, memory: &MemoryId) -> Result<bool, Stop>
where
    T: May<Writes> + May<Removes>,
{
    let rows = tx.remove_returning(&REMOVE, &[tx.account().into(), memory.into()])?;
    let Some(number) = one(rows, |mut row| row.take::<i64>(0))? else {
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

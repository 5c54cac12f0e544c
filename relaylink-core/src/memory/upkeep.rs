//! How the search terms are made again, and rows that belong together without a foreign key.

use super::rows::{INSERT_TERMS, searched};
use crate::{
    relay::terms,
    store::{
        Row, Select, StoreError,
        upkeep::{Derived, Question, Rooms},
    },
};

const INDEXED: Select = Select::new(
    "SELECT m.number, a.number, m.text, m.about FROM memories m JOIN accounts a ON a.id = m.account \
     WHERE m.number > ?1 ORDER BY m.number LIMIT ?2",
);
const LAST: Select =
    Select::new("SELECT MAX(rowid) FROM memory_terms").on_postgres("SELECT MAX(number) FROM memory_terms");
const GONE_AND_THERE: Select = Select::new("SELECT m.id FROM memories m JOIN memories_gone g ON g.id = m.id");

pub(crate) fn upkeep(rooms: Rooms) -> Rooms {
    rooms
        .derived(Derived::new("memory_terms", "memories", &INDEXED, made, &INSERT_TERMS, &LAST))
        .question(Question::new("memories", "memories are there and were taken away", &GONE_AND_THERE))
}

fn made(mut row: Row) -> Result<(i64, String), StoreError> {
    let (number, account) = (row.take(0)?, row.take(1)?);
    let (text, about): (String, Option<String>) = (row.take(2)?, row.take(3)?);
    Ok((number, terms::index(account, &searched(&text, about.as_deref()))))
}

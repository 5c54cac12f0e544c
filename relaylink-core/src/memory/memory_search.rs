use super::{Memory, rows};
use crate::{
    prelude::*,
    relay::{Cursor, Limit, Name, limits::QUERY_MAX, text},
};

/// Finds what the account's assistants were told to remember, newest first. All words of `query`
/// must occur, in whatever case and order; without words, everything is listed. Changes nothing.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(hints(read_only, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct MemorySearch {
    /// Words that must all occur, in the text or in what it is about.
    pub query: Option<String>,
    /// Only what was added as being about this name.
    pub about: Option<Name>,
    /// How many at most: 1 to 100, 20 unless told.
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the page before.
    pub cursor: Option<Cursor>,
}

/// A page of memories.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundMemories {
    /// The memories, newest first.
    pub memories: Vec<Memory>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
}

impl Run for MemorySearch {
    type Reply = FoundMemories;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<FoundMemories, Stop> {
        let query = text::sought("query", self.query.as_deref().unwrap_or_default(), QUERY_MAX)?;
        let before = self.cursor.as_ref().map(Cursor::key).transpose()?;
        let about = self.about.as_ref().map(Name::key);
        let found = rows::search(tx, query, about.as_deref(), before, self.limit.rows() + 1)?;
        let (found, next_cursor) = self.limit.cut(found, |placed| placed.place);
        let memories = found.into_iter().map(|placed| placed.memory).collect();
        Ok(FoundMemories { memories, next_cursor })
    }
}

use super::{DraftId, Preview, rows};
use crate::{
    account,
    prelude::*,
    relay::{Cursor, Limit, Written, limits::DRAFTS_PAGE_MAX},
};

/// Lists the account's open drafts, newest first, each whole and with the preview it was made with.
/// Changes nothing. `confirm_send` sends a draft, `cancel_draft` drops it. A page may end early where
/// drafts are long.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct ListDrafts {
    /// How many at most: 1 to 100, 20 unless told.
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the page before.
    pub cursor: Option<Cursor>,
}

/// A draft.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// Whom it would reach, under which subject.
    #[serde(flatten)]
    pub preview: Preview,
    /// Its body.
    pub body: Written<String>,
    /// What it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<Written<String>>,
    /// What it rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Written<String>>,
}

/// Open drafts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drafts {
    /// The drafts, newest first.
    pub drafts: Vec<Draft>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
}

impl Run for ListDrafts {
    type Reply = Drafts;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Drafts, Stop> {
        let behind = self.cursor.as_ref().map(Cursor::key::<DraftId>).transpose()?;
        let sizes = rows::draft_sizes(tx, behind.as_ref(), self.limit)?;
        let page = page(&sizes, self.limit.rows());
        let (Some((newest, _)), Some((oldest, _))) = (page.first(), page.last()) else {
            return Ok(Drafts { drafts: Vec::new(), next_cursor: None });
        };
        let me = account::me(tx)?;
        let drafts = rows::drafts(tx, &me, newest, oldest)?;
        let next_cursor = (page.len() < sizes.len()).then(|| Cursor::behind(oldest));
        Ok(Drafts { drafts, next_cursor })
    }
}

/// As many of them as make a page: at least one, then while their characters fit.
fn page<T>(sizes: &[(T, i64)], rows: usize) -> &[(T, i64)] {
    let mut characters = 0;
    let fits = sizes.iter().take(rows).take_while(|(_, size)| {
        characters += size;
        characters <= DRAFTS_PAGE_MAX
    });
    let fitting = fits.count().max(1);
    sizes.get(..fitting).unwrap_or(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_where_its_characters_do_and_has_one_draft_at_least() {
        let sizes = |sizes: &[i64]| sizes.iter().map(|size| ((), *size)).collect::<Vec<_>>();
        let length = |list: &[i64], rows| page(&sizes(list), rows).len();
        assert_eq!(length(&[], 20), 0);
        assert_eq!(length(&[DRAFTS_PAGE_MAX + 1, 1], 20), 1);
        assert_eq!(length(&[DRAFTS_PAGE_MAX - 1, 1, 1], 20), 2);
        assert_eq!(length(&[1, 1, 1], 2), 2);
    }
}

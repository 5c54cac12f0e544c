use super::{Author, PackageId, ThreadId, rows};
use crate::{
    account, people,
    prelude::*,
    relay::{Cursor, Limit, Timestamp, Written},
};

/// Lists packages that came in, newest first: who sent each, its subject and thread. Marks nothing
/// read. `get_package` gives one whole and leaves a receipt; `acknowledge_package` says that it was
/// taken in.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct CheckInbox {
    /// Only those neither opened nor acknowledged.
    pub unread: Option<bool>,
    /// Only those of this person: a contact's id, an address or a contact's name.
    pub from: Option<String>,
    /// Only those of this thread.
    pub thread: Option<ThreadId>,
    /// How many at most: 1 to 100, 20 unless told.
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the page before.
    pub cursor: Option<Cursor>,
}

/// A package that came in, without its text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// The package.
    pub package: PackageId,
    /// Its thread.
    pub thread: ThreadId,
    /// Who sent it.
    pub from: Author,
    /// Its subject.
    pub subject: Written<String>,
    /// When it was sent.
    pub sent: Timestamp,
    /// When the account opened it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<Timestamp>,
    /// When the account acknowledged it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Timestamp>,
}

/// Packages that came in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inbox {
    /// The packages, newest first.
    pub packages: Vec<Head>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
}

impl Run for CheckInbox {
    type Reply = Inbox;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Inbox, Stop> {
        let behind = self.cursor.as_ref().map(Cursor::key::<PackageId>).transpose()?;
        let limit = self.limit;
        let from = match self.from.as_deref().filter(|from| !from.is_empty()) {
            None => None,
            Some(text) => {
                let me = account::me(tx)?;
                Some(people::find(tx, &me, "from", text)?.address.key())
            }
        };
        let filter = rows::Filter {
            unread: self.unread.unwrap_or(false),
            from: from.as_deref(),
            thread: self.thread.as_ref(),
        };
        let heads = rows::heads(tx, filter, behind.as_ref(), limit)?;
        let (packages, next_cursor) = limit.cut(heads, |head| head.package.clone());
        Ok(Inbox { packages, next_cursor })
    }
}

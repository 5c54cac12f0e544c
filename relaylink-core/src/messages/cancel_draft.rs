use super::{DraftId, rows};
use crate::{prelude::*, relay::Timestamp};

/// Drops a draft: its content is deleted and can no longer be sent. Nobody hears of it. A draft
/// that was sent cannot be cancelled; one that is cancelled already is answered alike.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes, Removes), hints(idempotent, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct CancelDraft {
    /// The draft to drop.
    pub draft: DraftId,
}

/// A draft that was dropped.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    /// The draft that is gone.
    pub draft: DraftId,
    /// When it was deleted.
    pub deleted: Timestamp,
}

impl Run for CancelDraft {
    type Reply = Cancelled;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Cancelled, Stop> {
        let account = tx.account();
        let draft = self.draft.clone();
        if let Some(ended) = rows::ended(tx, account, &draft)? {
            return match ended.sent {
                None => Ok(Cancelled { draft, deleted: ended.at }),
                Some(_) => Err(Refusal::new(Code::Conflict, "The draft was sent, and cannot be taken back.")
                    .field("draft")
                    .into()),
            };
        }
        if !rows::remove_draft(tx, account, &draft)? {
            return Err(no_draft().into());
        }
        rows::insert_ended(tx, account, &draft, None)?;
        Ok(Cancelled { draft, deleted: tx.now() })
    }
}

/// The same answer for a draft that never was and for one that is somebody else's.
pub(super) fn no_draft() -> Refusal {
    Refusal::new(Code::NotFound, "The account has no such draft.")
        .field("draft")
        .hint("list_drafts shows those that are open.")
}

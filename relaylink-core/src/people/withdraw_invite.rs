use super::{InviteId, rows};
use crate::prelude::*;

/// Takes back a request of the account's own that nobody has answered: it is deleted, and the
/// person asked does not see it any more. A mail that is on its way still arrives. A second time
/// there is nothing to take back.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(
    effects(Removes),
    hints(closed_world),
    declines(idempotent = "a second call changes nothing but is answered with an error: nothing is pending")
)]
#[serde(rename_all = "camelCase")]
pub struct WithdrawInvite {
    /// The request to take back.
    pub request: InviteId,
}

/// A request that was deleted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Withdrawn {
    /// The request that is gone.
    pub request: InviteId,
    /// What became of it: always deleted.
    pub outcome: &'static str,
}

impl Run for WithdrawInvite {
    type Reply = Withdrawn;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Withdrawn, Stop> {
        if rows::withdraw(tx, tx.account(), &self.request)? {
            return Ok(Withdrawn { request: self.request.clone(), outcome: "deleted" });
        }
        Err(Refusal::new(Code::NotFound, "No such request of the account waits for an answer.")
            .field("request")
            .hint("list_contacts with state outgoing shows those that do.")
            .into())
    }
}

use super::{Contact, InviteId, letters, rows};
use crate::{account, prelude::*};

/// Accepts a request that waits for the account, as `list_contacts` shows it: both become contacts
/// and can send each other briefings, and the one who asked is told by mail. Only the one who was
/// asked can. A second time there is nothing to accept.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(
    effects(Writes, ExternalMail),
    hints(additive),
    declines(idempotent = "a second call changes nothing but is answered with an error: nothing is pending")
)]
#[serde(rename_all = "camelCase")]
pub struct AcceptContact {
    /// The request to accept.
    pub request: InviteId,
}

impl Run for AcceptContact {
    type Reply = Contact;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Contact, Stop> {
        let me = account::me(tx)?;
        let waiting = rows::waiting(tx, &me, &self.request)?.ok_or_else(nothing_waits)?;
        let asker = account::card(tx, &waiting.account)?.ok_or_else(nothing_waits)?;
        let contact = rows::accept(tx, &waiting, &me, &asker)?;
        tx.mail(letters::accepted(&self.request, &asker.address, &me.address, me.name.as_str()))?;
        Ok(Contact { contact, address: asker.address, name: asker.name.to_string(), since: tx.now() })
    }
}

/// The same answer for a request that never was, that is answered, and that asks somebody else.
fn nothing_waits() -> Refusal {
    Refusal::new(Code::NotFound, "No such request waits for the account.")
        .field("request")
        .hint("list_contacts with state incoming shows those that do.")
}

use super::{
    ContactId, InviteId, letters,
    named::other,
    rows,
    rules::{Invitation, invitation, too_many},
};
use crate::{
    account,
    people::State,
    prelude::*,
    relay::{
        Address, Foreign, Timestamp,
        limits::{DAY_MS, NOTE_MAX},
        text,
    },
};

/// Asks somebody to become a contact: keeps a request that waits for their answer, and mails that
/// address. Whoever is asked already is not mailed again. The answer never tells whether the
/// address has an account. `list_contacts` shows what became of it.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes, ExternalMail), hints(additive, idempotent))]
#[serde(rename_all = "camelCase")]
pub struct InviteContact {
    /// The address to ask.
    pub email: Address,
    /// A few words for them, at most 500 characters.
    pub note: Option<String>,
}

/// A request as it stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invited {
    /// outgoing while it waits, accepted when they are a contact.
    pub state: State,
    /// The request, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<InviteId>,
    /// The contact, where they are one already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<ContactId>,
    /// The address that is asked.
    pub address: Address,
    /// Since when it stands so.
    pub since: Timestamp,
}

impl Run for InviteContact {
    type Reply = Invited;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Invited, Stop> {
        let note = self.note()?;
        let me = account::me(tx)?;
        let person = other(tx, &me, "email", self.email.clone())?;
        let key = self.email.key();
        // Asked of nobody where there is no account, so that the work is the same.
        let theirs = account::by_address_key(tx, &key)?.map(|card| card.id).unwrap_or_default();
        let mut standing = person.standing;
        standing.blocks = rows::blocks(tx, &theirs, &me.address.key())?;
        let asked = rows::side(tx, &me.id, &key)?;
        let asks = rows::side(tx, &theirs, &me.address.key())?;
        match (invitation(standing, asked.is_some(), asks.is_some()), asked, asks) {
            (Invitation::Stands, Some(side), _) => Ok(Invited {
                state: if side.accepted.is_some() { State::Accepted } else { State::Outgoing },
                request: side.request.filter(|_| side.accepted.is_none()),
                contact: side.accepted.is_some().then_some(side.id),
                address: side.address,
                since: side.accepted.unwrap_or(side.created),
            }),
            (Invitation::New { mailed }, ..) => self.ask(tx, &me, note.as_ref(), mailed),
            (Invitation::Crossed, _, asks) => {
                let request = asks.and_then(|side| side.request).map(|id| format!(", request {id}"));
                Err(Refusal::new(Code::Conflict, "This person's own request already waits for the account.")
                    .field("email")
                    .hint(format!("Answer it with accept_contact{}.", request.unwrap_or_default()))
                    .into())
            }
            (Invitation::Blocked | Invitation::Stands, ..) => {
                Err(Refusal::new(Code::Blocked, "The account has blocked this person.").field("email").into())
            }
        }
    }
}

impl InviteContact {
    fn note(&self) -> Result<Option<Foreign<String>>, Stop> {
        let note = self.note.as_deref().map(str::trim).filter(|note| !note.is_empty());
        Ok(note.map(|note| text::lines("note", note, NOTE_MAX)).transpose()?)
    }

    fn ask(
        &self,
        tx: &mut Tx<'_, Self>,
        me: &account::Card,
        note: Option<&Foreign<String>>,
        mailed: bool,
    ) -> Result<Invited, Stop> {
        let since = tx.now().plus_millis(-DAY_MS);
        let invites = rows::invites(tx, &me.id, &self.email.key(), since)?;
        if let Some((reason, remedy)) = too_many(invites) {
            return Err(Refusal::new(Code::QuotaExceeded, reason).field("email").hint(remedy).into());
        }
        let request = rows::insert_request(tx, me, &self.email, note)?;
        if mailed {
            let note = note.map(Foreign::text);
            let letter = letters::invitation(&request, &self.email, &me.address, me.name.as_str(), note);
            tx.mail(letter)?;
        }
        Ok(Invited {
            state: State::Outgoing,
            request: Some(request),
            contact: None,
            address: self.email.clone(),
            since: tx.now(),
        })
    }
}

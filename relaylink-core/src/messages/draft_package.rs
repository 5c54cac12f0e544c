use super::{DraftId, Preview, Recipient, ThreadId, Unreached, content::Content, rows};
use crate::{
    account::{self, Card},
    people::{self, Person},
    prelude::*,
    relay::limits::RECIPIENTS_MAX,
};

/// Drafts a package for one or more people and previews exactly whom it would reach. Sends nothing:
/// show the preview to the person, then `confirm_send` sends it or `cancel_draft` drops it. A draft
/// never changes; a second call makes a second draft.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(
    effects(Writes),
    hints(additive, closed_world),
    declines(idempotent = "a second call is a second draft")
)]
#[serde(rename_all = "camelCase")]
pub struct DraftPackage {
    /// Whom it is for: contact ids, addresses or contacts' names, at most 50.
    pub to: Vec<String>,
    /// One line, at most 200 characters.
    pub subject: String,
    /// The briefing, in Markdown, at most 30,000 characters.
    pub body: String,
    /// What the sender wants back, at most 4,000 characters.
    pub asks: Option<String>,
    /// Facts and decisions that the briefing rests on, at most 12,000 characters.
    pub context: Option<String>,
    /// The thread it replies to; a new one unless told.
    pub thread: Option<ThreadId>,
}

impl Run for DraftPackage {
    type Reply = Preview;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Preview, Stop> {
        let content =
            Content::checked(&self.subject, &self.body, self.asks.as_deref(), self.context.as_deref())?;
        let me = account::me(tx)?;
        if let Some(thread) = &self.thread
            && !rows::sees_thread(tx, &me.id, thread)?
        {
            return Err(no_thread().into());
        }
        let named = self.named(tx, &me)?;
        let draft: DraftId = tx.new_id();
        rows::insert_draft(tx, &draft, &me.id, self.thread.as_ref(), &content, &named)?;
        let (mut to, mut not_reached) = (Vec::new(), Vec::new());
        for person in named {
            match (person.reach().reason(), person.contact, person.name) {
                (None, Some(contact), Some(name)) => {
                    to.push(Recipient { contact, address: person.address, name });
                }
                (reason, ..) => not_reached.push(Unreached {
                    address: person.address,
                    reason: reason.unwrap_or_default().to_owned(),
                }),
            }
        }
        let subject = content.subject.by(me.address.as_str());
        let thread = self.thread.clone();
        Ok(Preview { draft, thread, to, not_reached, subject, created: tx.now() })
    }
}

impl DraftPackage {
    /// Everybody who is named, once each.
    fn named(&self, tx: &mut Tx<'_, Self>, me: &Card) -> Result<Vec<Person>, Stop> {
        if self.to.is_empty() || self.to.len() > RECIPIENTS_MAX {
            return Err(wrong_number(self.to.len()).into());
        }
        let mut named: Vec<Person> = Vec::with_capacity(self.to.len());
        for text in &self.to {
            let person = people::find(tx, me, "to", text)?;
            if named.iter().all(|other| other.address.key() != person.address.key()) {
                named.push(person);
            }
        }
        Ok(named)
    }
}

/// What is answered to nobody named, and to more than a package may have as recipients.
pub(super) fn wrong_number(named: usize) -> Refusal {
    let message = format!("`to` names {named} people, and may name 1 to {RECIPIENTS_MAX}.");
    Refusal::new(Code::InvalidArgument, message).field("to")
}

/// The same answer for a thread that never was and for one that is not the caller's to see.
pub(super) fn no_thread() -> Refusal {
    Refusal::new(Code::NotFound, "The account has no such thread.")
        .field("thread")
        .hint("check_inbox shows the threads of packages that came in.")
}

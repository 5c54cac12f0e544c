use super::{
    DraftId, PackageId, ThreadId,
    cancel_draft::no_draft,
    draft_package::wrong_number,
    letters, rows,
    rules::{Due, Refused, Shown, differs, may_go, too_many},
};
use crate::{
    account::{self, Card},
    people::{self, Person},
    prelude::*,
    relay::{
        Timestamp,
        limits::{DAY_MS, RECIPIENTS_MAX},
    },
};

/// Sends a draft, for good: each recipient gets the package and a mail. Show the person the preview
/// first and give `to` and `subject` as they were shown. Whether it may go is checked again now; if
/// anything differs, nothing is sent. Sending again answers with the ids of the first time.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(
    effects(Writes, Removes, ExternalMail),
    title = "Send package (irreversible)",
    always_ask,
    declines(idempotent = "a message cannot be recalled, so a repeat of it is to be asked about")
)]
#[serde(rename_all = "camelCase")]
pub struct ConfirmSend {
    /// The draft to send.
    pub draft: DraftId,
    /// The people, as the person was shown them.
    pub to: Option<Vec<String>>,
    /// The subject, as the person was shown it.
    pub subject: Option<String>,
}

/// A package that was sent.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// The package.
    pub package: PackageId,
    /// Its thread; `thread_status` shows what becomes of it.
    pub thread: ThreadId,
    /// When it was sent.
    pub sent: Timestamp,
}

impl Run for ConfirmSend {
    type Reply = Sent;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Sent, Stop> {
        let account = tx.account();
        if let Some(ended) = rows::ended(tx, account, &self.draft)? {
            return match ended.sent {
                Some((package, thread)) => Ok(Sent { package, thread, sent: ended.at }),
                None => Err(Refusal::new(Code::Conflict, "The draft was cancelled.")
                    .field("draft")
                    .hint("Draft the package anew with draft_package.")
                    .into()),
            };
        }
        let (stored, content) = rows::draft(tx, account, &self.draft)?.ok_or_else(no_draft)?;
        let me = account::me(tx)?;
        let mut due = Vec::new();
        for recipient in rows::recipients_of_draft(tx, &self.draft)? {
            due.push(people::between(tx, &me, recipient)?);
        }
        self.check(tx, &me, content.subject.text(), &due)?;
        count(tx, &due)?;
        let package: PackageId = tx.new_id();
        let thread = stored.unwrap_or_else(|| tx.new_id());
        rows::insert_package(tx, &package, &thread, &me, &content)?;
        for (place, person) in (0..).zip(&due) {
            rows::insert_delivery(tx, &package, &thread, &me, place, person)?;
            tx.mail(letters::package(&package, &me, person, &content))?;
        }
        rows::remove_draft(tx, account, &self.draft)?;
        rows::insert_ended(tx, account, &self.draft, Some((&package, &thread)))?;
        Ok(Sent { package, thread, sent: tx.now() })
    }
}

impl ConfirmSend {
    /// Refuses what may not go now, and then what is not what the person was shown.
    fn check(&self, tx: &mut Tx<'_, Self>, me: &Card, subject: &str, people: &[Person]) -> Result<(), Stop> {
        let keys: Vec<_> = people.iter().map(|person| person.address.key()).collect();
        let due: Vec<_> = people
            .iter()
            .zip(&keys)
            .map(|(person, key)| Due { key, address: person.address.as_str(), reach: person.reach() })
            .collect();
        may_go(&due).map_err(refused)?;
        let given = self.to.as_deref().unwrap_or_default();
        if given.len() > RECIPIENTS_MAX {
            return Err(wrong_number(given.len()).into());
        }
        let mut named = Vec::new();
        for text in given {
            named.push(people::find(tx, me, "to", text)?.address.key());
        }
        let to = self.to.as_ref().map(|_| &*named);
        let Some(field) = differs(&due, subject, Shown { to, subject: self.subject.as_deref() }) else {
            return Ok(());
        };
        let preview = rows::preview(tx, me, &self.draft)?.ok_or_else(no_draft)?;
        let preview = serde_json::to_string(&preview).unwrap_or_default();
        Err(Refusal::new(Code::Stale, format!("`{field}` is not what would go. Nothing was sent."))
            .field(field)
            .hint(format!("Show the person what would go, and confirm that: {preview}"))
            .into())
    }
}

fn refused(why: Refused) -> Refusal {
    match why {
        Refused::Nobody => Refusal::new(Code::NotPermitted, "The draft reaches nobody. Nothing was sent.")
            .field("draft")
            .hint("invite_contact asks somebody to become a contact; then draft it anew."),
        Refused::Unreachable(reasons) => {
            let reasons: Vec<_> = reasons.into_iter().map(|(who, why)| format!("{who}: {why}")).collect();
            Refusal::new(Code::NotPermitted, format!("Nothing was sent: {}.", reasons.join("; ")))
                .field("draft")
                .hint("Draft it anew for those who can be reached.")
        }
    }
}

fn count(tx: &mut Tx<'_, ConfirmSend>, due: &[Person]) -> Result<(), Stop> {
    let since = tx.now().plus_millis(-DAY_MS);
    let sent = rows::sent_since(tx, since)?;
    let all = sent.iter().map(|(_, mails)| mails).sum();
    let to_one_of_them =
        sent.iter().filter(|(to, _)| due.iter().any(|person| person.account.as_ref() == Some(to)));
    let most = to_one_of_them.map(|(_, mails)| *mails).max().unwrap_or(0);
    match too_many(all, i64::try_from(due.len()).unwrap_or(i64::MAX), most) {
        None => Ok(()),
        Some(reason) => Err(Refusal::new(Code::QuotaExceeded, format!("{reason} Nothing was sent."))
            .field("draft")
            .hint("The draft is kept: confirm it tomorrow.")
            .into()),
    }
}

//! The tables `drafts`, `draft_people` and `ended_drafts`.

use crate::{
    account::Card,
    messages::{Draft, DraftId, PackageId, Preview, Recipient, ThreadId, Unreached, content::Content},
    people::Person,
    relay::{Address, Foreign, Id as _, Limit, Timestamp, Tx, below},
    store::{Remove, Row, Select, Value, Write, one},
    tool::{May, Removes, Stop, Tool, Writes},
};

const INSERT_DRAFT: Write = Write::new(
    "INSERT INTO drafts (id, account, thread, created, size, subject, body, asks, context) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
);
const INSERT_DRAFT_PERSON: Write = Write::new(
    "INSERT INTO draft_people (draft, place, address, contact, name, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
);

pub(in crate::messages) fn insert_draft(
    tx: &mut Tx<'_, impl May<Writes>>,
    draft: &DraftId,
    account: &str,
    thread: Option<&ThreadId>,
    content: &Content,
    people: &[Person],
) -> Result<(), Stop> {
    let row = [
        draft.into(),
        account.into(),
        thread.into(),
        tx.now().into(),
        content.characters().into(),
        (&content.subject).into(),
        (&content.body).into(),
        content.asks.as_ref().into(),
        content.context.as_ref().into(),
    ];
    tx.write(&INSERT_DRAFT, &row)?;
    for (place, person) in (0_i64..).zip(people) {
        let row = [
            draft.into(),
            place.into(),
            (&person.address).into(),
            person.contact.as_ref().into(),
            person.name.as_ref().into(),
            person.reach().reason().into(),
        ];
        tx.write(&INSERT_DRAFT_PERSON, &row)?;
    }
    Ok(())
}

const DRAFT_SIZES: Select =
    Select::new("SELECT id, size FROM drafts WHERE account = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3");

/// The next drafts and their characters, one more than the page has.
pub(in crate::messages) fn draft_sizes(
    tx: &mut Tx<'_, impl Tool>,
    after: Option<&DraftId>,
    limit: Limit,
) -> Result<Vec<(DraftId, i64)>, Stop> {
    let after = below(DraftId::PREFIX, after.map(DraftId::as_str));
    let rows = tx.select(&DRAFT_SIZES, &[tx.account().into(), after, limit.and_one()])?;
    rows.into_iter().map(|mut row| Ok((row.take(0)?, row.take(1)?))).collect()
}

const DRAFTS: Select = Select::new(
    "SELECT id, thread, created, subject, body, asks, context FROM drafts \
     WHERE account = ?1 AND id <= ?2 AND id >= ?3 ORDER BY id DESC",
);
const DRAFT_PEOPLE: Select = Select::new(
    "SELECT p.draft, p.address, p.contact, p.name, p.reason FROM drafts d JOIN draft_people p ON p.draft = d.id \
     WHERE d.account = ?1 AND d.id <= ?2 AND d.id >= ?3 ORDER BY d.id DESC, p.place",
);

/// The drafts from the newest to the oldest of these, whole.
pub(in crate::messages) fn drafts(
    tx: &mut Tx<'_, impl Tool>,
    me: &Card,
    newest: &DraftId,
    oldest: &DraftId,
) -> Result<Vec<Draft>, Stop> {
    let range = [Value::from(&me.id), newest.into(), oldest.into()];
    let drafts = tx.select(&DRAFTS, &range)?;
    let mut people = tx.select(&DRAFT_PEOPLE, &range)?.into_iter().map(draft_person).peekable();
    let author = me.address.as_str();
    let mut whole = Vec::with_capacity(drafts.len());
    for mut row in drafts {
        let id: DraftId = row.take(0)?;
        let (mut to, mut not_reached) = (Vec::new(), Vec::new());
        while let Some(person) = people.next_if(|next| next.as_ref().is_ok_and(|(draft, _)| *draft == id)) {
            match person?.1 {
                Ok(recipient) => to.push(recipient),
                Err(unreached) => not_reached.push(unreached),
            }
        }
        let written = |text: Foreign<String>| text.by(author);
        whole.push(Draft {
            preview: Preview {
                draft: id,
                thread: row.take(1)?,
                to,
                not_reached,
                subject: written(row.take(3)?),
                created: row.take(2)?,
            },
            body: written(row.take(4)?),
            asks: row.take::<Option<_>>(5)?.map(written),
            context: row.take::<Option<_>>(6)?.map(written),
        });
    }
    match people.next() {
        Some(Err(error)) => Err(error),
        _ => Ok(whole),
    }
}

fn draft_person(mut row: Row) -> Result<(DraftId, Result<Recipient, Unreached>), Stop> {
    let (draft, address) = (row.take(0)?, row.take(1)?);
    let person = match row.take::<Option<String>>(4)? {
        None => Ok(Recipient { contact: row.take(2)?, address, name: row.take(3)? }),
        Some(reason) => Err(Unreached { address, reason }),
    };
    Ok((draft, person))
}

/// What a draft of the account would do, as it was previewed.
pub(in crate::messages) fn preview(
    tx: &mut Tx<'_, impl Tool>,
    me: &Card,
    draft: &DraftId,
) -> Result<Option<Preview>, Stop> {
    Ok(drafts(tx, me, draft, draft)?.into_iter().next().map(|draft| draft.preview))
}

const DRAFT: Select =
    Select::new("SELECT thread, subject, body, asks, context FROM drafts WHERE id = ?1 AND account = ?2");

/// An open draft of the account: the thread it replies to, and its content.
pub(in crate::messages) fn draft(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    draft: &DraftId,
) -> Result<Option<(Option<ThreadId>, Content)>, Stop> {
    let rows = tx.select(&DRAFT, &[draft.into(), account.into()])?;
    let whole = |mut row: Row| {
        let content =
            Content { subject: row.take(1)?, body: row.take(2)?, asks: row.take(3)?, context: row.take(4)? };
        Ok((row.take(0)?, content))
    };
    one(rows, whole)
}

const RECIPIENTS_OF_DRAFT: Select =
    Select::new("SELECT address FROM draft_people WHERE draft = ?1 AND reason IS NULL ORDER BY place");

/// Whom a draft was to reach when it was previewed.
pub(in crate::messages) fn recipients_of_draft(
    tx: &mut Tx<'_, impl Tool>,
    draft: &DraftId,
) -> Result<Vec<Address>, Stop> {
    let rows = tx.select(&RECIPIENTS_OF_DRAFT, &[draft.into()])?;
    rows.into_iter().map(|mut row| Ok(row.take(0)?)).collect()
}

/// What became of a draft.
pub(in crate::messages) struct Ended {
    pub at: Timestamp,
    /// The package and its thread, where it was sent.
    pub sent: Option<(PackageId, ThreadId)>,
}

const ENDED: Select =
    Select::new("SELECT at, package, thread FROM ended_drafts WHERE draft = ?1 AND account = ?2");

pub(in crate::messages) fn ended(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    draft: &DraftId,
) -> Result<Option<Ended>, Stop> {
    let rows = tx.select(&ENDED, &[draft.into(), account.into()])?;
    let ended = |mut row: Row| {
        let package: Option<PackageId> = row.take(1)?;
        let thread: Option<ThreadId> = row.take(2)?;
        Ok(Ended { at: row.take(0)?, sent: package.zip(thread) })
    };
    one(rows, ended)
}

const REMOVE_DRAFT: Remove = Remove::new("DELETE FROM drafts WHERE id = ?1 AND account = ?2");
const REMOVE_DRAFT_PEOPLE: Remove = Remove::new("DELETE FROM draft_people WHERE draft = ?1");

/// Takes a draft of the account away; false where there is none.
pub(in crate::messages) fn remove_draft(
    tx: &mut Tx<'_, impl May<Removes>>,
    account: &str,
    draft: &DraftId,
) -> Result<bool, Stop> {
    let removed = tx.remove(&REMOVE_DRAFT, &[draft.into(), account.into()])? > 0;
    if removed {
        tx.remove(&REMOVE_DRAFT_PEOPLE, &[draft.into()])?;
    }
    Ok(removed)
}

const INSERT_ENDED: Write =
    Write::new("INSERT INTO ended_drafts (draft, account, at, package, thread) VALUES (?1, ?2, ?3, ?4, ?5)");

/// Leaves the tombstone of a draft.
pub(in crate::messages) fn insert_ended(
    tx: &mut Tx<'_, impl May<Writes>>,
    account: &str,
    draft: &DraftId,
    sent: Option<(&PackageId, &ThreadId)>,
) -> Result<u64, Stop> {
    let (package, thread) = sent.unzip();
    let now = tx.now().into();
    tx.write(&INSERT_ENDED, &[draft.into(), account.into(), now, package.into(), thread.into()])
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::store::plan::reads_a_range;

    #[test]
    fn drafts_are_read_by_ranges_of_indexes() {
        for statement in [&DRAFT_SIZES, &DRAFTS, &DRAFT_PEOPLE, &DRAFT, &RECIPIENTS_OF_DRAFT, &ENDED] {
            reads_a_range(statement.statement());
        }
    }
}

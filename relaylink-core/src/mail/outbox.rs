//! All SQL over the outbox.
//!
//! A row that waits is looked at again when it is `due`. While an attempt runs it bears the
//! `lease` of that attempt, and `due` is when the attempt is given up: so that an attempt begins is
//! durable before it does.

use super::{Letter, LetterId, LetterState, Listed, Posted, Trouble, one_line};
use crate::{
    relay::{
        Address, Call, Timestamp, Tx,
        limits::{MAIL_BODY_MAX, MAIL_SUBJECT_MAX},
    },
    store::{OutboxRead, OutboxWrite, Row, Session, StoreError, Value, one},
    tool::{Code, Refusal, Stop, Tool},
};

const QUEUE: OutboxWrite = OutboxWrite::new(
    "INSERT INTO outbox (id, account, about, recipient, address, subject, body, message_id, created, due, attempts, state) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 0, 'waiting')",
);

const ABOUT: OutboxRead = OutboxRead::new(
    "SELECT id, recipient, state, settled FROM outbox WHERE account = ?1 AND about = ?2 ORDER BY id",
);

const NEXT: OutboxRead = OutboxRead::new("SELECT MIN(due) FROM outbox WHERE state = 'waiting'");

const PARK: OutboxWrite = OutboxWrite::new(
    "UPDATE outbox SET state = 'unknown', settled = ?1, trouble = ?2, detail = ?3 \
     WHERE state = 'waiting' AND lease IS NOT NULL AND due <= ?1 RETURNING id",
);

const CLAIM: OutboxWrite = OutboxWrite::new(
    "UPDATE outbox SET lease = ?1, due = ?2, attempts = attempts + 1 \
     WHERE state = 'waiting' AND lease IS NULL AND id IN \
     (SELECT id FROM outbox WHERE state = 'waiting' AND lease IS NULL AND due <= ?3 ORDER BY due, id LIMIT ?4) \
     RETURNING id, attempts, address, subject, body, message_id, created",
);

const RELEASE: OutboxWrite = OutboxWrite::new(
    "UPDATE outbox SET lease = NULL, due = ?1, attempts = attempts - 1 WHERE state = 'waiting' AND lease = ?2",
);

const RECORD: OutboxWrite = OutboxWrite::new(
    "UPDATE outbox SET state = ?1, due = ?2, settled = ?3, trouble = ?4, detail = ?5, lease = NULL \
     WHERE id = ?6 AND lease = ?7",
);

const RESEND: OutboxWrite = OutboxWrite::new(
    "UPDATE outbox SET state = 'waiting', due = ?1, settled = NULL, lease = NULL \
     WHERE id = ?2 AND state IN ('unknown', 'failed')",
);

const STATE: OutboxRead = OutboxRead::new("SELECT state FROM outbox WHERE id = ?1");

const LIST: OutboxRead = OutboxRead::new(
    "SELECT id, account, about, address, subject, message_id, created, due, attempts, state, settled, trouble, detail \
     FROM outbox WHERE id > ?1 ORDER BY id LIMIT ?2",
);

const LIST_IN_STATE: OutboxRead = OutboxRead::new(
    "SELECT id, account, about, address, subject, message_id, created, due, attempts, state, settled, trouble, detail \
     FROM outbox WHERE state = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
);

/// Puts a letter in the outbox, in the transaction of the call that sends it.
pub(crate) fn queue(
    session: &mut dyn Session,
    call: &Call,
    id: &LetterId,
    letter: Letter,
) -> Result<(), Stop> {
    let body = storable(&letter.body);
    if body.len() > MAIL_BODY_MAX {
        return Err(Refusal::new(
            Code::QuotaExceeded,
            format!("The text would make a mail of more than {MAIL_BODY_MAX} bytes."),
        )
        .hint("Shorten it.")
        .into());
    }
    if [Some(&letter.about), letter.recipient.as_ref()].into_iter().flatten().any(|id| is_no_id(id)) {
        let message = "What a letter is about, and whom it is for, are ids: neither holds a NUL character.";
        return Err(Stop::refuse(Code::InvalidArgument, message));
    }
    session.execute(
        QUEUE.statement(),
        &[
            id.into(),
            (&*call.caller.account).into(),
            letter.about.into(),
            letter.recipient.into(),
            (&letter.to).into(),
            one_line(&letter.subject, MAIL_SUBJECT_MAX).into(),
            body.into(),
            call.post.message_id(id).into(),
            call.now.into(),
        ],
    )?;
    Ok(())
}

/// Whether an engine may not take this for an id: PostgreSQL takes no NUL in a text.
fn is_no_id(text: &str) -> bool {
    text.contains('\0')
}

/// All letters that the caller's account queued about the thing with this id, oldest first.
pub(crate) fn posted(tx: &mut Tx<'_, impl Tool>, about: &str) -> Result<Vec<Posted>, Stop> {
    if is_no_id(about) {
        return Ok(Vec::new());
    }
    let parameters: [Value; 2] = [tx.account().into(), about.into()];
    let rows = tx.reading().outbox(&ABOUT, &parameters)?;
    let letters = rows.into_iter().map(|mut row| {
        Ok(Posted { id: row.take(0)?, recipient: row.take(1)?, state: row.take(2)?, settled: row.take(3)? })
    });
    letters.collect()
}

/// A letter whose attempt has begun, under the lease of its claim.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) id: LetterId,
    pub(super) attempt: u32,
    pub(super) to: Address,
    pub(super) subject: String,
    pub(super) body: String,
    pub(super) message_id: String,
    pub(super) created: Timestamp,
}

/// When something is to be looked at next: to be sent, or to be given up.
pub(super) fn next(session: &mut dyn Session) -> Result<Option<Timestamp>, StoreError> {
    Ok(one(session.query(NEXT.statement(), &[])?, |mut row| row.take(0))?.flatten())
}

/// Parks the attempts whose lease is over: nobody knows how they ended.
pub(super) fn park(session: &mut dyn Session, now: Timestamp) -> Result<Vec<LetterId>, StoreError> {
    let detail = "the program ended, or lost its store, while the letter was being sent";
    let rows =
        session.query(PARK.statement(), &[now.into(), Trouble::NoAnswer.as_str().into(), detail.into()])?;
    rows.into_iter().map(|mut row| row.take(0)).collect()
}

/// Begins an attempt at each of at most `limit` letters that are due, under `lease` until `until`.
pub(super) fn claim(
    session: &mut dyn Session,
    lease: &str,
    now: Timestamp,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<Claimed>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = session.query(CLAIM.statement(), &[lease.into(), until.into(), now.into(), limit.into()])?;
    let mut letters = Vec::with_capacity(rows.len());
    for row in rows {
        match claimed(row) {
            Ok(letter) => letters.push(letter),
            // It delays no other, and is shown as unknown once its lease is over.
            Err(error) => tracing::error!(%error, "a letter cannot be read"),
        }
    }
    letters.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    Ok(letters)
}

fn claimed(mut row: Row) -> Result<Claimed, StoreError> {
    Ok(Claimed {
        id: row.take(0)?,
        attempt: count(&mut row, 1)?,
        to: row.take(2)?,
        subject: row.take(3)?,
        body: row.take(4)?,
        message_id: row.take(5)?,
        created: row.take(6)?,
    })
}

/// Takes back a claim that nobody acted on.
pub(super) fn release(session: &mut dyn Session, lease: &str, now: Timestamp) -> Result<u64, StoreError> {
    session.execute(RELEASE.statement(), &[now.into(), lease.into()])
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) state: LetterState,
    /// When to try again, where it waits.
    pub(super) due: Timestamp,
    pub(super) settled: Option<Timestamp>,
    pub(super) trouble: Option<Trouble>,
    pub(super) detail: Option<String>,
}

/// Writes down how an attempt ended; false where its lease is no more.
pub(super) fn record(
    session: &mut dyn Session,
    id: &LetterId,
    lease: &str,
    ending: &Ending,
) -> Result<bool, StoreError> {
    let changed = session.execute(
        RECORD.statement(),
        &[
            ending.state.into(),
            ending.due.into(),
            ending.settled.into(),
            ending.trouble.map(Trouble::as_str).into(),
            ending.detail.clone().into(),
            id.into(),
            lease.into(),
        ],
    )?;
    Ok(changed == 1)
}

/// Queues a letter again, or says in what state it is; nothing where there is none.
pub(super) fn resend(
    session: &mut dyn Session,
    id: &LetterId,
    now: Timestamp,
) -> Result<(bool, Option<LetterState>), StoreError> {
    let changed = session.execute(RESEND.statement(), &[now.into(), id.into()])?;
    let state = one(session.query(STATE.statement(), &[id.into()])?, |mut row| row.take(0))?;
    Ok((changed == 1, state))
}

/// Letters after the one with this id, oldest first.
pub(super) fn list(
    session: &mut dyn Session,
    state: Option<LetterState>,
    after: &str,
    limit: u32,
) -> Result<Vec<Listed>, StoreError> {
    let rows = match state {
        Some(state) => {
            session.query(LIST_IN_STATE.statement(), &[state.into(), after.into(), limit.into()])?
        }
        None => session.query(LIST.statement(), &[after.into(), limit.into()])?,
    };
    rows.into_iter().map(listed).collect()
}

fn listed(mut row: Row) -> Result<Listed, StoreError> {
    Ok(Listed {
        id: row.take(0)?,
        account: row.take(1)?,
        about: row.take(2)?,
        to: row.take(3)?,
        subject: row.take(4)?,
        message_id: row.take(5)?,
        created: row.take(6)?,
        due: row.take(7)?,
        attempts: count(&mut row, 8)?,
        state: row.take(9)?,
        settled: row.take(10)?,
        trouble: row.take(11)?,
        detail: row.take(12)?,
    })
}

fn count(row: &mut Row, column: usize) -> Result<u32, StoreError> {
    Ok(u32::try_from(row.take::<i64>(column)?).unwrap_or(u32::MAX))
}

/// A text with one kind of line end, and without the characters that no mail and no PostgreSQL text holds.
fn storable(body: &str) -> String {
    let mut text = String::with_capacity(body.len());
    let mut after_cr = false;
    for c in body.chars() {
        match c {
            '\r' => text.push('\n'),
            '\n' if after_cr => {}
            '\n' | '\t' => text.push(c),
            _ if c.is_control() => text.push('\u{fffd}'),
            _ => text.push(c),
        }
        after_cr = c == '\r';
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_one_kind_and_control_characters_show_as_such() {
        assert_eq!(storable("a\r\nb\rc\nd\r\r\ne"), "a\nb\nc\nd\n\ne");
        assert_eq!(storable("tab\there\0\u{1b}"), "tab\there\u{fffd}\u{fffd}");
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod reads {
    use std::sync::Arc;

    use crate::{
        mail::{Answer, Courier, Letter, MemoryMailer, Post, posted},
        prelude::*,
        relay::{Relay, SystemClock},
        store::{Store, sqlite::Sqlite},
        tool::Caller,
    };

    /// Mails two people about one thing.
    #[derive(Tool, Deserialize, JsonSchema)]
    #[tool(effects(ExternalMail))]
    struct MailsTwo {
        /// What about.
        about: String,
    }

    #[derive(Serialize, JsonSchema)]
    struct Done {}

    impl Run for MailsTwo {
        type Reply = Done;

        fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
            for name in ["ben", "cleo"] {
                let to = format!("{name}@example.org")
                    .parse()
                    .map_err(|_| Stop::refuse(Code::InvalidArgument, "no address"))?;
                tx.mail(Letter::new(to, "Hello", "text", &self.about).recipient(format!("acc_{name}")))?;
            }
            Ok(Done {})
        }
    }

    /// Reads the state of the mail about a thing.
    #[derive(Tool, Deserialize, JsonSchema)]
    #[tool(hints(read_only, closed_world))]
    struct ReadsState {
        /// What about.
        about: String,
    }

    impl Run for ReadsState {
        type Reply = Vec<(String, String, bool)>;

        fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Self::Reply, Stop> {
            let letters = posted(tx, &self.about)?.into_iter().map(|letter| {
                let recipient = letter.recipient.unwrap_or_default();
                (recipient, letter.state.as_str().to_owned(), letter.settled.is_some())
            });
            Ok(letters.collect())
        }
    }

    #[tokio::test]
    async fn a_room_sees_the_state_of_its_own_accounts_letters_about_a_thing() {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(folder.path().join("relay.db")).unwrap());
        let relay = Relay::builder(Arc::clone(&store)).tool::<MailsTwo>().build().unwrap();
        let (ana, dora) = (Caller::local("acc_ana"), Caller::local("acc_dora"));
        let state = async |caller, about: &str| {
            let rows = relay.run(caller, ReadsState { about: about.into() }).await.unwrap();
            rows.into_iter().map(|(who, state, over)| format!("{who} {state} {over}")).collect::<Vec<_>>()
        };
        relay.run(&ana, MailsTwo { about: "pkg_1".into() }).await.unwrap();
        assert_eq!(state(&ana, "pkg_1").await, ["acc_ben waiting false", "acc_cleo waiting false"]);
        assert!(state(&ana, "pkg_2").await.is_empty());
        assert!(state(&dora, "pkg_1").await.is_empty(), "another account's letters are not to be seen");

        let mailer = MemoryMailer::new();
        mailer.answer(&"cleo@example.org".parse().unwrap(), [Answer::Permanent]);
        Courier::new(store, Arc::new(mailer), Arc::new(SystemClock), Post::default()).drain().await.unwrap();
        assert_eq!(state(&ana, "pkg_1").await, ["acc_ben sent true", "acc_cleo failed true"]);
    }
}

//! All SQL over the outbox.
//!
//! A row that waits is looked at again when it is `due`. While an attempt runs it bears the
//! `lease` of that attempt, and `due` is when the attempt is given up: so whether an attempt has
//! begun is durable before it begins.

use super::{Letter, LetterId, Posted, one_line};
use crate::{
    relay::{Call, Tx, limits::MAIL_BODY_MAX},
    store::{OutboxRead, OutboxWrite, Session, Value},
    tool::{Code, Refusal, Stop, Tool},
};

const QUEUE: OutboxWrite = OutboxWrite::new(
    "INSERT INTO outbox (id, account, about, recipient, address, subject, body, message_id, created, due, attempts, state) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 0, 'waiting')",
);

const ABOUT: OutboxRead = OutboxRead::new(
    "SELECT id, recipient, state, settled FROM outbox WHERE account = ?1 AND about = ?2 ORDER BY id",
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
    session.execute(
        QUEUE.statement(),
        &[
            id.into(),
            (&*call.caller.account).into(),
            letter.about.into(),
            letter.recipient.into(),
            (&letter.to).into(),
            one_line(&letter.subject).into(),
            body.into(),
            call.post.message_id(id).into(),
            call.now.into(),
        ],
    )?;
    Ok(())
}

/// All letters that the caller's account queued about the thing with this id, oldest first.
pub(crate) fn posted(tx: &mut Tx<'_, impl Tool>, about: &str) -> Result<Vec<Posted>, Stop> {
    let parameters: [Value; 2] = [tx.account().into(), about.into()];
    let rows = tx.reading().query(ABOUT.statement(), &parameters)?;
    let letters = rows.into_iter().map(|mut row| {
        Ok(Posted { id: row.take(0)?, recipient: row.take(1)?, state: row.take(2)?, settled: row.take(3)? })
    });
    letters.collect()
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

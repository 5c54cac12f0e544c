use std::{panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use futures_util::{
    FutureExt as _,
    future::{self, Either},
};
use tokio::sync::watch;

use super::{
    LetterState, Message, Pace, SendError, Trouble,
    courier::Inner,
    one_line,
    outbox::{self, Claimed, Ending},
    work::transact,
};
use crate::{
    relay::{
        Timestamp,
        limits::{MAIL_ANSWER_MAX, MAIL_RECORD_AGAIN_MS, MAIL_RECORDS_MAX},
    },
    store::{Access, Session, StoreError},
};

/// Sends one letter and writes down how that ended. Its attempt has begun already.
pub(super) async fn attempt(
    inner: Arc<Inner>,
    lease: String,
    letter: Claimed,
    mut stop: watch::Receiver<bool>,
) -> LetterState {
    let message = Message {
        message_id: letter.message_id,
        attempt: letter.attempt,
        from_name: inner.post.name().to_owned(),
        from: inner.post.from().clone(),
        to: letter.to,
        subject: letter.subject,
        body: letter.body,
        date: letter.created,
    };
    let result = send(&inner, &message, &mut stop).await;
    let ending = ending(result, inner.clock.now(), message.attempt, &inner.pace);
    let state = ending.state;
    if let Some(trouble) = ending.trouble {
        let (trouble, detail) = (trouble.as_str(), ending.detail.as_deref().unwrap_or_default());
        tracing::warn!(letter = %letter.id, attempt = message.attempt, trouble, detail, "a letter did not go");
    }
    for again in 0..MAIL_RECORDS_MAX {
        let (id, lease, ending) = (letter.id.clone(), lease.clone(), ending.clone());
        let work = move |session: &mut dyn Session| outbox::record(session, &id, &lease, &ending);
        match transact(&*inner.store, Access::MAILS, work).await {
            Ok(_) => return state,
            Err(error) => {
                tracing::warn!(letter = %letter.id, %error, "how an attempt ended could not be written down");
                if error == StoreError::Closed {
                    break;
                }
                let wait = Duration::from_millis(MAIL_RECORD_AGAIN_MS << again);
                tokio::time::sleep(wait).await;
            }
        }
    }
    LetterState::Unknown
}

async fn send(inner: &Inner, message: &Message, stop: &mut watch::Receiver<bool>) -> Result<(), SendError> {
    let sending = AssertUnwindSafe(async { inner.mailer.send(message).await }).catch_unwind();
    let sending = tokio::time::timeout(inner.pace.send_timeout, sending);
    let stopped = stop.wait_for(|stop| *stop);
    match future::select(pin!(sending), pin!(stopped)).await {
        Either::Left((Ok(Ok(result)), _)) => result,
        Either::Left((Ok(Err(_)), _)) => Err(SendError::Unknown("the mailer panicked".into())),
        Either::Left((Err(_), _)) => {
            let seconds = inner.pace.send_timeout.as_secs_f64();
            Err(SendError::Unknown(format!("the mailer did not answer in {seconds} seconds")))
        }
        Either::Right(_) => Err(SendError::Unknown("the program ended before the mailer answered".into())),
    }
}

/// What an attempt's result makes of the letter.
fn ending(result: Result<(), SendError>, now: Timestamp, attempt: u32, pace: &Pace) -> Ending {
    let (state, due, trouble, detail) = match result {
        Ok(()) => (LetterState::Sent, now, None, None),
        Err(SendError::Permanent(why)) => (LetterState::Failed, now, Some(Trouble::Permanent), Some(why)),
        Err(SendError::Unknown(why)) => (LetterState::Unknown, now, Some(Trouble::NoAnswer), Some(why)),
        Err(SendError::Temporary(why)) => match pace.retry_at(now, attempt) {
            Some(due) => (LetterState::Waiting, due, Some(Trouble::Temporary), Some(why)),
            None => (LetterState::Failed, now, Some(Trouble::Temporary), Some(why)),
        },
    };
    Ending {
        state,
        due,
        settled: (state != LetterState::Waiting).then_some(now),
        trouble,
        detail: detail.map(|why| one_line(&why, MAIL_ANSWER_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_result_has_its_state() {
        let now = Timestamp::from_millis(1_000);
        let pace = Pace { attempts_max: 3, retry_first: Duration::from_secs(1), ..Pace::default() };
        let of = |result, attempt| {
            let ending = ending(result, now, attempt, &pace);
            (ending.state, ending.due.as_millis(), ending.settled.is_some())
        };
        let temporary = || Err(SendError::Temporary("451".into()));
        assert_eq!(of(Ok(()), 1), (LetterState::Sent, 1_000, true));
        assert_eq!(of(temporary(), 1), (LetterState::Waiting, 2_000, false));
        assert_eq!(of(temporary(), 2), (LetterState::Waiting, 3_000, false));
        assert_eq!(of(temporary(), 3), (LetterState::Failed, 1_000, true));
        assert_eq!(of(Err(SendError::Permanent("550".into())), 1), (LetterState::Failed, 1_000, true));
        assert_eq!(of(Err(SendError::Unknown("closed".into())), 1), (LetterState::Unknown, 1_000, true));
    }

    #[test]
    fn what_a_server_answers_is_kept_on_one_line_and_cut() {
        let answer = format!("550 no\r\n{}", "x".repeat(5_000));
        let ending =
            ending(Err(SendError::Permanent(answer)), Timestamp::from_millis(0), 1, &Pace::default());
        let detail = ending.detail.unwrap();
        assert!(detail.starts_with("550 no xxx") && detail.chars().count() == MAIL_ANSWER_MAX);
    }
}

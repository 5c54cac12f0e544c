use std::sync::Arc;

use super::{LetterId, LetterState, Post, outbox, work::transact};
use crate::{
    relay::{Address, Clock, Timestamp, limits::PAGE_MAX},
    store::{Access, FromValue, Store, StoreError, Value},
};

/// The outbox in the hands of whoever runs the server: all letters of all accounts, and the
/// telling of the courier to send one again.
#[derive(Clone)]
pub struct Outbox {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    post: Post,
}

/// What kept a letter from going at its last attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trouble {
    /// It could not go then.
    Temporary,
    /// It was refused for good.
    Permanent,
    /// Nobody knows whether it has gone.
    NoAnswer,
}

impl Trouble {
    const ALL: [Self; 3] = [Self::Temporary, Self::Permanent, Self::NoAnswer];

    /// The trouble as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Temporary => "temporary",
            Self::Permanent => "permanent",
            Self::NoAnswer => "no_answer",
        }
    }
}

impl FromValue for Trouble {
    fn from_value(value: Value) -> Result<Self, StoreError> {
        let text = String::from_value(value)?;
        Self::ALL
            .into_iter()
            .find(|trouble| trouble.as_str() == text)
            .ok_or_else(|| StoreError::Shape(format!("`{text}` is no trouble of a letter")))
    }
}

/// A letter as the operator sees it: without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Its id.
    pub id: LetterId,
    /// The account that queued it.
    pub account: String,
    /// The id of what it is about.
    pub about: String,
    /// Where it goes.
    pub to: Address,
    /// Its subject.
    pub subject: String,
    /// Its Message-ID, angle brackets and all.
    pub message_id: String,
    /// When it was queued.
    pub created: Timestamp,
    /// Where it waits: when it is tried next, or, while it is being sent, when that is given up.
    pub due: Timestamp,
    /// Attempts begun.
    pub attempts: u32,
    /// What has become of it.
    pub state: LetterState,
    /// When it came into that state; nothing while it waits.
    pub settled: Option<Timestamp>,
    /// What went wrong at the last attempt.
    pub trouble: Option<Trouble>,
    /// The same in the mail server's words, or ours.
    pub detail: Option<String>,
}

/// Why the outbox did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutboxError {
    /// There is no such letter.
    #[error("there is no letter {0}")]
    NotFound(LetterId),
    /// It has been sent, or is going to be.
    #[error("the letter {0} is {state}: only one that failed or is unknown is sent again", state = .1.as_str())]
    NotOver(LetterId, LetterState),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Outbox {
    /// The outbox of this store. With the Relay's and the courier's [`Post`], a letter that is
    /// sent again goes at once.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, post: Post) -> Self {
        Self { store, clock, post }
    }

    /// At most `limit` letters (and at most [`PAGE_MAX`]), oldest first, from behind `after`;
    /// those in `state`, or all.
    pub async fn list(
        &self,
        state: Option<LetterState>,
        after: Option<&LetterId>,
        limit: u32,
    ) -> Result<Vec<Listed>, OutboxError> {
        let after = after.map(|id| id.as_str().to_owned()).unwrap_or_default();
        let limit = limit.min(PAGE_MAX);
        let work = move |session: &mut dyn crate::store::Session| outbox::list(session, state, &after, limit);
        Ok(transact(&*self.store, Access::READ, work).await?)
    }

    /// Sends a letter again that failed, or of which nobody knows whether it has gone: under the
    /// same Message-ID, so that a mailbox that has it already can tell.
    pub async fn resend(&self, id: &LetterId) -> Result<(), OutboxError> {
        let now = self.clock.now();
        let letter = id.clone();
        let work = move |session: &mut dyn crate::store::Session| outbox::resend(session, &letter, now);
        match transact(&*self.store, Access::MAILS, work).await? {
            (true, _) => {
                self.post.ring();
                Ok(())
            }
            (false, Some(state)) => Err(OutboxError::NotOver(id.clone(), state)),
            (false, None) => Err(OutboxError::NotFound(id.clone())),
        }
    }
}

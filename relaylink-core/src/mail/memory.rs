use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;

use super::{Mailer, Message, SendError};
use crate::relay::Address;

/// Keeps mail in memory and counts attempts: for tests. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct MemoryMailer(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    attempts: Vec<Message>,
    sent: Vec<Message>,
    answers: HashMap<String, VecDeque<Answer>>,
    delay: Duration,
}

/// How the [`MemoryMailer`] answers an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// It takes the message.
    Take,
    /// [`SendError::Temporary`].
    Temporary,
    /// [`SendError::Permanent`].
    Permanent,
    /// It takes the message and answers [`SendError::Unknown`].
    Unknown,
    /// It takes the message and never answers.
    Stall,
    /// It panics.
    Panic,
}

impl MemoryMailer {
    /// One that takes everything at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers the next attempts to this address so, one each; those after them are taken.
    pub fn answer(&self, to: &Address, answers: impl IntoIterator<Item = Answer>) {
        self.kept().answers.entry(to.key()).or_default().extend(answers);
    }

    /// Takes this long over each attempt from now on.
    pub fn delay(&self, delay: Duration) {
        self.kept().delay = delay;
    }

    /// Every attempt that was begun, in order.
    pub fn attempts(&self) -> Vec<Message> {
        self.kept().attempts.clone()
    }

    /// How many attempts were begun with this Message-ID.
    pub fn attempts_of(&self, message_id: &str) -> usize {
        self.kept().attempts.iter().filter(|message| message.message_id == message_id).count()
    }

    /// Every message that was taken, in order, whether or not the sender was told.
    pub fn sent(&self) -> Vec<Message> {
        self.kept().sent.clone()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Mailer for MemoryMailer {
    async fn send(&self, message: &Message) -> Result<(), SendError> {
        message.to_rfc5322()?;
        let (answer, delay) = {
            let mut kept = self.kept();
            kept.attempts.push(message.clone());
            let answers = kept.answers.get_mut(&message.to.key());
            (answers.and_then(VecDeque::pop_front).unwrap_or(Answer::Take), kept.delay)
        };
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if matches!(answer, Answer::Take | Answer::Unknown | Answer::Stall) {
            self.kept().sent.push(message.clone());
        }
        match answer {
            Answer::Take => Ok(()),
            Answer::Temporary => Err(SendError::Temporary("451 try again later".into())),
            Answer::Permanent => Err(SendError::Permanent("550 no such person".into())),
            Answer::Unknown => Err(SendError::Unknown("the connection closed before the answer".into())),
            Answer::Stall => std::future::pending().await,
            Answer::Panic => panic!("told to"),
        }
    }
}

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    relay::{Address, Timestamp, ids, is_hidden},
    store::{FromValue, StoreError, Value},
};

ids! {
    /// A letter in the outbox.
    LetterId: "mal";
}

/// A letter to one address.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Letter {
    /// Where it goes.
    pub to: Address,
    /// Its subject. Made one line and cut to [`MAIL_SUBJECT_MAX`](crate::relay::limits::MAIL_SUBJECT_MAX) characters when it is queued.
    pub subject: String,
    /// Its text.
    pub body: String,
    /// What it is about, for showing its state: the id of a package, an invitation, a key.
    pub about: String,
    /// Whom it is for among those who get one about the same thing: an id of the room that queues it.
    pub recipient: Option<String>,
}

impl Letter {
    /// A letter about the thing with this id.
    pub fn new(
        to: Address,
        subject: impl Into<String>,
        body: impl Into<String>,
        about: impl Into<String>,
    ) -> Self {
        Self { to, subject: subject.into(), body: body.into(), about: about.into(), recipient: None }
    }

    /// Says whom it is for among those who get one about the same thing.
    #[must_use]
    pub fn recipient(mut self, recipient: impl Into<String>) -> Self {
        self.recipient = Some(recipient.into());
        self
    }
}

/// What has become of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LetterState {
    /// It waits for its turn, is being sent, or is tried again later.
    Waiting,
    /// The mail server has taken it.
    Sent,
    /// It was refused for good, or tried until it was too late.
    Failed,
    /// An attempt ended without an answer: it may have gone or not. It is not tried again unless told.
    Unknown,
}

impl LetterState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Sent, Self::Failed, Self::Unknown];

    /// The state as it is written, on the wire and in a row.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

impl From<LetterState> for Value {
    fn from(state: LetterState) -> Self {
        state.as_str().into()
    }
}

impl FromValue for LetterState {
    fn from_value(value: Value) -> Result<Self, StoreError> {
        let text = String::from_value(value)?;
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| StoreError::Shape(format!("`{text}` is no state of a letter")))
    }
}

/// A letter as the room that queued it sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Posted {
    /// Its id.
    pub id: LetterId,
    /// [`Letter::recipient`].
    pub recipient: Option<String>,
    /// What has become of it.
    pub state: LetterState,
    /// When it came into that state; nothing while it waits.
    pub settled: Option<Timestamp>,
}

/// A text as one line of a header: what cannot be in one becomes a space, and what is
/// beyond `max` characters is cut off.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let shown: String = text.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect();
    let mut line = String::with_capacity(shown.len());
    for word in shown.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if let Some((end, _)) = line.char_indices().nth(max) {
        line.truncate(end - line[..end].chars().next_back().map_or(0, char::len_utf8));
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_one_line_whatever_is_in_it() {
        for end in ["\r\n", "\n", "\r", "\u{2028}", "\u{2029}", "\0", "\u{85}", "\u{b}", "\u{c}", "\u{202e}"]
        {
            assert_eq!(one_line(&format!("Hello{end}Bcc: x@evil.example"), 99), "Hello Bcc: x@evil.example");
        }
        assert_eq!(one_line("  a \t b  ", 99), "a b");
        assert_eq!(one_line("\r\n", 99), "");
    }

    #[test]
    fn a_subject_is_cut_at_its_limit() {
        assert_eq!(one_line("жжжж", 4), "жжжж");
        assert_eq!(one_line("жжжжж", 4), "жжж…");
    }

    #[test]
    fn a_state_reads_back_as_it_is_written() {
        for state in LetterState::ALL {
            assert_eq!(LetterState::from_value(state.into()), Ok(state));
        }
        assert!(LetterState::from_value("gone".into()).is_err());
    }
}

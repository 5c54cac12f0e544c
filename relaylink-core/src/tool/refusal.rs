use serde::Serialize;

use crate::store::StoreError;

/// The kind of a refusal, as clients see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// An argument is missing, malformed or out of bounds.
    InvalidArgument,
    /// There is no such thing, or it is not the caller's to see.
    NotFound,
    /// The state of the thing does not allow this.
    Conflict,
    /// What the call rests on has changed since.
    Stale,
    /// The caller may not do this.
    NotPermitted,
    /// The caller has blocked the person named.
    Blocked,
    /// It is too late.
    Expired,
    /// A limit is reached.
    QuotaExceeded,
    /// It cannot be done now.
    Unavailable,
}

/// Why a call was not carried out, in words for a model and a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refusal {
    /// Its kind.
    pub code: Code,
    /// What was wrong.
    pub message: String,
    /// The argument it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether what the tool wrote before it refused is kept.
    #[serde(skip)]
    pub keep: bool,
}

impl Refusal {
    /// A refusal that leaves everything as it was.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None, hint: None, keep: false }
    }

    /// Names the argument it is about.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Keeps what the tool wrote before it refused.
    #[must_use]
    pub fn keep(mut self) -> Self {
        self.keep = true;
        self
    }
}

/// Why a tool stopped.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// It refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Stop {
    /// A refusal of this kind with this message.
    pub fn refuse(code: Code, message: impl Into<String>) -> Self {
        Self::Refused(Refusal::new(code, message))
    }

    /// The refusal a client is shown: a fault of the storage is `unavailable`, without its details.
    pub fn into_refusal(self) -> Refusal {
        match self {
            Self::Refused(refusal) => refusal,
            Self::Store(error) => error.into_refusal(),
        }
    }
}

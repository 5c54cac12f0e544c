use crate::tool::{Code, Refusal};

/// What went wrong in a store. Its text is for the operator's log; a client is told less.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The statement does what the transaction's access does not cover.
    #[error("the statement {0}, which this transaction may not do")]
    Denied(&'static str),
    /// A constraint of the schema was broken.
    #[error("a constraint was broken: {0}")]
    Constraint(String),
    /// The engine refused or failed.
    #[error("the storage engine failed: {0}")]
    Engine(String),
    /// A row was not of the shape its reader expected.
    #[error("a stored row is not of the expected shape: {0}")]
    Shape(String),
    /// Too much was waiting, or others held what it needs; nothing was stored.
    #[error("the store is too busy: {0}")]
    Busy(&'static str),
    /// The work itself took longer than one may; nothing was stored.
    #[error("the work took too long")]
    TooLong,
    /// The work panicked; nothing was stored.
    #[error("the work panicked")]
    Panicked,
    /// The answer is lost: the work may have landed or not.
    #[error("the store went away before it answered")]
    Unknown,
    /// The store is closed; nothing was stored.
    #[error("the store is closed")]
    Closed,
    /// The store's file or schema cannot be used by this program.
    #[error("{0}")]
    Unusable(String),
}

impl StoreError {
    /// What a client is told.
    pub(crate) fn into_refusal(self) -> Refusal {
        match self {
            Self::Unknown => Refusal::new(
                Code::Unavailable,
                "The answer was lost: the call may have been carried out or not.",
            )
            .hint("Look before you repeat."),
            Self::Busy(_) => Refusal::new(Code::Unavailable, "The server is busy; nothing was stored.")
                .hint("Try again in a moment."),
            Self::TooLong => {
                Refusal::new(Code::Unavailable, "The call took too long and was ended; nothing was stored.")
                    .hint("Ask for less at once.")
            }
            Self::Denied(what) => {
                tracing::error!(what, "a tool tried what its effects do not cover");
                Refusal::new(
                    Code::Unavailable,
                    "The tool tried something its effects do not cover; nothing was stored.",
                )
            }
            error => {
                tracing::error!(%error, "a call failed");
                Refusal::new(Code::Unavailable, "The server failed; nothing was stored.")
                    .hint("Try again later.")
            }
        }
    }
}

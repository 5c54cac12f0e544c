//! Mail that leaves: queued as rows in the tool's own transaction, sent by the courier after commit.
//!
//! A tool queues a [`Letter`] with [`Tx::mail`](crate::relay::Tx::mail). Nothing is sent inside a
//! transaction: the letter is a row of the outbox until its transaction has landed.

mod letter;
mod outbox;
mod post;

pub use letter::{Letter, LetterId, LetterState, Posted};
pub use post::Post;

pub(crate) use letter::one_line;
pub(crate) use outbox::{posted, queue};

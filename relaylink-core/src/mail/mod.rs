//! Mail that leaves: queued as rows in the tool's own transaction, sent by the courier after commit.
//!
//! A tool queues a [`Letter`] with [`Tx::mail`](crate::relay::Tx::mail). Nothing is sent inside a
//! transaction: the letter is a row of the outbox until its transaction has landed. A [`Courier`]
//! then hands it to a [`Mailer`], writes down what became of it, and [`Outbox`] shows that.

mod attempt;
mod courier;
mod directory;
mod letter;
mod mailer;
mod memory;
mod operator;
mod outbox;
mod pace;
mod post;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod upkeep;
mod work;

pub use courier::{Courier, CourierError, Tally};
pub use directory::DirectoryMailer;
pub use letter::{Letter, LetterId, LetterState, Posted};
pub use mailer::{Mailer, Message, SendError};
pub use memory::{Answer, MemoryMailer};
pub use operator::{Listed, Outbox, OutboxError, Trouble};
pub use pace::Pace;
pub use post::Post;

pub(crate) use letter::one_line;
pub(crate) use outbox::{posted, queue};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use upkeep::upkeep;

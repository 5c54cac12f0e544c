//! Messages: packages, the drafts they are made from, and threads.
//!
//! A package is a briefing from one account to others. It is drafted first and sent by a second
//! call; there is no call that does both. A draft never changes: what was previewed is what goes,
//! or nothing does.

mod acknowledge_package;
mod cancel_draft;
mod check_inbox;
mod confirm_send;
mod content;
mod draft_package;
mod get_package;
mod letters;
mod list_drafts;
mod preview;
mod rows;
mod rules;
mod thread_status;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod upkeep;

pub use acknowledge_package::{AcknowledgePackage, Acknowledged};
pub use cancel_draft::{CancelDraft, Cancelled};
pub use check_inbox::{CheckInbox, Head, Inbox};
pub use confirm_send::{ConfirmSend, Sent};
pub use content::Author;
pub use draft_package::DraftPackage;
pub use get_package::{GetPackage, Package};
pub use list_drafts::{Draft, Drafts, ListDrafts};
pub use preview::{Preview, Recipient, Unreached};
pub use thread_status::{PackageStatus, RecipientStatus, Status, ThreadStatus};

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use upkeep::upkeep;

use crate::relay::{Table, ids};

ids! {
    /// A package: a briefing that was sent.
    PackageId: "pkg";
    /// A thread of packages.
    ThreadId: "thr";
    /// A draft: a package that is not sent.
    DraftId: "drf";
}

/// The room's tools, in the order they are listed.
pub(crate) fn tools(table: Table) -> Table {
    table
        .room("messages")
        .also(&["essential"])
        .tool::<CheckInbox>()
        .tool::<ListDrafts>()
        .tool::<ThreadStatus>()
        .tool::<GetPackage>()
        .why("a first reading leaves a receipt, and the receipt is a write")
        .tool::<AcknowledgePackage>()
        .tool::<DraftPackage>()
        .tool::<ConfirmSend>()
        .tool::<CancelDraft>()
}

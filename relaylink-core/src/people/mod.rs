//! People: contacts, the requests that lead to them, and blocks.
//!
//! A contact is two rows, one for each side. A request is the asking side's row before it is
//! accepted; it holds the address that was asked, which need not have an account yet. Who may
//! reach whom is decided in one place, `rules::reach`, for previews and for sends alike.

mod accept_contact;
mod block_contact;
mod entry;
mod invite_contact;
mod letters;
mod list_contacts;
mod named;
mod rows;
mod rules;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod upkeep;
mod withdraw_invite;

pub use accept_contact::AcceptContact;
pub use block_contact::{BlockContact, Blocked};
pub use entry::{Contact, Entry, State};
pub use invite_contact::{InviteContact, Invited};
pub use list_contacts::{Contacts, ListContacts};
pub use withdraw_invite::{WithdrawInvite, Withdrawn};

pub(crate) use letters::in_a_letter;
pub(crate) use named::{Person, between, find};
pub(crate) use rules::Reach;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use upkeep::upkeep;

use crate::relay::{Table, ids};

ids! {
    /// A contact, or somebody who is blocked: a person as one account knows them.
    ContactId: "ctc";
    /// A request to become contacts.
    InviteId: "inv";
}

/// The room's tools, in the order they are listed.
pub(crate) fn tools(table: Table) -> Table {
    table
        .room("people")
        .also(&["essential"])
        .tool::<ListContacts>()
        .tool::<InviteContact>()
        .tool::<AcceptContact>()
        .tool::<WithdrawInvite>()
        .tool::<BlockContact>()
}

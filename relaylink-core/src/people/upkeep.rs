//! Rows of the room's tables that belong together without a foreign key.

use crate::store::{
    Select,
    upkeep::{Question, Rooms},
};

const INVITES_OF_NOBODY: Select = Select::new(
    "SELECT request FROM invites i WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = i.account)",
);
const UNCOUNTED: Select = Select::new(
    "SELECT id FROM contacts c WHERE request IS NOT NULL \
     AND NOT EXISTS (SELECT 1 FROM invites i WHERE i.request = c.request)",
);
// Both halves are made at once, and taken away at once.
const ONE_SIDED: Select = Select::new(
    "SELECT c.id FROM contacts c JOIN accounts a ON a.id = c.account WHERE c.accepted IS NOT NULL \
     AND NOT EXISTS (SELECT 1 FROM contacts o WHERE o.account = c.peer AND o.address_key = a.address_key \
     AND o.accepted IS NOT NULL AND o.peer = c.account)",
);

pub(crate) fn upkeep(rooms: Rooms) -> Rooms {
    rooms
        .question(Question::new("invites", "requests were made by no account", &INVITES_OF_NOBODY))
        .question(Question::new("contacts", "requests were never counted", &UNCOUNTED))
        .question(Question::new("contacts", "contacts are not the other's contact", &ONE_SIDED))
}

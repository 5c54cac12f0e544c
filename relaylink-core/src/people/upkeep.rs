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

pub(crate) fn upkeep(rooms: Rooms) -> Rooms {
    rooms
        .question(Question::new("invites", "requests were made by no account", &INVITES_OF_NOBODY))
        .question(Question::new("contacts", "requests were never counted", &UNCOUNTED))
}

//! Rows of the room's tables that belong together without a foreign key.

use crate::store::{
    Select,
    upkeep::{Question, Rooms},
};

const PEOPLE_OF_NO_DRAFT: Select = Select::new(
    "SELECT draft FROM draft_people p WHERE NOT EXISTS (SELECT 1 FROM drafts d WHERE d.id = p.draft)",
);
const OF_NOBODY: Select = Select::new(
    "SELECT id FROM drafts d WHERE NOT EXISTS (SELECT 1 FROM draft_people p WHERE p.draft = d.id)",
);
const ENDED_AND_OPEN: Select = Select::new("SELECT d.id FROM drafts d JOIN ended_drafts e ON e.draft = d.id");
const SENT_AS_NOTHING: Select = Select::new(
    "SELECT draft FROM ended_drafts e WHERE package IS NOT NULL \
     AND NOT EXISTS (SELECT 1 FROM packages p WHERE p.id = e.package)",
);
const TO_NOBODY: Select = Select::new(
    "SELECT id FROM packages p WHERE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.package = p.id)",
);
const FROM_NOBODY: Select = Select::new(
    "SELECT package FROM deliveries d WHERE NOT EXISTS \
     (SELECT 1 FROM packages p WHERE p.id = d.package AND p.sender = d.sender AND p.thread = d.thread)",
);
const RECEIPTS: Select = Select::new(
    "SELECT package FROM receipts r WHERE NOT EXISTS \
     (SELECT 1 FROM deliveries d WHERE d.package = r.package AND d.account = r.account)",
);
const ACKNOWLEDGEMENTS: Select = Select::new(
    "SELECT package FROM acknowledgements a WHERE NOT EXISTS \
     (SELECT 1 FROM deliveries d WHERE d.package = a.package AND d.account = a.account)",
);

pub(crate) fn upkeep(rooms: Rooms) -> Rooms {
    [
        ("draft_people", "people are named by a draft that is not there", &PEOPLE_OF_NO_DRAFT),
        ("drafts", "drafts name nobody", &OF_NOBODY),
        ("drafts", "drafts are there and were sent or cancelled", &ENDED_AND_OPEN),
        ("ended_drafts", "drafts were sent as a package that is not there", &SENT_AS_NOTHING),
        ("packages", "packages went to nobody", &TO_NOBODY),
        ("deliveries", "deliveries do not agree with their package about sender and thread", &FROM_NOBODY),
        ("receipts", "receipts are of what was not delivered", &RECEIPTS),
        ("acknowledgements", "acknowledgements are of what was not delivered", &ACKNOWLEDGEMENTS),
    ]
    .into_iter()
    .fold(rooms, |rooms, (about, says, statement)| rooms.question(Question::new(about, says, statement)))
}

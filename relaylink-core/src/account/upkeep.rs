//! Rows of the room's tables that belong together without a foreign key.

use crate::store::{
    Select,
    upkeep::{Question, Rooms},
};

const USE_OF_NO_KEY: Select =
    Select::new("SELECT key FROM key_use u WHERE NOT EXISTS (SELECT 1 FROM api_keys k WHERE k.id = u.key)");
const REVOKED_AND_OPEN: Select =
    Select::new("SELECT k.id FROM api_keys k JOIN key_hashes h ON h.key = k.id WHERE k.revoked IS NOT NULL");
// A key without a secret has nothing to show, and no hash.
const CLOSED: Select = Select::new(
    "SELECT id FROM api_keys k WHERE shown IS NOT NULL AND revoked IS NULL \
     AND NOT EXISTS (SELECT 1 FROM key_hashes h WHERE h.key = k.id)",
);

pub(crate) fn upkeep(rooms: Rooms) -> Rooms {
    [
        ("key_use", "uses are of no key", &USE_OF_NO_KEY),
        ("key_hashes", "keys are revoked and open the account still", &REVOKED_AND_OPEN),
        ("api_keys", "keys are not revoked and open nothing", &CLOSED),
    ]
    .into_iter()
    .fold(rooms, |rooms, (about, says, statement)| rooms.question(Question::new(about, says, statement)))
}

//! Rows of the room's tables that belong together without a foreign key.

use crate::store::{
    Select,
    upkeep::{Question, Rooms},
};

const USE_OF_NO_KEY: Select =
    Select::new("SELECT key FROM key_use u WHERE NOT EXISTS (SELECT 1 FROM api_keys k WHERE k.id = u.key)");
const REVOKED_AND_OPEN: Select =
    Select::new("SELECT k.id FROM api_keys k JOIN key_hashes h ON h.key = k.id WHERE k.revoked IS NOT NULL");

pub(crate) fn upkeep(rooms: Rooms) -> Rooms {
    rooms.question(Question::new("key_use", "uses are of no key", &USE_OF_NO_KEY)).question(Question::new(
        "key_hashes",
        "keys are revoked and open the account still",
        &REVOKED_AND_OPEN,
    ))
}

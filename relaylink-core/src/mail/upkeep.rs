//! What the outbox is asked when a store is checked.

use crate::{
    relay::limits::MAIL_OVERDUE_MS,
    store::{
        OutboxRead,
        upkeep::{Question, Rooms},
    },
};

const OF_NOBODY: OutboxRead = OutboxRead::new(
    "SELECT id FROM outbox o WHERE NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = o.account)",
);
// Each is mailed, and no letter is ever taken away.
const LOST: OutboxRead = OutboxRead::new(
    "SELECT package FROM deliveries d WHERE NOT EXISTS (SELECT 1 FROM outbox o \
     WHERE o.account = d.sender AND o.about = d.package AND o.recipient = d.account)",
);
const STUCK: OutboxRead = OutboxRead::new(
    "SELECT id FROM outbox WHERE state = 'waiting' AND lease IS NOT NULL AND due <= ?1 ORDER BY due, id",
);
const OVERDUE: OutboxRead = OutboxRead::new(
    "SELECT id FROM outbox WHERE state = 'waiting' AND lease IS NULL AND due <= ?1 ORDER BY due, id",
);
const UNKNOWN: OutboxRead = OutboxRead::new("SELECT id FROM outbox WHERE state = 'unknown' ORDER BY id");
const FAILED: OutboxRead = OutboxRead::new("SELECT id FROM outbox WHERE state = 'failed' ORDER BY id");

const SERVE: &str = "No server looks after mail: start one.";
const RESEND: &str = "Its row in the outbox says why; mail::Outbox::resend sends it again.";

pub(crate) fn upkeep(rooms: Rooms) -> Rooms {
    rooms
        .question(Question::of_mail("letters are of no account", &OF_NOBODY))
        .question(Question::of_mail("deliveries have no letter", &LOST))
        .question(
            Question::of_mail("letters were begun, and are not looked after for an hour", &STUCK)
                .since(MAIL_OVERDUE_MS)
                .advice(SERVE),
        )
        .question(
            Question::of_mail("letters wait for longer than an hour", &OVERDUE)
                .since(MAIL_OVERDUE_MS)
                .advice(SERVE)
                .note(),
        )
        .question(Question::of_mail("letters may have gone out or not", &UNKNOWN).advice(RESEND).note())
        .question(Question::of_mail("letters could not be sent", &FAILED).advice(RESEND).note())
}

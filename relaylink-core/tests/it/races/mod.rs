//! Eight threads in each of two processes, on one store: a draft is sent at most once, a request makes
//! one contact, and a revoked key does nothing after its revocation was answered.
//!
//! The test starts its own binary twice. Both are told the same things to do, and each of their
//! threads does each of them, at one time with all others. What they saw is written down and checked.

mod faults;
mod ground;
mod history;
mod play;

use std::time::{Duration, Instant};

use ground::Ground;
use history::{Asked, Call, Event, Rows, faults, met};
use play::{Batch, Player, Stage};

use crate::load;

/// Seconds of load where the variable does not say.
const SECONDS: u64 = 2;
/// For how long it goes on after that on a slow machine, until the processes have met often enough.
const PATIENCE: Duration = Duration::from_mins(1);
/// How many things of each kind two processes must have asked for at one time.
const MEETINGS: usize = 3;
const PROCESSES: [&str; 2] = ["one", "two"];
/// Batches that the same people take part in: they stay under the caps of a day.
const BATCHES: usize = 15;

fn race(ground: &Ground) {
    let until = Instant::now() + load::lasts(SECONDS);
    let mut players = PROCESSES.map(|name| Player::start(name, ground));
    let (mut asked, mut history) = (Asked::default(), Vec::new());
    let done = |history: &[Event]| {
        let now = Instant::now();
        let enough = || KINDS.iter().all(|call| met(history, *call) >= MEETINGS);
        now >= until && (enough() || now >= until + PATIENCE)
    };
    'load: for people in 0.. {
        let stage = Stage::with_people(ground, people);
        for number in 0..BATCHES {
            history.extend(play(&mut players, &stage.batch(number, &mut asked)));
            if done(&history) {
                break 'load;
            }
        }
    }
    for player in players {
        player.end();
    }
    let found = Rows {
        packages: ground.pairs("SELECT subject AS key, id AS value FROM packages"),
        deliveries: ground.pairs("SELECT package AS key, address AS value FROM deliveries"),
        letters: ground.pairs("SELECT about AS key, address AS value FROM outbox"),
        contacts: ground
            .pairs("SELECT account AS key, peer AS value FROM contacts WHERE accepted IS NOT NULL"),
    };
    let faults: Vec<_> = faults(&history, &asked, &found).iter().map(ToString::to_string).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(20)].join("\n"));
    let met = KINDS.map(|call| met(&history, call));
    load::say(&format!(
        "races on {}: {} drafts, {} requests, {} keys in {} calls; asked for by both processes at one time: {met:?}",
        ground.engine(),
        asked.drafts.len(),
        asked.requests.len(),
        asked.keys.len(),
        history.len(),
    ));
    assert!(met.iter().all(|met| *met >= MEETINGS), "the processes never met");
}

/// What two processes are to do at one time.
const KINDS: [Call; 3] = [Call::Confirm, Call::Accept, Call::Revoke];

/// Has both processes do a batch at one time.
fn play(players: &mut [Player; 2], batch: &Batch) -> Vec<Event> {
    for player in players.iter_mut() {
        player.send(batch);
    }
    players.iter_mut().flat_map(Player::seen).collect()
}

#[test]
fn every_race_on_one_file_has_one_outcome() {
    race(&Ground::file());
}

#[test]
fn every_race_on_one_postgres_has_one_outcome() {
    let Some(ground) = Ground::database() else { return };
    race(&ground);
}

/// Not a test: what each of the two processes does. Without its variable there is nothing to do.
#[test]
fn child() {
    play::child();
}

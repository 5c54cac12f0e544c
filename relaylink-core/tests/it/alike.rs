//! How long an answer takes tells nothing either: what must not be told apart runs the same
//! statements in the same order, each of them a look into an index that finds a row or none.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use relaylink_core::{
    account::everything_listed,
    relay::Relay,
    store::{Access, Dialect, Request, Row, Session, Statement, Store, StoreError, Value, Verdict, Work},
};
use rusqlite::Connection;
use serde_json::json;

use crate::{
    rows,
    town::{Town, address, text},
    world::call,
};

/// A statement's text, and the rows that it found or changed.
type Note = (&'static str, u64);

/// A store that writes down what is run in it.
struct Noting {
    inner: Arc<dyn Store>,
    notes: Arc<Mutex<Vec<Note>>>,
}

impl Noting {
    /// A Relay over this town's rows whose statements are noted.
    fn over(town: &Town) -> (Relay, Arc<Self>) {
        let noting = Arc::new(Self { inner: Arc::clone(&town.store), notes: Arc::default() });
        (Relay::builder(noting.clone()).clock(town.clock.clone()).build().unwrap(), noting)
    }

    /// What was run since it was last asked.
    fn noted(&self) -> Vec<Note> {
        std::mem::take(&mut self.notes.lock().unwrap())
    }
}

#[async_trait]
impl Store for Noting {
    async fn transact(&self, request: Request, mut work: Work) -> Result<Verdict, StoreError> {
        let notes = Arc::clone(&self.notes);
        let note = move |session: &mut dyn Session| work(&mut Noted { session, notes: &notes });
        self.inner.transact(request, Box::new(note)).await
    }
}

struct Noted<'a> {
    session: &'a mut dyn Session,
    notes: &'a Mutex<Vec<Note>>,
}

impl Noted<'_> {
    fn note(&self, statement: &'static Statement, rows: u64) {
        self.notes.lock().unwrap().push((statement.text(Dialect::Sqlite), rows));
    }
}

impl Session for Noted<'_> {
    fn execute(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, StoreError> {
        let rows = self.session.execute(statement, parameters)?;
        self.note(statement, rows);
        Ok(rows)
    }

    fn query(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, StoreError> {
        let rows = self.session.query(statement, parameters)?;
        self.note(statement, rows.len() as u64);
        Ok(rows)
    }

    fn restrict(&mut self, access: Access) -> Result<Access, StoreError> {
        self.session.restrict(access)
    }
}

/// Panics unless both did the same: each statement once more, with a row more or less at most, and
/// none of them over a whole table.
#[track_caller]
fn alike(town: &Town, one: &[Note], other: &[Note]) {
    let same = |(one, other): (&Note, &Note)| one.0 == other.0 && one.1.abs_diff(other.1) <= 1;
    assert!(one.len() == other.len() && one.iter().zip(other).all(same), "{one:?}\n{other:?}");
    let connection = rows::read(&town.file());
    for (text, _) in one {
        let steps = plan(&connection, text);
        assert!(!steps.is_empty() || text.starts_with("INSERT"), "{text}");
        assert!(!steps.iter().any(|step| scans(step)), "{text}\n{steps:?}");
    }
}

/// How the engine carries out a statement.
fn plan(connection: &Connection, text: &str) -> Vec<String> {
    let mut query = connection.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
    let nothing = vec![rusqlite::types::Null; query.parameter_count()];
    let steps = query.query_map(rusqlite::params_from_iter(nothing), |row| row.get(3)).unwrap();
    steps.map(Result::unwrap).collect()
}

/// Whether a step of a plan goes through all there is. `x` is the one row that statements make up.
fn scans(step: &str) -> bool {
    step.starts_with("SCAN") && !["SCAN CONSTANT ROW", "SCAN x"].contains(&step)
}

#[tokio::test]
async fn a_table_that_is_gone_through_is_seen() {
    let town = Town::new().await;
    let steps = plan(&rows::read(&town.file()), "SELECT id FROM accounts WHERE name = ?1");
    assert!(steps.iter().any(|step| scans(step)), "{steps:?}");
}

#[tokio::test]
async fn an_invitation_does_the_same_work_for_a_member_and_for_a_stranger() {
    let town = Town::new().await;
    let (relay, noting) = Noting::over(&town);
    let invite = async |email: &str| {
        call(&relay, &town.caller("ana"), "invite_contact", json!({ "email": email })).await;
        noting.noted()
    };
    let member = invite("ben@example.org").await;
    assert!(member.iter().any(|(text, _)| text.starts_with("INSERT INTO outbox")), "{member:?}");
    alike(&town, &invite("zoe@example.org").await, &member);
    // Asked once more, both.
    let member = invite("ben@example.org").await;
    alike(&town, &invite("zoe@example.org").await, &member);
}

#[tokio::test]
async fn a_draft_does_the_same_work_for_a_member_a_stranger_and_who_blocks() {
    let town = Town::new().await;
    town.ok("cara", "block_contact", json!({ "contact": address("ana") })).await;
    let (relay, noting) = Noting::over(&town);
    let mut works = Vec::new();
    for to in ["ben@example.org", "zoe@example.org", "cara@example.org"] {
        let draft = json!({ "to": [to], "subject": "s", "body": "b" });
        call(&relay, &town.caller("ana"), "draft_package", draft).await;
        works.push(noting.noted());
    }
    for work in &works {
        assert!(!work.is_empty());
        alike(&town, work, &works[0]);
    }
}

#[tokio::test]
async fn a_key_is_looked_up_once_by_its_hash_whether_it_is_unknown_or_revoked_or_expired() {
    let town = Town::new().await;
    let (relay, noting) = Noting::over(&town);
    let account = town.caller("ana").account.parse().unwrap();
    let mut secrets = Vec::new();
    for name in ["Good", "Revoked", "Expired"] {
        let expires = (name == "Expired").then(|| relay_now(&town).plus_millis(1));
        let made = relay.accounts().create_key(&account, name.parse().unwrap(), everything_listed(), expires);
        let (key, secret) = made.await.unwrap();
        secrets.push((text(&json!(key.id.as_str())), secret.expose().to_owned()));
    }
    town.ok("ana", "revoke_api_key", json!({ "key": secrets[1].0 })).await;
    noting.noted();
    let look = async |secret: &str| {
        let known = relay.authenticate(secret).await.unwrap().is_some();
        (known, noting.noted())
    };
    let good = &secrets[0].1;
    let (known, work) = look(good).await;
    assert!(known && work.len() == 1, "{work:?}");
    // Sound keys that nobody was given: one of them begins as the good one does, and as lists show it.
    let (nobodys, nearly) = ("0".repeat(30), format!("{}{}", &good[4..6], "0".repeat(28)));
    let [nobodys, nearly] = [nobodys, nearly].map(|random| format!("rlk_{random}{}", checksum(&random)));
    assert_eq!(checksum(&good[4..34]), good[34..], "the checksum here is that of keys");
    for secret in [&secrets[1].1, &secrets[2].1, &nobodys, &nearly] {
        let (known, other) = look(secret).await;
        assert!(!known, "{secret}");
        alike(&town, &other, &work);
    }
    // The beginning of a key opens nothing and asks nothing: the checksum is off.
    let cut = format!("{}{}", &good[..34], "AAAAAA");
    assert_eq!(look(&cut).await, (false, Vec::new()));
}

/// The last six characters of a key with these random ones: their CRC-32, in Base62.
fn checksum(random: &str) -> String {
    let crc = random.bytes().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    });
    let digits: Vec<char> = ('0'..='9').chain('A'..='Z').chain('a'..='z').collect();
    (0..6).rev().map(|place| digits[(!crc / 62_u32.pow(place) % 62) as usize]).collect()
}

fn relay_now(town: &Town) -> relaylink_core::relay::Timestamp {
    relaylink_core::relay::Clock::now(&town.clock)
}

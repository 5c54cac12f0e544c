//! How long an answer takes tells nothing either: what must not be told apart runs the same
//! statements in the same order, each of them a look into an index.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use relaylink_core::{
    account::everything_listed,
    relay::Relay,
    store::{Access, Dialect, Request, Row, Session, Statement, Store, StoreError, Value, Verdict, Work},
};
use serde_json::json;

use crate::{
    town::{Town, address, text},
    world::call,
};

/// A store that writes down what is run in it.
struct Noting {
    inner: Arc<dyn Store>,
    texts: Arc<Mutex<Vec<&'static str>>>,
}

impl Noting {
    /// A Relay over this town's rows whose statements are noted.
    fn over(town: &Town) -> (Relay, Arc<Self>) {
        let noting = Arc::new(Self { inner: Arc::clone(&town.store), texts: Arc::default() });
        (Relay::builder(noting.clone()).clock(town.clock.clone()).build().unwrap(), noting)
    }

    /// What was run since it was last asked.
    fn noted(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.texts.lock().unwrap())
    }
}

#[async_trait]
impl Store for Noting {
    async fn transact(&self, request: Request, mut work: Work) -> Result<Verdict, StoreError> {
        let texts = Arc::clone(&self.texts);
        let noted = move |session: &mut dyn Session| work(&mut Noted { session, texts: &texts });
        self.inner.transact(request, Box::new(noted)).await
    }
}

struct Noted<'a> {
    session: &'a mut dyn Session,
    texts: &'a Mutex<Vec<&'static str>>,
}

impl Noted<'_> {
    fn note(&self, statement: &'static Statement) {
        self.texts.lock().unwrap().push(statement.text(Dialect::Sqlite));
    }
}

impl Session for Noted<'_> {
    fn execute(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, StoreError> {
        self.note(statement);
        self.session.execute(statement, parameters)
    }

    fn query(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, StoreError> {
        self.note(statement);
        self.session.query(statement, parameters)
    }

    fn restrict(&mut self, access: Access) -> Result<Access, StoreError> {
        self.session.restrict(access)
    }
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
    assert!(member.iter().any(|text| text.starts_with("INSERT INTO outbox")), "{member:?}");
    assert_eq!(invite("zoe@example.org").await, member);
    // Asked once more, both.
    let member = invite("ben@example.org").await;
    assert_eq!(invite("zoe@example.org").await, member);
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
    assert!(works.iter().all(|work| *work == works[0] && !work.is_empty()), "{works:?}");
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
    let (known, work) = look(&secrets[0].1).await;
    assert!(known && work.len() == 1, "{work:?}");
    for secret in [
        &secrets[1].1,
        &secrets[2].1,
        // A sound key that nobody was given.
        "rlk_0000000000000000000000000000002C8GjS",
    ] {
        assert_eq!(look(secret).await, (false, work.clone()));
    }
    // The beginning of a key opens nothing and asks nothing: the checksum is off.
    let cut = format!("{}{}", &secrets[0].1[..34], "AAAAAA");
    assert_eq!(look(&cut).await, (false, Vec::new()));
}

fn relay_now(town: &Town) -> relaylink_core::relay::Timestamp {
    relaylink_core::relay::Clock::now(&town.clock)
}

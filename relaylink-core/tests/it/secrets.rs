//! No secret is anywhere but in the hand of whoever was given it: not in logs, replies, refusals or
//! the files of the store, nor eight characters of one in a row.

use std::{
    collections::HashSet,
    io::Write,
    sync::{Arc, Mutex},
};

use relaylink_core::{
    account::everything_listed,
    mail::{Answer, Courier, MemoryMailer, Outbox, Post},
    relay::Relay,
    store::Store,
};
use serde_json::Map;

use crate::{
    cases::CASES,
    faulty::{Fault, Faulty},
    town::{PEOPLE, Town},
};

/// All that is logged in this process, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn log() -> Log {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .init();
    log
}

/// Every eight characters in a row of some secrets. What each begins with is no secret.
struct Traces {
    starts: Vec<bool>,
    all: HashSet<[u8; 8]>,
}

impl Traces {
    fn of(secrets: &[String]) -> Self {
        let mut traces = Self { starts: vec![false; 1 << 16], all: HashSet::new() };
        for window in secrets.iter().flat_map(|secret| secret.as_bytes()[4..].windows(8)) {
            traces.starts[start(window)] = true;
            traces.all.insert(window.try_into().unwrap());
        }
        traces
    }

    /// The first of them in a text.
    fn first_in(&self, text: &[u8]) -> Option<String> {
        let found = text.windows(8).find(|window| {
            self.starts[start(window)] && self.all.contains(<&[u8; 8]>::try_from(*window).unwrap())
        });
        found.map(|window| String::from_utf8_lossy(window).into_owned())
    }
}

fn start(window: &[u8]) -> usize {
    usize::from(window[0]) << 8 | usize::from(window[1])
}

#[tokio::test(flavor = "multi_thread")]
async fn no_eight_characters_of_a_secret_are_anywhere() {
    let log = log();
    let mut secrets = Vec::new();
    let mut said = Vec::new();
    let mut stored = Vec::new();
    for case in CASES.iter() {
        let (frozen, scene) = case.ready().await;
        let mut store = None;
        let town = frozen.thaw_over(|inner| Arc::clone(store.insert(Faulty::over(inner))) as Arc<dyn Store>);
        let store = store.unwrap();
        // The machine's own randomness, so that a secret is one.
        let relay = Relay::builder(store.clone()).clock(town.clock.clone()).build().unwrap();
        let account = scene.caller.account.parse().unwrap();
        let made =
            relay.accounts().create_key(&account, "it".parse().unwrap(), everything_listed(), None).await;
        let (key, secret) = made.unwrap();
        let secret = secret.expose().to_owned();
        said.push(format!("{key:?}"));
        let caller = relay.authenticate(&secret).await.unwrap().expect("the key opens the account");
        said.push(format!("{caller:?}"));

        // A wrong key, one cut short, and the key with the store away.
        let wrong: String = secret.chars().rev().collect();
        for wrong in [wrong.as_str(), &secret[..39], &format!("Bearer {secret}")] {
            said.push(format!("{:?}", relay.authenticate(wrong).await));
        }
        for fault in [Fault::Fails(1), Fault::Panics(1), Fault::Lost] {
            store.set(fault);
            said.push(format!("{:?}", relay.authenticate(&secret).await));
            let answer = relay.call(&caller, case.tool, scene.arguments.clone()).await;
            said.push(format!("{answer:?}"));
        }
        store.set(Fault::None);

        // Each tool, also with the secret in the place of a key's id, which most do not take.
        let told = relay.call(&caller, case.tool, scene.arguments.clone()).await;
        said.push(format!("{told:?}"));
        said.push(format!("{:?}", relay.call(&caller, "list_api_keys", Map::new()).await));
        let mut pasted = scene.arguments.clone();
        pasted.insert("key".into(), secret.clone().into());
        let refused = relay.call(&caller, case.tool, pasted).await;
        assert!(refused.is_err(), "{case}: {refused:?}");
        said.push(format!("{refused:?}"));

        said.push(fail_mail(&town).await);
        relay.flush_key_use().await.unwrap();
        stored.extend(town.place.bytes());
        secrets.push(secret);
    }
    let logged = log.0.lock().unwrap().clone();
    assert!(logged.len() > 1_000, "the log has {} bytes: it is not caught", logged.len());
    let traces = Traces::of(&secrets);
    assert_eq!(traces.first_in(&logged), None, "logged");
    assert_eq!(traces.first_in(said.join("\n").as_bytes()), None, "said");
    assert_eq!(traces.first_in(&stored), None, "stored");
    // It would be seen.
    assert!(traces.first_in(format!("x{}x", &secrets[0][20..30]).as_bytes()).is_some());
}

/// Every letter fails, in each way there is: what the operator then sees.
async fn fail_mail(town: &Town) -> String {
    let mailer = MemoryMailer::new();
    for who in PEOPLE {
        let address = format!("{who}@example.org").parse().unwrap();
        mailer.answer(&address, [Answer::Temporary, Answer::Permanent, Answer::Unknown, Answer::Panic]);
    }
    let clock = Arc::new(town.clock.clone());
    let courier = Courier::new(town.store.clone(), Arc::new(mailer), clock.clone(), Post::default());
    for _ in 0..4 {
        courier.drain().await.unwrap();
        town.clock.forward(24 * 60 * 60 * 1_000);
    }
    let outbox = Outbox::new(town.store.clone(), clock, Post::default());
    format!("{:?}", outbox.list(None, None, 100).await.unwrap())
}

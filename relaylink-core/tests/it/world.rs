//! A Relay over an empty store, with a clock set by hand, and people in it.

use std::{
    ops::Deref,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
};

use relaylink_core::{
    account::Account,
    mail::{Listed, Outbox, Post},
    relay::{Clock, Relay, RelayBuilder, Seeds, SystemSeeds, Timestamp},
    store::Store,
    tool::{Caller, Ceiling, Code, Grade, Refusal, Stop, toolset::CallError},
};
use serde_json::{Map, Value as Json};

use crate::place::Place;

/// A clock set by hand. It starts with 2026.
#[derive(Clone)]
pub(crate) struct Hand(Arc<AtomicI64>);

impl Hand {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_767_225_600_000)))
    }

    /// One that shows this moment.
    pub(crate) fn at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.as_millis())))
    }

    /// Sets it to this moment.
    pub(crate) fn set(&self, now: Timestamp) {
        self.0.store(now.as_millis(), Ordering::SeqCst);
    }

    /// Sets it this many milliseconds forward.
    pub(crate) fn forward(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// The machine's randomness, or, counting from a number, the same at every run.
#[derive(Clone, Default)]
pub(crate) struct Dice(Arc<Mutex<Option<u64>>>);

impl Dice {
    /// Counts from here on.
    pub(crate) fn count_from(&self, number: u64) {
        *self.0.lock().unwrap() = Some(number);
    }
}

impl Seeds for Dice {
    fn seed(&self) -> [u8; 16] {
        let Some(number) = &mut *self.0.lock().unwrap() else { return SystemSeeds.seed() };
        *number += 1;
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&number.to_be_bytes());
        seed[8..].copy_from_slice(&number.to_be_bytes());
        seed
    }
}

/// A Relay and what it stands on.
pub(crate) struct World {
    pub(crate) relay: Relay,
    pub(crate) clock: Hand,
    pub(crate) dice: Dice,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) place: Place,
}

impl Deref for World {
    type Target = Relay;

    fn deref(&self) -> &Relay {
        &self.relay
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|relay| relay)
    }

    /// Over an empty store, a Relay with tools and settings of the test's own.
    pub(crate) fn with(with: impl FnOnce(RelayBuilder) -> RelayBuilder) -> Self {
        Self::over(Place::new(), Hand::new(), |store| store, with)
    }

    /// Over what is in this place, the Relay over what `over` makes of the store.
    pub(crate) fn over(
        place: Place,
        clock: Hand,
        over: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>,
        with: impl FnOnce(RelayBuilder) -> RelayBuilder,
    ) -> Self {
        let store = place.open();
        let dice = Dice::default();
        let builder = Relay::builder(over(Arc::clone(&store))).clock(clock.clone()).seeds(dice.clone());
        Self { relay: with(builder).build().unwrap(), clock, dice, store, place }
    }

    /// Its file, for what is about the embedded engine alone.
    pub(crate) fn file(&self) -> PathBuf {
        self.place.file()
    }

    /// A new account at this address, named by what stands before the @.
    pub(crate) async fn account(&self, address: &str) -> Account {
        let name = address.split('@').next().unwrap().parse().unwrap();
        self.relay.accounts().create_account(address.parse().unwrap(), name).await.unwrap()
    }

    /// A new account, and the person at the machine as its caller.
    pub(crate) async fn person(&self, address: &str) -> Caller {
        Caller::local(self.account(address).await.id.as_str())
    }

    /// A new key of the account with this ceiling, and its caller. A second after what was before.
    pub(crate) async fn key(&self, account: &str, name: &str, ceiling: Ceiling) -> Caller {
        let (account, name) = (account.parse().unwrap(), name.parse().unwrap());
        self.clock.forward(1_000);
        self.relay.accounts().key_without_secret(&account, name, Some(ceiling)).await.unwrap()
    }

    /// Calls a tool by name, as a client does. Each call is a second after the one before.
    pub(crate) async fn call(&self, caller: &Caller, tool: &str, arguments: Json) -> Result<Json, Refusal> {
        self.clock.forward(1_000);
        answered(self.relay.toolset().call(caller, tool, object(arguments)).await)
    }

    /// All letters in the outbox.
    pub(crate) async fn letters(&self) -> Vec<Listed> {
        let outbox = Outbox::new(Arc::clone(&self.store), Arc::new(self.clock.clone()), Post::default());
        outbox.list(None, None, 100).await.unwrap()
    }
}

/// An object, as arguments are.
pub(crate) fn object(value: Json) -> Map<String, Json> {
    let Json::Object(object) = value else { panic!("an object, not {value}") };
    object
}

/// What a call came to: its reply, or the refusal in it.
#[track_caller]
pub(crate) fn answered(called: Result<Json, CallError>) -> Result<Json, Refusal> {
    match called {
        Ok(reply) => Ok(reply),
        Err(CallError::Stopped(stop)) => Err(stop.into_refusal()),
        Err(error) => panic!("{error}"),
    }
}

/// Calls a tool of a Relay that no world was made around, and that answers.
pub(crate) async fn call(relay: &Relay, caller: &Caller, tool: &str, arguments: Json) -> Json {
    answered(relay.call(caller, tool, object(arguments)).await).unwrap()
}

/// What holds a key to these effects.
pub(crate) fn may(effects: &[&str]) -> Ceiling {
    Ceiling::listed(effects.iter().map(|effect| (*effect, Grade::Allow)))
}

/// The code of a refusal.
pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, Stop>) -> Code {
    result.unwrap_err().into_refusal().code
}

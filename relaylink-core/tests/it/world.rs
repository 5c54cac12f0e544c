//! A Relay over a fresh file, with a clock set by hand, and people in it.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use relaylink_core::{
    account::Account,
    mail::{Listed, Outbox, Post},
    relay::{Clock, Relay, Timestamp},
    store::{Store, sqlite::Sqlite},
    tool::{Caller, Ceiling, Code, Refusal, Stop, toolset::CallError},
};
use serde_json::{Map, Value as Json};

/// A clock set by hand. It starts with 2026.
#[derive(Clone)]
pub(crate) struct Hand(Arc<AtomicI64>);

impl Hand {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_767_225_600_000)))
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

/// A Relay and what it stands on.
pub(crate) struct World {
    pub(crate) relay: Relay,
    pub(crate) clock: Hand,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) folder: tempfile::TempDir,
}

impl Deref for World {
    type Target = Relay;

    fn deref(&self) -> &Relay {
        &self.relay
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(folder.path().join("relaylink.db")).unwrap());
        let clock = Hand::new();
        let relay = Relay::builder(Arc::clone(&store)).clock(clock.clone()).build().unwrap();
        Self { relay, clock, store, folder }
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
    pub(crate) async fn key(&self, account: &Account, name: &str, ceiling: Ceiling) -> Caller {
        let name = name.parse().unwrap();
        self.clock.forward(1_000);
        self.relay.accounts().key_without_secret(&account.id, name, Some(ceiling)).await.unwrap()
    }

    /// Calls a tool by name, as a client does. Each call is a second after the one before.
    pub(crate) async fn call(&self, caller: &Caller, tool: &str, arguments: Json) -> Result<Json, Refusal> {
        self.clock.forward(1_000);
        let arguments: Map<_, _> = serde_json::from_value(arguments).unwrap();
        match self.relay.toolset().call(caller, tool, arguments).await {
            Ok(reply) => Ok(reply),
            Err(CallError::Stopped(stop)) => Err(stop.into_refusal()),
            Err(error) => panic!("{error}"),
        }
    }

    /// All letters in the outbox.
    pub(crate) async fn letters(&self) -> Vec<Listed> {
        let outbox = Outbox::new(Arc::clone(&self.store), Arc::new(self.clock.clone()), Post::default());
        outbox.list(None, None, 100).await.unwrap()
    }

    /// The bytes of all files the store has on the disk.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }
}

/// The code of a refusal.
pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, Stop>) -> Code {
    result.unwrap_err().into_refusal().code
}

//! What a program that embeds a Relay counts on: it may be built, shared, used and dropped anywhere.

use std::sync::Arc;

use relaylink_core::{
    mail::{Courier, DirectoryMailer, Mailer, MemoryMailer, Outbox},
    relay::{Clock, Relay},
    store::{Store, sqlite::Sqlite},
    tool::{Caller, Toolset},
};
use serde_json::{Map, Value as Json};

const fn is_shared<T: Send + Sync + Clone + 'static>() {}
const fn is_shared_whatever_it_is<T: ?Sized + Send + Sync>() {}

/// What is handed around, and what an embedder puts its own in the place of.
const _: () = {
    is_shared::<Relay>();
    is_shared::<Toolset>();
    is_shared::<Caller>();
    is_shared::<Sqlite>();
    is_shared::<Arc<dyn Store>>();
    is_shared::<Arc<dyn Mailer>>();
    is_shared::<Arc<dyn Clock>>();
    is_shared::<DirectoryMailer>();
    is_shared::<MemoryMailer>();
    is_shared_whatever_it_is::<Courier>();
    is_shared_whatever_it_is::<Outbox>();
};

fn is_sendable<F: Future + Send>(future: F) -> F {
    future
}

/// A Relay over a fresh file, with one account.
fn relay(folder: &tempfile::TempDir) -> Relay {
    Relay::new(Arc::new(Sqlite::open(folder.path().join("relaylink.db")).unwrap())).unwrap()
}

async fn account(relay: &Relay) -> Caller {
    let accounts = relay.accounts();
    let made =
        is_sendable(accounts.create_account("ana@example.org".parse().unwrap(), "Ana".parse().unwrap()));
    Caller::local(made.await.unwrap().id.as_str())
}

async fn works(relay: &Relay, caller: &Caller) {
    let calls = [("memory_add", serde_json::json!({ "text": "I like tea" })), ("whoami", Json::Null)];
    for (tool, arguments) in calls {
        let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
        is_sendable(relay.call(caller, tool, arguments.clone())).await.unwrap();
        is_sendable(relay.toolset().call(caller, tool, arguments)).await.unwrap();
    }
    is_sendable(relay.authenticate("nonsense")).await.unwrap();
    is_sendable(relay.flush_key_use()).await.unwrap();
}

#[test]
fn a_relay_is_built_used_and_dropped_without_a_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let relay = relay(&folder);
    let caller = crate::behaviour::block_on(account(&relay));
    crate::behaviour::block_on(works(&relay, &caller));
    let on_another_thread = relay.clone();
    let another = caller.clone();
    std::thread::spawn(move || crate::behaviour::block_on(works(&on_another_thread, &another)))
        .join()
        .unwrap();
    drop(relay);
}

#[test]
fn a_relay_outlives_the_runtimes_that_use_it_and_is_dropped_outside() {
    let folder = tempfile::tempdir().unwrap();
    let relay = relay(&folder);
    let current = || tokio::runtime::Builder::new_current_thread().build().unwrap();
    let caller = current().block_on(account(&relay));
    current().block_on(works(&relay, &caller));
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let inside = relay.clone();
    many.block_on(async {
        let spawned = tokio::spawn(async move { works(&inside, &caller).await });
        spawned.await.unwrap();
    });
    drop(many);
    drop(relay);
}

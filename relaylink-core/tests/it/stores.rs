//! A store file of each schema that has landed opens, with all that is in it.
//!
//! `RELAYLINK_BLESS=1` writes the file of a schema that has none yet. One that is there is never
//! written again: it was made by the program of its time.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use relaylink_core::{
    relay::Relay,
    store::{migrations::CORE, sqlite::Sqlite},
    tool::Caller,
};
use serde_json::json;

use crate::{golden, rows, world::call};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores")
}

async fn caller(relay: &Relay, address: &str) -> Caller {
    let account = relay.accounts().account(&address.parse().unwrap()).await.unwrap().unwrap();
    Caller::local(account.id.as_str())
}

/// A store with something in every table of today's schema.
async fn make(path: &Path) {
    let store = Arc::new(Sqlite::open(path).unwrap());
    let relay = Relay::new(store.clone()).unwrap();
    for (address, name) in
        [("ana@example.org", "Ana"), ("ben@example.org", "Ben"), ("eve@example.org", "Eve")]
    {
        relay.accounts().create_account(address.parse().unwrap(), name.parse().unwrap()).await.unwrap();
    }
    let (ana, ben) = (caller(&relay, "ana@example.org").await, caller(&relay, "ben@example.org").await);
    let account = ana.account.parse().unwrap();
    relay.accounts().key_without_secret(&account, "laptop".parse().unwrap(), None).await.unwrap();
    let key = call(&relay, &ana, "list_api_keys", json!({})).await["keys"][0]["key"].clone();
    call(&relay, &ana, "revoke_api_key", json!({ "key": key })).await;
    let invited = call(&relay, &ana, "invite_contact", json!({ "email": "ben@example.org" })).await;
    call(&relay, &ben, "accept_contact", json!({ "request": invited["request"] })).await;
    call(&relay, &ana, "invite_contact", json!({ "email": "cara@example.org", "note": "Hello." })).await;
    call(&relay, &ana, "block_contact", json!({ "contact": "eve@example.org" })).await;
    for (subject, send) in [("Sent and read", true), ("Still a draft", false)] {
        let draft = json!({ "to": ["ben@example.org"], "subject": subject, "body": "As agreed." });
        let draft = call(&relay, &ana, "draft_package", draft).await["draft"].clone();
        if send {
            let sent = call(&relay, &ana, "confirm_send", json!({ "draft": draft })).await;
            let package = json!({ "package": sent["package"] });
            call(&relay, &ben, "get_package", package.clone()).await;
            call(&relay, &ben, "acknowledge_package", package).await;
        }
    }
    let wrong = call(&relay, &ana, "memory_add", json!({ "text": "Ben likes tea", "about": "Ben" })).await;
    let right = json!({ "text": "Ben likes coffee", "about": "Ben", "replaces": wrong["memory"] });
    call(&relay, &ana, "memory_add", right).await;
    store.close();
}

/// Reads back what `make` kept.
async fn look(path: &Path) {
    let store = Arc::new(Sqlite::open(path).unwrap());
    let relay = Relay::new(store.clone()).unwrap();
    let (ana, ben) = (caller(&relay, "ana@example.org").await, caller(&relay, "ben@example.org").await);
    let drafts = call(&relay, &ana, "list_drafts", json!({})).await;
    assert_eq!(drafts["drafts"][0]["subject"]["content"], "Still a draft");
    let inbox = call(&relay, &ben, "check_inbox", json!({})).await;
    let head = &inbox["packages"][0];
    assert_eq!(head["subject"]["content"], "Sent and read");
    assert!(head["opened"].is_string() && head["acknowledged"].is_string(), "{head}");
    let found = call(&relay, &ana, "memory_search", json!({ "query": "coffee" })).await;
    assert_eq!(found["memories"].as_array().unwrap().len(), 1);
    let contacts = call(&relay, &ana, "list_contacts", json!({})).await;
    assert_eq!(contacts["contacts"].as_array().unwrap().len(), 3);
    let keys = call(&relay, &ana, "list_api_keys", json!({})).await;
    assert!(keys["keys"][0]["revoked"].is_string(), "{keys}");
    // What was begun then can be ended now.
    let sent = json!({ "draft": drafts["drafts"][0]["draft"] });
    call(&relay, &ana, "confirm_send", sent).await;
    store.close();
}

#[tokio::test]
async fn a_store_of_each_landed_schema_opens_with_all_that_is_in_it() {
    let today = format!("{:04}.db", CORE.len());
    let file = folder().join(&today);
    if !file.exists() && golden::blesses() {
        let made = tempfile::tempdir().unwrap();
        let path = made.path().join(&today);
        make(&path).await;
        rows::raw(&path).execute("VACUUM INTO ?1", [file.to_str().unwrap()]).unwrap();
    }
    let files = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|ending| ending == "db")).collect();
    files.sort();
    assert!(
        files.contains(&file),
        "the schema has no file in tests/stores yet: RELAYLINK_BLESS=1 writes {today}"
    );
    for file in files {
        let copy = tempfile::tempdir().unwrap();
        let path = copy.path().join("data.db");
        std::fs::copy(&file, &path).unwrap();
        look(&path).await;
        let read = rows::read(&path);
        let integrity: String = read.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(integrity, "ok", "{}", file.display());
        let version: i64 = read
            .query_row("SELECT MAX(version) FROM migrations WHERE owner = 'relaylink'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(version, i64::try_from(CORE.len()).unwrap(), "{}", file.display());
    }
}

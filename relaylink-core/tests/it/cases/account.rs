use futures_util::future::join_all;
use relaylink_core::account::everything_listed;
use serde_json::json;

use super::{Listing, cases, foreign};
use crate::town::Town;

/// The id of a new key with a secret.
async fn key(town: &Town, who: &str, name: &str) -> String {
    let account = town.caller(who).account.parse().unwrap();
    let accounts = town.relay.accounts();
    let made = accounts.create_key(&account, name.parse().unwrap(), everything_listed(), None).await;
    made.unwrap().0.id.to_string()
}

cases! {
    whoami: "the person at the machine", |_town| { ("ana", json!({})) }
    whoami: "a key", |town| { ("ana", town.key("ana", "laptop", everything_listed()).await, json!({})) }
    list_api_keys: "two, one revoked", |town| {
        let lost = key(town, "ana", "lost").await;
        key(town, "ana", "kept").await;
        town.ok("ana", "revoke_api_key", json!({ "key": lost })).await;
        ("ana", json!({ "limit": 10 }))
    }
    revoke_api_key: "another key", |town| { ("ana", json!({ "key": key(town, "ana", "lost").await })) }
    revoke_api_key: "the key in use", |town| {
        let caller = town.key("ana", "laptop", everything_listed()).await;
        let own = caller.credential.clone().unwrap();
        ("ana", caller, json!({ "key": *own }))
    }
    revoke_api_key: "revoked already", |town| {
        let lost = key(town, "ana", "lost").await;
        town.ok("ana", "revoke_api_key", json!({ "key": lost })).await;
        ("ana", json!({ "key": lost }))
    }
}

foreign! {
    key: "a key", |town| { key(town, "dan", "his").await }
    key: "a revoked key", |town| {
        let lost = key(town, "dan", "his lost one").await;
        town.ok("dan", "revoke_api_key", json!({ "key": lost })).await;
        lost
    }
    acc: "an account", |town| { town.caller("dan").account.to_string() }
}

pub(super) fn listings() -> Vec<Listing> {
    vec![Listing {
        tool: "list_api_keys",
        fill: |town, rows| {
            Box::pin(async move {
                let from = town.count("api_keys");
                let made =
                    (0..rows).map(|n| async move { key(town, "ana", &format!("key {from} {n}")).await });
                (join_all(made).await, json!({}))
            })
        },
        remove: None,
    }]
}

use futures_util::future::join_all;
use serde_json::json;

use super::{Listing, cases, foreign};
use crate::town::{Town, address, text};

/// The id of a request that waits.
async fn asked(town: &Town, who: &str, email: &str) -> String {
    text(&town.ok(who, "invite_contact", json!({ "email": email, "note": "Hello." })).await["request"])
}

/// The id under which `who` has this contact.
async fn contact(town: &Town, who: &str, other: &str) -> String {
    let query = json!({ "state": "accepted", "query": address(other) });
    text(&town.ok(who, "list_contacts", query).await["contacts"][0]["contact"])
}

async fn block(town: &Town, who: &str, whom: &str) -> String {
    text(&town.ok(who, "block_contact", json!({ "contact": whom })).await["contact"])
}

cases! {
    list_contacts: "of all states", |town| {
        town.contacts("ana", "ben").await;
        asked(town, "ana", "zoe@example.org").await;
        asked(town, "cara", "ana@example.org").await;
        block(town, "ana", "yan@example.org").await;
        ("ana", json!({}))
    }
    list_contacts: "by state and name", |town| {
        town.contacts("ana", "ben").await;
        ("ana", json!({ "state": "accepted", "query": "BEN", "limit": 3 }))
    }
    invite_contact: "an address without an account", |_town| {
        ("ana", json!({ "email": "zoe@example.org", "note": "Hello." }))
    }
    invite_contact: "somebody with an account", |_town| { ("ana", json!({ "email": "ben@example.org" })) }
    invite_contact: "asked already", |town| {
        asked(town, "ana", "ben@example.org").await;
        ("ana", json!({ "email": "Ben@Example.org", "note": "Again." }))
    }
    invite_contact: "a contact", |town| {
        town.contacts("ana", "ben").await;
        ("ana", json!({ "email": "ben@example.org" }))
    }
    invite_contact: "one who has blocked the caller", |town| {
        block(town, "ben", "ana@example.org").await;
        ("ana", json!({ "email": "ben@example.org" }))
    }
    accept_contact: "a request", |town| {
        ("ben", json!({ "request": asked(town, "ana", "ben@example.org").await }))
    }
    withdraw_invite: "a request", |town| {
        ("ana", json!({ "request": asked(town, "ana", "ben@example.org").await }))
    }
    block_contact: "a contact by its id", |town| {
        town.contacts("ana", "ben").await;
        ("ana", json!({ "contact": contact(town, "ana", "ben").await }))
    }
    block_contact: "an address", |_town| { ("ana", json!({ "contact": "zoe@example.org" })) }
    block_contact: "somebody whose request waits", |town| {
        asked(town, "ben", "ana@example.org").await;
        ("ana", json!({ "contact": "ben@example.org" }))
    }
    block_contact: "somebody asked", |town| {
        asked(town, "ana", "ben@example.org").await;
        ("ana", json!({ "contact": "ben@example.org" }))
    }
    block_contact: "blocked already", |town| {
        town.contacts("ana", "ben").await;
        block(town, "ana", "Ben").await;
        ("ana", json!({ "contact": "ben@example.org" }))
    }
}

foreign! {
    ctc: "a contact", |town| { contact(town, "dan", "eve").await }
    ctc: "somebody blocked", |town| { block(town, "dan", "xena@example.org").await }
    inv: "a request that waits", |town| { asked(town, "dan", "zed@example.org").await }
    inv: "a request that was withdrawn", |town| {
        let request = asked(town, "dan", "yan@example.org").await;
        town.ok("dan", "withdraw_invite", json!({ "request": request })).await;
        request
    }
}

pub(super) fn listings() -> Vec<Listing> {
    vec![Listing { tool: "list_contacts", fill: |town, rows| Box::pin(fill(town, rows)), remove: None }]
}

/// People of every state: most blocked, some asked, some who ask, some contacts.
async fn fill(town: &Town, rows: usize) -> (Vec<String>, serde_json::Value) {
    let from = town.count("contacts") + town.count("blocks");
    let rows = (0..rows).map(|n| async move {
        let address = format!("person.{from}.{n}@example.org");
        match n % 20 {
            0 => asked(town, "ana", &address).await,
            1 => {
                let other = town.add(&address, "Somebody").await;
                let email = json!({ "email": "ana@example.org" });
                let asked = town.call_as(&other, "invite_contact", email).await;
                match asked {
                    Ok(asked) => text(&asked["request"]),
                    // So many ask in a day; the others are blocked.
                    Err(_) => block(town, "ana", &address).await,
                }
            }
            2 => {
                let other = town.add(&address, "Somebody").await;
                let request = asked(town, "ana", &address).await;
                town.call_as(&other, "accept_contact", json!({ "request": request })).await.unwrap();
                let query = json!({ "query": address, "state": "accepted" });
                text(&town.ok("ana", "list_contacts", query).await["contacts"][0]["contact"])
            }
            _ => block(town, "ana", &address).await,
        }
    });
    (join_all(rows).await, json!({}))
}

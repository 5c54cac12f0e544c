//! The people room: each sentence about its tools.

mod addresses;
mod blocks;
mod list;
mod requests;

use serde_json::{Value as Json, json};

use crate::town::{Town, address, list, text};

async fn listed(world: &Town, who: &str) -> Vec<Json> {
    list(&world.ok(who, "list_contacts", json!({})).await["contacts"]).to_vec()
}

/// What a list says, without ids and times.
async fn standing(world: &Town, who: &str) -> Vec<(String, String)> {
    listed(world, who).await.iter().map(|entry| (text(&entry["state"]), text(&entry["address"]))).collect()
}

async fn invite(world: &Town, from: &str, to: &str) -> String {
    text(&world.ok(from, "invite_contact", json!({ "email": address(to) })).await["request"])
}

fn one(state: &str, who: &str) -> Vec<(String, String)> {
    vec![(state.into(), address(who))]
}

use futures_util::future::join_all;
use serde_json::json;

use super::{Listing, cases, foreign};
use crate::town::{Town, text};

async fn remembered(town: &Town, who: &str, statement: &str) -> String {
    text(&town.ok(who, "memory_add", json!({ "text": statement, "about": "Budget" })).await["memory"])
}

cases! {
    memory_search: "all", |town| {
        remembered(town, "ana", "The review is on Friday.").await;
        ("ana", json!({}))
    }
    memory_search: "by words and name", |town| {
        remembered(town, "ana", "The review is on Friday.").await;
        ("ana", json!({ "query": "friday REVIEW", "about": "budget", "limit": 5 }))
    }
    memory_add: "a new one", |_town| {
        ("ana", json!({ "text": "The review is on Friday.", "about": "Budget" }))
    }
    memory_add: "in the place of another", |town| {
        let wrong = remembered(town, "ana", "The review is on Thursday.").await;
        ("ana", json!({ "text": "The review is on Friday.", "replaces": wrong }))
    }
    memory_forget: "there", |town| {
        ("ana", json!({ "memory": remembered(town, "ana", "The review is on Friday.").await }))
    }
    memory_forget: "forgotten already", |town| {
        let memory = remembered(town, "ana", "The review is on Friday.").await;
        town.ok("ana", "memory_forget", json!({ "memory": memory })).await;
        ("ana", json!({ "memory": memory }))
    }
}

foreign! {
    mem: "a memory", |town| { remembered(town, "dan", "Nobody else's.").await }
    mem: "a forgotten memory", |town| {
        let memory = remembered(town, "dan", "Nobody else's, and gone.").await;
        town.ok("dan", "memory_forget", json!({ "memory": memory })).await;
        memory
    }
}

pub(super) fn listings() -> Vec<Listing> {
    vec![Listing {
        tool: "memory_search",
        fill: |town, rows| {
            Box::pin(async move {
                let added = (0..rows).map(|n| async move {
                    remembered(town, "ana", &format!("Statement {n} of the budget.")).await
                });
                (join_all(added).await, json!({ "query": "budget statement" }))
            })
        },
        remove: Some(("memory_forget", "memory")),
    }]
}

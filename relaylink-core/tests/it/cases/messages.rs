use futures_util::future::join_all;
use serde_json::json;

use super::{Listing, cases, foreign};
use crate::town::{Town, address, text};

/// A package from ana to ben, who are contacts: its id and its thread's.
async fn sent(town: &Town) -> (String, String) {
    town.contacts("ana", "ben").await;
    town.send("ana", &["ben"], "Budget").await
}

cases! {
    check_inbox: "all", |town| {
        sent(town).await;
        ("ben", json!({}))
    }
    check_inbox: "unread ones of a person in a thread", |town| {
        let (_, thread) = sent(town).await;
        ("ben", json!({ "unread": true, "from": "ana@example.org", "thread": thread, "limit": 5 }))
    }
    list_drafts: "two", |town| {
        town.contacts("ana", "ben").await;
        town.draft("ana", &["ben"], "Budget").await;
        town.draft("ana", &["ben", "cara"], "Plans").await;
        ("ana", json!({ "limit": 2 }))
    }
    thread_status: "by the sender", |town| { ("ana", json!({ "thread": sent(town).await.1 })) }
    thread_status: "by a recipient", |town| { ("ben", json!({ "thread": sent(town).await.1, "limit": 1 })) }
    get_package: "by a recipient", |town| { ("ben", json!({ "package": sent(town).await.0 })) }
    get_package: "by the sender", |town| { ("ana", json!({ "package": sent(town).await.0 })) }
    get_package: "opened already", |town| {
        let (package, _) = sent(town).await;
        town.ok("ben", "get_package", json!({ "package": package })).await;
        ("ben", json!({ "package": package }))
    }
    acknowledge_package: "unopened", |town| { ("ben", json!({ "package": sent(town).await.0 })) }
    acknowledge_package: "opened", |town| {
        let (package, _) = sent(town).await;
        town.ok("ben", "get_package", json!({ "package": package })).await;
        ("ben", json!({ "package": package }))
    }
    draft_package: "to one, with all there is to say", |town| {
        town.contacts("ana", "ben").await;
        ("ana", json!({
            "to": ["ben@example.org"], "subject": "Budget", "body": "The *numbers* of May.",
            "asks": "Approve them.", "context": "May was short."
        }))
    }
    draft_package: "a reply", |town| {
        let (_, thread) = sent(town).await;
        ("ben", json!({ "to": ["Ana"], "subject": "Re: Budget", "body": "Approved.", "thread": thread }))
    }
    draft_package: "to somebody who would not be reached", |town| {
        town.contacts("ana", "ben").await;
        ("ana", json!({ "to": ["ben@example.org", "zoe@example.org"], "subject": "Budget", "body": "Numbers." }))
    }
    confirm_send: "to one", |town| {
        town.contacts("ana", "ben").await;
        ("ana", json!({ "draft": town.draft("ana", &["ben"], "Budget").await }))
    }
    confirm_send: "to several, as it was shown", |town| {
        town.contacts("ana", "ben").await;
        town.contacts("cara", "ana").await;
        let draft = town.draft("ana", &["ben", "cara"], "Budget").await;
        ("ana", json!({ "draft": draft, "to": ["cara@example.org", "Ben"], "subject": "Budget" }))
    }
    confirm_send: "sent already", |town| {
        town.contacts("ana", "ben").await;
        let draft = town.draft("ana", &["ben"], "Budget").await;
        town.ok("ana", "confirm_send", json!({ "draft": draft })).await;
        ("ana", json!({ "draft": draft }))
    }
    cancel_draft: "open", |town| {
        town.contacts("ana", "ben").await;
        ("ana", json!({ "draft": town.draft("ana", &["ben"], "Budget").await }))
    }
    cancel_draft: "cancelled already", |town| {
        town.contacts("ana", "ben").await;
        let draft = town.draft("ana", &["ben"], "Budget").await;
        town.ok("ana", "cancel_draft", json!({ "draft": draft })).await;
        ("ana", json!({ "draft": draft }))
    }
}

foreign! {
    pkg: "a package", |town| { town.send("dan", &["eve"], "Theirs").await.0 }
    thr: "a thread", |town| { town.send("eve", &["dan"], "Theirs too").await.1 }
    drf: "an open draft", |town| { town.draft("dan", &["eve"], "Not sent").await }
    drf: "a draft that was sent", |town| {
        let draft = town.draft("dan", &["eve"], "Sent").await;
        town.ok("dan", "confirm_send", json!({ "draft": draft })).await;
        draft
    }
    drf: "a draft that was cancelled", |town| {
        let draft = town.draft("dan", &["eve"], "Cancelled").await;
        town.ok("dan", "cancel_draft", json!({ "draft": draft })).await;
        draft
    }
}

pub(super) fn listings() -> Vec<Listing> {
    vec![
        Listing {
            tool: "list_drafts",
            fill: |town, rows| {
                Box::pin(async move {
                    let drafts = (0..rows).map(|n| async move {
                        let to = [address("ben"), address("zoe")];
                        let draft = json!({ "to": to, "subject": format!("Draft {n}"), "body": "Numbers." });
                        text(&town.ok("ana", "draft_package", draft).await["draft"])
                    });
                    (join_all(drafts).await, json!({}))
                })
            },
            remove: Some(("cancel_draft", "draft")),
        },
        Listing {
            tool: "check_inbox",
            fill: |town, rows| {
                Box::pin(async move { (packages(town, "ben", "ana", None, rows).await, json!({})) })
            },
            remove: None,
        },
        Listing {
            tool: "thread_status",
            fill: |town, rows| {
                Box::pin(async move {
                    let thread = match town.first("packages", "thread") {
                        Some(thread) => thread,
                        None => sent(town).await.1,
                    };
                    (packages(town, "ana", "ben", Some(&thread), rows).await, json!({ "thread": thread }))
                })
            },
            remove: None,
        },
    ]
}

/// So many packages from one to another, and their ids.
async fn packages(town: &Town, from: &str, to: &str, thread: Option<&str>, rows: usize) -> Vec<String> {
    if town.count("contacts") == 0 {
        town.contacts(from, to).await;
    }
    let packages = (0..rows).map(|n| async move {
        let draft = json!({
            "to": [address(to)], "subject": format!("Package {n}"), "body": "Numbers.", "thread": thread
        });
        let draft = town.ok(from, "draft_package", draft).await;
        text(&town.ok(from, "confirm_send", json!({ "draft": draft["draft"] })).await["package"])
    });
    join_all(packages).await
}

//! The messages room: each sentence about its tools.

mod confirm;
mod drafts;
mod reading;

use serde_json::{Value as Json, json};

use crate::town::{Town, list, text};

async fn drafts(world: &Town, who: &str) -> Vec<Json> {
    list(&world.ok(who, "list_drafts", json!({})).await["drafts"]).to_vec()
}

async fn inbox(world: &Town, who: &str, arguments: Json) -> Vec<String> {
    let page = world.ok(who, "check_inbox", arguments).await;
    list(&page["packages"]).iter().map(|head| text(&head["package"])).collect()
}

async fn status(world: &Town, who: &str, thread: &str) -> Json {
    world.ok(who, "thread_status", json!({ "thread": thread })).await
}

async fn ana_and_ben() -> Town {
    let world = Town::new().await;
    world.contacts("ana", "ben").await;
    world
}

fn whole() -> Json {
    json!({
        "to": ["ben@example.org"],
        "subject": "Budget",
        "body": "# Budget\n\nSee below.",
        "asks": "Agree by Friday?",
        "context": "Decided on Monday.",
    })
}

#[tokio::test]
async fn a_briefing_goes_from_one_assistant_to_another() {
    let world = ana_and_ben().await;
    let draft = world.ok("ana", "draft_package", whole()).await;
    let shown = json!({ "draft": draft["draft"], "to": ["ben@example.org"], "subject": "Budget" });
    let sent = world.ok("ana", "confirm_send", shown).await;
    let package = &sent["package"];

    let page = world.ok("ben", "check_inbox", json!({ "unread": true })).await;
    let head = &page["packages"][0];
    assert_eq!(&head["package"], package);
    assert_eq!(head["thread"], sent["thread"]);
    assert_eq!(head["from"], json!({ "address": "ana@example.org", "name": "Ana" }));
    assert_eq!(head["subject"], json!({ "writtenBy": "ana@example.org", "content": "Budget" }));
    assert!(head.get("body").is_none());

    let read = world.ok("ben", "get_package", json!({ "package": package })).await;
    assert_eq!(read["to"], json!(["ben@example.org"]));
    for (field, content) in [
        ("subject", "Budget"),
        ("body", "# Budget\n\nSee below."),
        ("asks", "Agree by Friday?"),
        ("context", "Decided on Monday."),
    ] {
        assert_eq!(read[field], json!({ "writtenBy": "ana@example.org", "content": content }));
    }
    world.ok("ben", "acknowledge_package", json!({ "package": package })).await;

    let status = status(&world, "ana", &text(&sent["thread"])).await;
    let recipient = &status["packages"][0]["recipients"][0];
    assert_eq!(recipient["address"], "ben@example.org");
    assert_eq!(recipient["mail"], "waiting");
    assert_eq!(recipient["seen"], true);
    assert!(recipient["opened"].is_string() && recipient["acknowledged"].is_string());
    assert_eq!(status["packages"][0]["waitingOn"], json!([]));
}

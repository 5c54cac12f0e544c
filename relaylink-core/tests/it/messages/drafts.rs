//! Drafts: what a preview says, what they may hold, and their end.

use relaylink_core::{
    relay::limits::{ASKS_MAX, BODY_MAX, CONTEXT_MAX, DRAFTS_PAGE_MAX, RECIPIENTS_MAX, SUBJECT_MAX},
    tool::Code,
};
use serde_json::{Value as Json, json};

use super::{ana_and_ben, drafts, inbox, status, whole};
use crate::town::{Town, address, list, nobodys, text};

#[tokio::test]
async fn draft_package_inserts_a_draft_and_nothing_else() {
    let world = ana_and_ben().await;
    let before = world.rows();
    world.ok("ana", "draft_package", whole()).await;
    let changes = before.changes_to(&world.rows());
    let tables: Vec<_> = changes.added.iter().map(|(table, _)| table.as_str()).collect();
    assert_eq!(tables, ["draft_people", "drafts"]);
    assert!(changes.removed.is_empty() && changes.changed.is_empty() && changes.reached.is_empty());
    assert_eq!(drafts(&world, "ana").await.len(), 1);
    assert!(inbox(&world, "ben", json!({})).await.is_empty());
}

#[tokio::test]
async fn a_second_draft_package_is_a_second_row() {
    let world = ana_and_ben().await;
    let first = world.ok("ana", "draft_package", whole()).await;
    let second = world.ok("ana", "draft_package", whole()).await;
    assert_ne!(first["draft"], second["draft"]);
    let listed: Vec<_> = drafts(&world, "ana").await.iter().map(|draft| draft["draft"].clone()).collect();
    assert_eq!(listed, [second["draft"].clone(), first["draft"].clone()]);
}

#[tokio::test]
async fn the_preview_says_whom_it_reaches_and_whom_not_and_a_blocker_looks_like_a_stranger() {
    let world = ana_and_ben().await;
    world.contacts("ana", "cara").await;
    world.contacts("dan", "ana").await;
    world.ok("cara", "block_contact", json!({ "contact": address("ana") })).await;
    world.ok("ana", "block_contact", json!({ "contact": address("dan") })).await;
    let to = ["ben@example.org", "cara@example.org", "dan@example.org", "eve@example.org", "no@example.org"];
    let draft = json!({ "to": to, "subject": "s", "body": "b" });
    let preview = world.ok("ana", "draft_package", draft).await;
    assert_eq!(preview["to"].as_array().unwrap().len(), 1);
    assert_eq!((&preview["to"][0]["address"], &preview["to"][0]["name"]), (&json!(to[0]), &json!("Ben")));
    let unreached = list(&preview["notReached"]);
    let addresses: Vec<_> = unreached.iter().map(|person| person["address"].clone()).collect();
    assert_eq!(addresses, to[1..]);
    assert_eq!(unreached[0]["reason"], unreached[2]["reason"], "the blocker looks like a stranger");
    assert_eq!(unreached[0]["reason"], unreached[3]["reason"], "and like nobody at all");
    assert_ne!(
        unreached[0]["reason"], unreached[1]["reason"],
        "whom the caller has blocked, the caller knows"
    );
    assert_eq!(drafts(&world, "ana").await[0]["notReached"], preview["notReached"]);
}

#[tokio::test]
async fn an_unknown_person_is_not_found_and_the_same_one_twice_counts_once() {
    let world = ana_and_ben().await;
    let draft = |to: &[&str]| json!({ "to": to, "subject": "s", "body": "b" });
    for unknown in ["Nobody", &nobodys("ctc"), "ctc_", &nobodys("pkg")] {
        world.refused("ana", "draft_package", draft(&[unknown]), Code::NotFound).await;
    }
    world.refused("ana", "draft_package", draft(&["ben@"]), Code::InvalidArgument).await;
    world.refused("ana", "draft_package", draft(&[]), Code::InvalidArgument).await;
    let preview =
        world.ok("ana", "draft_package", draft(&["Ben", "ben@example.org", "BEN@example.org"])).await;
    assert_eq!(list(&preview["to"]).len(), 1);
}

#[tokio::test]
async fn a_draft_that_reaches_nobody_is_kept_and_not_sent() {
    let world = Town::new().await;
    let draft = world.draft("ana", &["ben"], "To a stranger").await;
    assert_eq!(drafts(&world, "ana").await.len(), 1);
    world.refused("ana", "confirm_send", json!({ "draft": draft }), Code::NotPermitted).await;
    // Whom it did not reach is no recipient of it, also when they are a contact since.
    world.contacts("ana", "ben").await;
    world.refused("ana", "confirm_send", json!({ "draft": draft }), Code::NotPermitted).await;
}

#[tokio::test]
async fn a_reply_needs_a_thread_that_the_caller_sees() {
    let world = ana_and_ben().await;
    world.contacts("ben", "cara").await;
    let (_, thread) = world.send("ana", &["ben"], "First").await;
    let reply = |thread: &Json| json!({ "to": ["Ben"], "subject": "s", "body": "b", "thread": thread });
    let theirs = world.refused("cara", "draft_package", reply(&json!(thread)), Code::NotFound).await;
    assert_eq!(
        theirs,
        world.refused("cara", "draft_package", reply(&json!(nobodys("thr"))), Code::NotFound).await
    );
    let back = json!({ "to": ["Ana"], "subject": "Re: First", "body": "b", "thread": thread });
    let draft = world.ok("ben", "draft_package", back).await;
    assert_eq!(draft["thread"], thread);
    let sent = world.ok("ben", "confirm_send", json!({ "draft": draft["draft"] })).await;
    assert_eq!(sent["thread"], thread);
    assert_eq!(list(&status(&world, "ana", &thread).await["packages"]).len(), 2);
}

#[tokio::test]
async fn texts_have_limits_and_a_subject_is_one_visible_line() {
    let world = ana_and_ben().await;
    for (field, max) in
        [("subject", SUBJECT_MAX), ("body", BODY_MAX), ("asks", ASKS_MAX), ("context", CONTEXT_MAX)]
    {
        let with = |text: String| {
            let mut draft = whole();
            draft[field] = json!(text);
            draft
        };
        let refusal =
            world.refused("ana", "draft_package", with("é".repeat(max + 1)), Code::InvalidArgument).await;
        assert_eq!(refusal.field.as_deref(), Some(field));
        world.refused("ana", "draft_package", with("a\0b".into()), Code::InvalidArgument).await;
        world.ok("ana", "draft_package", with("é".repeat(max))).await;
    }
    for end in ["\r\n", "\n", "\r", "\u{2028}", "\0", "\u{202e}"] {
        let mut draft = whole();
        draft["subject"] = json!(format!("Budget{end}Bcc: x@evil.test"));
        world.refused("ana", "draft_package", draft, Code::InvalidArgument).await;
    }
    for field in ["subject", "body"] {
        let mut draft = whole();
        draft[field] = json!("  ");
        world.refused("ana", "draft_package", draft, Code::InvalidArgument).await;
    }
}

#[tokio::test]
async fn a_draft_names_so_many_people_at_most() {
    let world = Town::new().await;
    let draft = |people: usize| {
        let to: Vec<_> = (0..people).map(|n| format!("x{n}@example.org")).collect();
        json!({ "to": to, "subject": "s", "body": "b" })
    };
    world.ok("ana", "draft_package", draft(RECIPIENTS_MAX)).await;
    world.refused("ana", "draft_package", draft(RECIPIENTS_MAX + 1), Code::InvalidArgument).await;
}

#[tokio::test]
async fn list_drafts_gives_each_whole_and_ends_a_page_early() {
    let world = ana_and_ben().await;
    world.ok("ana", "draft_package", whole()).await;
    let draft = &drafts(&world, "ana").await[0];
    for field in ["body", "asks", "context"] {
        assert_eq!(draft[field], json!({ "writtenBy": "ana@example.org", "content": whole()[field] }));
    }
    assert_eq!(draft["to"][0]["address"], "ben@example.org");
    let mut long = whole();
    long["body"] = json!("x".repeat(BODY_MAX));
    for _ in 0..3 {
        world.ok("ana", "draft_package", long.clone()).await;
    }
    let (mut pages, mut last, mut cursor) = (Vec::new(), Json::Null, Json::Null);
    while pages.len() < 10 {
        let page = world.ok("ana", "list_drafts", json!({ "cursor": cursor })).await;
        let characters = list(&page["drafts"]).iter().map(|draft| text(&draft["body"]["content"]).len());
        assert!(characters.sum::<usize>() <= usize::try_from(DRAFTS_PAGE_MAX).unwrap());
        pages.push(list(&page["drafts"]).len());
        last = list(&page["drafts"]).last().unwrap().clone();
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    assert_eq!((pages, &last), (vec![1, 1, 2], draft));
    assert!(drafts(&world, "ben").await.is_empty());
}

#[tokio::test]
async fn cancel_draft_takes_the_content_away_and_again_answers_the_same() {
    let world = ana_and_ben().await;
    let draft = world.draft("ana", &["ben"], "Budget").await;
    let cancelled = world.ok("ana", "cancel_draft", json!({ "draft": draft })).await;
    assert_eq!((world.count("drafts"), world.count("draft_people")), (0, 0));
    let before = world.rows();
    assert_eq!(world.ok("ana", "cancel_draft", json!({ "draft": draft })).await, cancelled);
    assert!(before.changes_to(&world.rows()).is_empty());
    world.refused("ana", "confirm_send", json!({ "draft": draft }), Code::Conflict).await;
    let theirs = world.refused("ben", "cancel_draft", json!({ "draft": draft }), Code::NotFound).await;
    let none = world.refused("ben", "cancel_draft", json!({ "draft": nobodys("drf") }), Code::NotFound).await;
    assert_eq!(theirs, none);
}

#[tokio::test]
async fn a_sent_draft_is_not_cancelled() {
    let world = ana_and_ben().await;
    let draft = world.draft("ana", &["ben"], "Budget").await;
    world.ok("ana", "confirm_send", json!({ "draft": draft })).await;
    world.refused("ana", "cancel_draft", json!({ "draft": draft }), Code::Conflict).await;
}

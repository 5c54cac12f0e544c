//! Blocks: what they take away, what they keep off, and what the blocked learn.

use relaylink_core::tool::Code;
use serde_json::json;

use super::{invite, listed, one, standing};
use crate::town::{Town, address};

#[tokio::test]
async fn whom_the_caller_has_blocked_the_caller_cannot_invite() {
    let world = Town::new().await;
    world.ok("ana", "block_contact", json!({ "contact": address("ben") })).await;
    world.refused("ana", "invite_contact", json!({ "email": address("ben") }), Code::Blocked).await;
}

#[tokio::test]
async fn block_contact_removes_the_contact_both_ways_and_again_changes_nothing() {
    let world = Town::new().await;
    world.contacts("ana", "ben").await;
    let contact = listed(&world, "ana").await[0]["contact"].clone();
    let mails = world.mails();
    let blocked = world.ok("ana", "block_contact", json!({ "contact": contact })).await;
    assert_eq!(blocked["contact"], contact);
    assert_eq!(world.count("contacts"), 0);
    assert_eq!(world.mails(), mails);
    assert_eq!(standing(&world, "ana").await, one("blocked", "ben"));
    assert_eq!(standing(&world, "ben").await, []);
    let before = world.rows();
    for named in [contact, json!(address("ben")), json!("BEN@example.org"), json!("Ben"), json!(" ben ")] {
        assert_eq!(world.ok("ana", "block_contact", json!({ "contact": named })).await, blocked);
    }
    assert!(before.changes_to(&world.rows()).is_empty());
}

#[tokio::test]
async fn block_contact_removes_requests_both_ways_and_takes_any_address() {
    let world = Town::new().await;
    let to_ben = invite(&world, "ana", "ben").await;
    let from_cara = invite(&world, "cara", "ana").await;
    for who in ["ben", "cara"] {
        world.ok("ana", "block_contact", json!({ "contact": address(who) })).await;
    }
    world.ok("ana", "block_contact", json!({ "contact": "nobody@example.org" })).await;
    assert_eq!(world.count("contacts"), 0);
    world.refused("ben", "accept_contact", json!({ "request": to_ben }), Code::NotFound).await;
    world.refused("ana", "accept_contact", json!({ "request": from_cara }), Code::NotFound).await;
    let states: Vec<_> = standing(&world, "ana").await.into_iter().map(|(state, _)| state).collect();
    assert_eq!(states, ["blocked"; 3]);
}

#[tokio::test]
async fn a_block_holds_for_an_address_that_gets_an_account_later() {
    let world = Town::new().await;
    world.ok("ana", "block_contact", json!({ "contact": "zoe@example.org" })).await;
    let zoe = world.add("Zoe@example.org", "Zoë").await;
    let mails = world.mails();
    world.call_as(&zoe, "invite_contact", json!({ "email": "ana@example.org" })).await.unwrap();
    assert_eq!(world.mails(), mails);
    assert_eq!(standing(&world, "ana").await, [("blocked".into(), "zoe@example.org".into())]);
}

#[tokio::test]
async fn what_is_asked_during_a_block_cannot_be_accepted() {
    let world = Town::new().await;
    world.ok("ana", "block_contact", json!({ "contact": address("ben") })).await;
    let request = invite(&world, "ben", "ana").await;
    world.refused("ana", "accept_contact", json!({ "request": request }), Code::NotFound).await;
}

#[tokio::test]
async fn a_blocked_person_gets_through_by_nothing_and_learns_nothing() {
    let world = Town::new().await;
    world.contacts("ana", "ben").await;
    let (_, thread) = world.send("ana", &["ben"], "Before").await;
    let open = world.draft("ben", &["ana"], "Drafted before").await;
    world.ok("ana", "block_contact", json!({ "contact": address("ben") })).await;
    let (mails, packages) = (world.mails(), world.count("packages"));

    let refusal = world.refused("ben", "confirm_send", json!({ "draft": open }), Code::NotPermitted).await;
    let reply = json!({ "to": ["ana@example.org"], "subject": "Re", "body": "b", "thread": thread });
    let preview = world.ok("ben", "draft_package", reply).await;
    let stranger = json!({ "to": ["dan@example.org"], "subject": "Re", "body": "b" });
    let stranger = world.ok("ben", "draft_package", stranger).await;
    assert_eq!(preview["notReached"][0]["reason"], stranger["notReached"][0]["reason"]);
    let draft = json!({ "draft": preview["draft"] });
    let to_blocker = world.refused("ben", "confirm_send", draft, Code::NotPermitted).await;
    let draft = json!({ "draft": stranger["draft"] });
    assert_eq!(to_blocker, world.refused("ben", "confirm_send", draft, Code::NotPermitted).await);
    let request = invite(&world, "ben", "ana").await;
    world.ok("ben", "withdraw_invite", json!({ "request": request })).await;
    invite(&world, "ben", "ana").await;

    assert_eq!((world.mails(), world.count("packages")), (mails, packages));
    assert_eq!(standing(&world, "ana").await, one("blocked", "ben"));
    assert_eq!(standing(&world, "ben").await, one("outgoing", "ana"));
    for told in [refusal.message, to_blocker.message] {
        assert!(!told.contains("block"), "{told}");
    }
}

//! Addresses: their spellings, and one's own.

use relaylink_core::tool::Code;
use serde_json::json;

use super::standing;
use crate::town::{Town, address};

#[tokio::test]
async fn the_own_address_is_refused_everywhere() {
    let world = Town::new().await;
    for (tool, arguments) in [
        ("invite_contact", json!({ "email": "ANA@example.org" })),
        ("block_contact", json!({ "contact": "ana@Example.org" })),
        ("draft_package", json!({ "to": ["ana@example.org"], "subject": "s", "body": "b" })),
    ] {
        world.refused("ana", tool, arguments, Code::InvalidArgument).await;
    }
}

#[tokio::test]
async fn one_address_in_two_spellings_is_one_contact_and_one_block() {
    let world = Town::new().await;
    let bob = world.add("Bob@Example.test", "Bob").await;
    let first = world.ok("ana", "invite_contact", json!({ "email": "bob@example.TEST" })).await;
    let again = world.ok("ana", "invite_contact", json!({ "email": "BOB@example.test" })).await;
    assert_eq!(again, first);
    world.call_as(&bob, "accept_contact", json!({ "request": first["request"] })).await.unwrap();
    let draft = json!({ "to": ["bob@EXAMPLE.test"], "subject": "s", "body": "b" });
    let draft = world.ok("ana", "draft_package", draft).await;
    world.ok("ana", "confirm_send", json!({ "draft": draft["draft"] })).await;
    assert_eq!(world.mails().last().unwrap().to, "bob@example.test");
    let blocked = world.ok("ana", "block_contact", json!({ "contact": "bOb@example.test" })).await;
    let again = world.ok("ana", "block_contact", json!({ "contact": "BOB@EXAMPLE.TEST" })).await;
    assert_eq!((again, world.count("blocks"), world.count("contacts")), (blocked, 1, 0));
}

#[tokio::test]
async fn an_address_with_a_plus_is_another_address_at_every_step() {
    let world = Town::new().await;
    world.contacts("ana", "ben").await;
    let work = world.add("ben+work@example.org", "Ben at work").await;
    let asked = world.ok("ana", "invite_contact", json!({ "email": "ben+work@example.org" })).await;
    assert_eq!((&asked["state"], &asked["address"]), (&json!("outgoing"), &json!("ben+work@example.org")));
    world.call_as(&work, "accept_contact", json!({ "request": asked["request"] })).await.unwrap();
    let draft = json!({ "to": ["ben+work@example.org"], "subject": "s", "body": "b" });
    let draft = world.ok("ana", "draft_package", draft).await;
    world.ok("ana", "confirm_send", json!({ "draft": draft["draft"] })).await;
    assert_eq!(world.mails().last().unwrap().to, "ben+work@example.org");
    world.ok("ana", "block_contact", json!({ "contact": "ben+work@example.org" })).await;
    let states = standing(&world, "ana").await;
    assert_eq!(states[0], ("blocked".into(), "ben+work@example.org".into()));
    assert_eq!(states[1], ("accepted".into(), address("ben")));
}

#[tokio::test]
async fn a_domain_goes_out_in_ascii_and_a_local_part_beyond_it_is_refused_up_front() {
    let world = Town::new().await;
    world.ok("ana", "invite_contact", json!({ "email": "user@köln.example" })).await;
    assert_eq!(world.mails()[0].to, "user@xn--kln-sna.example");
    for tool in ["invite_contact", "block_contact"] {
        let field = if tool == "invite_contact" { "email" } else { "contact" };
        let refusal =
            world.refused("ana", tool, json!({ field: "jösé@x.test" }), Code::InvalidArgument).await;
        assert!(refusal.message.contains("before the @"), "{}", refusal.message);
    }
}

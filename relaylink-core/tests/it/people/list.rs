//! Who is listed, and who is meant by an id, an address or a name.

use relaylink_core::tool::{Caller, Code};
use serde_json::{Value as Json, json};

use super::{invite, listed};
use crate::{
    town::{Town, address, list, nobodys, text},
    world::may,
};

#[tokio::test]
async fn list_contacts_narrows_by_state_and_query_and_pages() {
    let world = Town::new().await;
    world.contacts("ana", "ben").await;
    invite(&world, "ana", "cara").await;
    invite(&world, "dan", "ana").await;
    world.ok("ana", "block_contact", json!({ "contact": address("eve") })).await;
    let all = ["eve", "dan", "cara", "ben"].map(address);
    let addresses = |entries: &[Json]| entries.iter().map(|e| text(&e["address"])).collect::<Vec<_>>();
    assert_eq!(addresses(&listed(&world, "ana").await), all);
    for (state, who) in [("accepted", "ben"), ("outgoing", "cara"), ("incoming", "dan"), ("blocked", "eve")] {
        let some = world.ok("ana", "list_contacts", json!({ "state": state })).await;
        assert_eq!(addresses(list(&some["contacts"])), [address(who)], "{state}");
        assert_eq!(some["contacts"][0]["state"], state);
    }
    for (query, found) in
        [("BEN", vec!["ben"]), ("example", vec!["eve", "dan", "cara", "ben"]), ("%", vec![])]
    {
        let some = world.ok("ana", "list_contacts", json!({ "query": query })).await;
        let found: Vec<_> = found.into_iter().map(address).collect();
        assert_eq!(addresses(list(&some["contacts"])), found, "{query}");
    }
    let (mut seen, mut cursor) = (Vec::new(), Json::Null);
    loop {
        let arguments = json!({ "limit": 1, "cursor": cursor, "query": "example" });
        let page = world.ok("ana", "list_contacts", arguments).await;
        seen.extend(addresses(list(&page["contacts"])));
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    assert_eq!(seen, all);
}

#[tokio::test]
async fn a_contact_that_changes_while_a_list_is_paged_is_neither_skipped_nor_repeated() {
    let world = Town::new().await;
    let request = invite(&world, "ana", "ben").await;
    for who in ["cara", "dan"] {
        invite(&world, "ana", who).await;
    }
    let first = world.ok("ana", "list_contacts", json!({ "limit": 1 })).await;
    assert_eq!(first["contacts"][0]["address"], address("dan"));
    world.ok("ben", "accept_contact", json!({ "request": request })).await;
    invite(&world, "ana", "eve").await;
    let rest = world.ok("ana", "list_contacts", json!({ "cursor": first["nextCursor"] })).await;
    let rest: Vec<_> = list(&rest["contacts"]).iter().map(|entry| text(&entry["address"])).collect();
    assert_eq!(rest, [address("cara"), address("ben")]);
}

#[tokio::test]
async fn a_person_is_found_by_id_address_and_name_and_an_ambiguous_name_is_refused() {
    let world = Town::new().await;
    world.contacts("ana", "ben").await;
    let other = world.add("ben@elsewhere.example", "BEN").await;
    let draft = |to: Json| json!({ "to": [to], "subject": "s", "body": "b" });
    let contact = listed(&world, "ana").await[0]["contact"].clone();
    for named in [contact, json!("ben@example.org"), json!("BEN@EXAMPLE.ORG"), json!("ben"), json!(" Ben ")] {
        let preview = world.ok("ana", "draft_package", draft(named)).await;
        assert_eq!(preview["to"][0]["address"], "ben@example.org");
    }
    let asked = world.call_as(&other, "invite_contact", json!({ "email": address("ana") })).await.unwrap();
    world.ok("ana", "accept_contact", json!({ "request": asked["request"] })).await;
    let refusal = world.refused("ana", "draft_package", draft(json!("Ben")), Code::InvalidArgument).await;
    let hint = refusal.hint.unwrap();
    assert!(hint.contains("ben@example.org") && hint.contains("ben@elsewhere.example"), "{hint}");

    // The name is the other one's alone once this one is no contact any more.
    world.ok("ana", "block_contact", json!({ "contact": address("ben") })).await;
    let preview = world.ok("ana", "draft_package", draft(json!("Ben"))).await;
    assert_eq!(preview["to"][0]["address"], "ben@elsewhere.example");
}

#[tokio::test]
async fn somebody_elses_contact_id_is_answered_like_none_at_all() {
    let world = Town::new().await;
    world.contacts("ana", "ben").await;
    let theirs = listed(&world, "ana").await[0]["contact"].clone();
    let none = json!(nobodys("ctc"));
    for who in ["ben", "cara"] {
        let mut answers = Vec::new();
        for contact in [&theirs, &none, &json!("ctc_x"), &json!("No Such Name")] {
            answers.push(
                world.refused(who, "block_contact", json!({ "contact": contact }), Code::NotFound).await,
            );
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    }
}

#[tokio::test]
async fn a_key_that_can_only_read_lists_people_and_changes_nothing() {
    let world = Town::new().await;
    let request = invite(&world, "ben", "ana").await;
    let account = world.caller("ana").account;
    let reader = Caller::with_credential(account, "embedder", may(&[]));
    let before = world.rows();
    world.call_as(&reader, "list_contacts", json!({})).await.unwrap();
    for (tool, arguments) in [
        ("invite_contact", json!({ "email": address("dan") })),
        ("accept_contact", json!({ "request": request })),
        ("withdraw_invite", json!({ "request": request })),
        ("block_contact", json!({ "contact": address("dan") })),
    ] {
        let refusal = world.call_as(&reader, tool, arguments).await.unwrap_err();
        assert_eq!(refusal.code, Code::NotPermitted, "{tool}");
    }
    assert!(before.changes_to(&world.rows()).is_empty());
}

//! The people room: each sentence about its tools.

use relaylink_core::{
    relay::limits::{
        DAY_MS, INVITES_PER_ACCOUNT_A_DAY, INVITES_PER_ADDRESS_A_DAY, INVITES_PER_PAIR_A_DAY, NOTE_MAX,
    },
    tool::{Caller, Ceiling, Code, audit::World as _},
};
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

#[tokio::test]
async fn invite_contact_keeps_a_request_and_mails_the_address_once() {
    let world = Town::new().await;
    let arguments = json!({ "email": "Ben@Example.org", "note": "Hello from the workshop" });
    let invited = world.ok("ana", "invite_contact", arguments.clone()).await;
    assert_eq!(invited["state"], "outgoing");
    let mails = world.mails();
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].to, "Ben@example.org");
    assert_eq!(mails[0].about, text(&invited["request"]));
    assert_eq!(mails[0].subject, "Ana invites you to RelayLink");
    assert!(mails[0].body.contains("Hello from the workshop"));

    let before = world.rows();
    let again = world.ok("ana", "invite_contact", arguments).await;
    let other = json!({ "email": "ben@example.ORG", "note": "Another note" });
    assert_eq!(world.ok("ana", "invite_contact", other).await, invited);
    assert_eq!(again, invited);
    assert!(before.changes_to(&world.rows()).is_empty());

    let entry = &listed(&world, "ana").await[0];
    assert_eq!(
        entry["note"],
        json!({ "writtenBy": "ana@example.org", "content": "Hello from the workshop" })
    );
    assert!(entry.get("name").is_none());
    let asked = &listed(&world, "ben").await[0];
    assert_eq!((&asked["state"], &asked["name"]), (&json!("incoming"), &json!("Ana")));
    assert_eq!(asked["request"], invited["request"]);
    assert_eq!(asked["note"], entry["note"]);
}

#[tokio::test]
async fn an_accepted_contact_is_answered_as_it_stands() {
    let world = Town::new().await;
    world.contacts("ana", "ben").await;
    let before = world.rows();
    for (who, other) in [("ana", "ben"), ("ben", "ana")] {
        let invited = world.ok(who, "invite_contact", json!({ "email": address(other) })).await;
        assert_eq!(invited["state"], "accepted");
        assert!(text(&invited["contact"]).starts_with("ctc_"));
    }
    assert!(before.changes_to(&world.rows()).is_empty());
}

#[tokio::test]
async fn a_request_that_waits_for_the_caller_is_a_conflict_that_names_accept_contact() {
    let world = Town::new().await;
    let request = invite(&world, "ana", "ben").await;
    let refusal =
        world.refused("ben", "invite_contact", json!({ "email": address("ana") }), Code::Conflict).await;
    let hint = refusal.hint.unwrap();
    assert!(hint.contains("accept_contact") && hint.contains(&request), "{hint}");
}

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
async fn an_invitation_does_not_tell_member_from_stranger_from_blocker() {
    let world = Town::new().await;
    world.ok("ben", "block_contact", json!({ "contact": address("ana") })).await;
    let before = world.mails();
    let mut replies = Vec::new();
    for asked in ["ben@example.org", "cara@example.org", "nobody@example.org"] {
        let mut reply = world.ok("ana", "invite_contact", json!({ "email": asked })).await;
        assert!(text(&reply["request"].take()).starts_with("inv_"));
        assert_eq!(reply["address"].take(), asked);
        reply["since"].take();
        replies.push(reply);
    }
    assert!(replies.iter().all(|reply| *reply == replies[0]), "{replies:?}");
    let to: Vec<_> = world.new_mails(&before).into_iter().map(|mail| mail.to).collect();
    assert_eq!(to, ["cara@example.org", "nobody@example.org"]);

    let mut entries = listed(&world, "ana").await;
    for entry in &mut entries {
        for own in ["request", "address", "since"] {
            entry[own].take();
        }
    }
    assert!(entries.iter().all(|entry| *entry == entries[0]), "{entries:?}");
    assert!(standing(&world, "ben").await == one("blocked", "ana"), "the blocker sees no request");

    for asked in ["ben@example.org", "cara@example.org", "nobody@example.org"] {
        let again = world.ok("ana", "invite_contact", json!({ "email": asked })).await;
        let gone = world.ok("ana", "withdraw_invite", json!({ "request": again["request"] })).await;
        assert_eq!(gone["outcome"], "deleted");
    }
    assert_eq!(world.count("contacts"), 0);
}

#[tokio::test]
async fn whom_the_caller_has_blocked_the_caller_cannot_invite() {
    let world = Town::new().await;
    world.ok("ana", "block_contact", json!({ "contact": address("ben") })).await;
    world.refused("ana", "invite_contact", json!({ "email": address("ben") }), Code::Blocked).await;
}

#[tokio::test]
async fn an_address_without_an_account_sees_the_request_once_it_has_one() {
    let world = Town::new().await;
    let email = "Zoe+work@Example.org";
    let invited = world.ok("ana", "invite_contact", json!({ "email": email })).await;
    let zoe = world.add("zoe+work@example.org", "Zoë").await;
    let other = world.add("zoe@example.org", "Zoë").await;
    let seen = world.call_as(&zoe, "list_contacts", json!({})).await.unwrap();
    assert_eq!(seen["contacts"][0]["request"], invited["request"]);
    let unseen = world.call_as(&other, "list_contacts", json!({})).await.unwrap();
    assert_eq!(unseen["contacts"], json!([]));
    world.call_as(&zoe, "accept_contact", json!({ "request": invited["request"] })).await.unwrap();
    assert_eq!(standing(&world, "ana").await, [("accepted".into(), "Zoe+work@example.org".into())]);
}

#[tokio::test]
async fn accept_contact_turns_the_pending_row_into_an_accepted_one_and_mails_the_asker() {
    let world = Town::new().await;
    let request = invite(&world, "ana", "ben").await;
    let (before, mails) = (world.rows(), world.mails());
    let contact = world.ok("ben", "accept_contact", json!({ "request": request })).await;
    let changes = before.changes_to(&world.rows());
    assert_eq!(changes.removed, []);
    let columns: Vec<_> = changes.changed.iter().map(|c| (c.table.as_str(), c.column.as_str())).collect();
    assert_eq!(
        columns,
        [("contacts", "accepted"), ("contacts", "name"), ("contacts", "name_key"), ("contacts", "peer")]
    );
    assert!(changes.changed.iter().all(|change| change.was == Json::Null));
    assert_eq!(changes.added.iter().filter(|(table, _)| table == "contacts").count(), 1);
    let new = world.new_mails(&mails);
    assert_eq!((new.len(), new[0].to.as_str()), (1, "ana@example.org"));
    assert_eq!((&contact["address"], &contact["name"]), (&json!("ana@example.org"), &json!("Ana")));
    assert_eq!(standing(&world, "ana").await, one("accepted", "ben"));
    assert_eq!(standing(&world, "ben").await, one("accepted", "ana"));
}

#[tokio::test]
async fn a_second_accept_contact_is_an_error_and_changes_nothing() {
    let world = Town::new().await;
    let request = invite(&world, "ana", "ben").await;
    world.ok("ben", "accept_contact", json!({ "request": request })).await;
    world.refused("ben", "accept_contact", json!({ "request": request }), Code::NotFound).await;
}

#[tokio::test]
async fn only_the_one_asked_accepts_and_only_the_one_who_asked_withdraws() {
    let world = Town::new().await;
    let request = invite(&world, "ana", "ben").await;
    let missing = format!("inv_{}", "0".repeat(26));
    for who in ["ana", "cara"] {
        let theirs =
            world.refused(who, "accept_contact", json!({ "request": request }), Code::NotFound).await;
        let none = world.refused(who, "accept_contact", json!({ "request": missing }), Code::NotFound).await;
        assert_eq!(theirs, none);
    }
    for who in ["ben", "cara"] {
        let theirs =
            world.refused(who, "withdraw_invite", json!({ "request": request }), Code::NotFound).await;
        let none = world.refused(who, "withdraw_invite", json!({ "request": missing }), Code::NotFound).await;
        assert_eq!(theirs, none);
    }
}

#[tokio::test]
async fn withdraw_invite_deletes_the_waiting_request_and_a_second_time_is_an_error() {
    let world = Town::new().await;
    let request = invite(&world, "ana", "ben").await;
    let mails = world.mails();
    world.ok("ana", "withdraw_invite", json!({ "request": request })).await;
    assert_eq!(world.count("contacts"), 0);
    assert_eq!(world.mails(), mails, "a mail that is queued still goes");
    assert_eq!(standing(&world, "ben").await, []);
    world.refused("ana", "withdraw_invite", json!({ "request": request }), Code::NotFound).await;
    world.refused("ben", "accept_contact", json!({ "request": request }), Code::NotFound).await;
}

#[tokio::test]
async fn an_accepted_request_is_not_withdrawn() {
    let world = Town::new().await;
    let request = invite(&world, "ana", "ben").await;
    world.ok("ben", "accept_contact", json!({ "request": request })).await;
    world.refused("ana", "withdraw_invite", json!({ "request": request }), Code::NotFound).await;
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
async fn the_note_is_text_of_at_most_so_many_characters() {
    let world = Town::new().await;
    let arguments = |note: &str| json!({ "email": "x@example.org", "note": note });
    let long = "é".repeat(NOTE_MAX + 1);
    for note in [long.as_str(), "a\0b", "a\u{1b}[2J"] {
        world.refused("ana", "invite_contact", arguments(note), Code::InvalidArgument).await;
    }
    world.ok("ana", "invite_contact", arguments(&"é".repeat(NOTE_MAX))).await;
}

#[tokio::test]
async fn a_note_or_a_name_adds_no_header_and_no_link_to_the_mail() {
    let world = Town::new().await;
    let eve = world.add("eve@evil.test", "Prize! http://evil.test call +1 555 0100").await;
    let note = "Hello\r\nBcc: x@evil.test\r\n\r\nsee http://evil.test/prize";
    let arguments = json!({ "email": address("ben"), "note": note });
    world.call_as(&eve, "invite_contact", arguments).await.unwrap();
    let mail = &world.mails()[0];
    assert_eq!(mail.subject, "Prize http evil test call invites you to RelayLink");
    assert!(mail.body.contains("> Hello Bcc: [link] see [link]\n"), "{}", mail.body);
    assert!(!mail.body.contains("0100") && !mail.body.contains("evil.test/"), "{}", mail.body);
}

#[tokio::test]
async fn invitations_have_caps_that_a_withdrawal_does_not_lift() {
    let world = Town::new().await;
    let ben = json!({ "email": address("ben") });
    for _ in 0..INVITES_PER_PAIR_A_DAY {
        let request = invite(&world, "ana", "ben").await;
        world.ok("ana", "withdraw_invite", json!({ "request": request })).await;
    }
    world.refused("ana", "invite_contact", ben.clone(), Code::QuotaExceeded).await;
    world.clock.forward(DAY_MS);
    world.ok("ana", "invite_contact", ben.clone()).await;
    assert_eq!(i64::try_from(world.mails().len()), Ok(INVITES_PER_PAIR_A_DAY + 1));

    for n in 1..INVITES_PER_ACCOUNT_A_DAY {
        world.ok("ana", "invite_contact", json!({ "email": format!("x{n}@example.org") })).await;
    }
    let mails = world.mails();
    world.refused("ana", "invite_contact", json!({ "email": "last@example.org" }), Code::QuotaExceeded).await;
    world.ok("ana", "invite_contact", ben).await;
    assert_eq!(world.mails(), mails);
}

#[tokio::test]
async fn an_address_is_invited_so_often_a_day_whoever_asks() {
    let world = Town::new().await;
    for n in 0..=INVITES_PER_ADDRESS_A_DAY {
        let asker = world.add(&format!("asker{n}@example.org"), "Asker").await;
        let reply = world.call_as(&asker, "invite_contact", json!({ "email": address("ben") })).await;
        match reply {
            Ok(_) => assert!(n < INVITES_PER_ADDRESS_A_DAY),
            Err(refusal) => {
                assert_eq!((n, refusal.code), (INVITES_PER_ADDRESS_A_DAY, Code::QuotaExceeded));
            }
        }
    }
}

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
    for query in [Json::Null, json!("example")] {
        let (mut seen, mut cursor) = (Vec::new(), Json::Null);
        loop {
            let arguments = json!({ "limit": 1, "cursor": cursor, "query": query });
            let page = world.ok("ana", "list_contacts", arguments).await;
            seen.extend(addresses(list(&page["contacts"])));
            match page.get("nextCursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
        assert_eq!(seen, all, "{query}");
    }
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
async fn a_cursor_of_another_list_is_refused() {
    let world = Town::new().await;
    for n in 0..2 {
        world.draft("ana", &["ben"], &format!("Draft {n}")).await;
    }
    let page = world.ok("ana", "list_drafts", json!({ "limit": 1 })).await;
    let arguments = json!({ "cursor": page["nextCursor"] });
    world.refused("ana", "list_contacts", arguments, Code::InvalidArgument).await;
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
    let none = json!(format!("ctc_{}", "0".repeat(26)));
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
async fn the_rooms_tools_are_listed_in_order() {
    let world = Town::new().await;
    let toolset = world.toolset().rooms(&["people"]).unwrap();
    let names: Vec<_> = toolset.list().map(|tool| tool.name).collect();
    assert_eq!(
        names,
        ["list_contacts", "invite_contact", "accept_contact", "withdraw_invite", "block_contact"]
    );
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

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_asked_at_once_by_both_sides_is_one_request_and_what_is_accepted_at_once_one_contact() {
    let world = std::sync::Arc::new(Town::new().await);
    let calls = |tool: &'static str, arguments: [(&'static str, Json); 2]| {
        let spawned: Vec<_> = (0..10)
            .map(|n| {
                let (world, (who, arguments)) = (world.clone(), arguments[n % 2].clone());
                tokio::spawn(async move { world.call(who, tool, arguments).await })
            })
            .collect();
        async move {
            let mut answers = Vec::new();
            for call in spawned {
                answers.push(call.await.unwrap());
            }
            answers
        }
    };
    let both = [("ana", json!({ "email": address("ben") })), ("ben", json!({ "email": address("ana") }))];
    let answers = calls("invite_contact", both).await;
    let asked: Vec<_> = answers.iter().flatten().collect();
    assert!(asked.len() == 5 && asked.iter().all(|answer| *answer == asked[0]), "{answers:?}");
    assert!(answers.iter().filter_map(|answer| answer.as_ref().err()).all(|e| e.code == Code::Conflict));
    assert_eq!((world.mails().len(), world.count("contacts")), (1, 1));

    let request = json!({ "request": asked[0]["request"] });
    let answers = calls("accept_contact", [("ana", request.clone()), ("ben", request)]).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert_eq!((world.mails().len(), world.count("contacts")), (2, 2));
}

#[tokio::test]
async fn a_key_that_can_only_read_lists_people_and_changes_nothing() {
    let world = Town::new().await;
    let request = invite(&world, "ben", "ana").await;
    let account = world.caller("ana").account;
    let reader = Caller::with_credential(account, "embedder", Ceiling::listed::<&str>([]));
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

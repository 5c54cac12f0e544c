//! Invitations: asked, accepted, withdrawn, and how many there may be.

use relaylink_core::{
    relay::limits::{
        DAY_MS, INVITES_PER_ACCOUNT_A_DAY, INVITES_PER_ADDRESS_A_DAY, INVITES_PER_PAIR_A_DAY, NOTE_MAX,
    },
    tool::Code,
};
use serde_json::{Value as Json, json};

use super::{invite, listed, one, standing};
use crate::town::{Town, address, nobodys, text};

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
    let missing = nobodys("inv");
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

//! Confirming: what goes out, once, and when it may not.

use std::{fmt::Debug, sync::Arc};

use futures_util::future::join_all;
use relaylink_core::{
    relay::{
        Relay,
        limits::{DAY_MS, MAILS_PER_ACCOUNT_A_DAY, MAILS_PER_PAIR_A_DAY},
    },
    tool::{Caller, Code},
};
use serde_json::{Value as Json, json};
use tokio::task::JoinHandle;

use super::{ana_and_ben, drafts, inbox, status, whole};
use crate::{
    town::{Mail, Town, address, nobodys, text},
    world::{call, may},
};

#[tokio::test]
async fn confirm_send_mails_each_recipient_once_and_takes_the_draft_away() {
    let world = ana_and_ben().await;
    world.contacts("ana", "cara").await;
    let mut draft = whole();
    draft["to"] = json!(["ben@example.org", "cara@example.org", "eve@example.org"]);
    let draft = world.ok("ana", "draft_package", draft).await["draft"].clone();
    let mails = world.mails();
    let sent = world.ok("ana", "confirm_send", json!({ "draft": draft })).await;
    let new = world.new_mails(&mails);
    let to: Vec<_> = new.iter().map(|mail| mail.to.as_str()).collect();
    assert_eq!(to, ["ben@example.org", "cara@example.org"]);
    for Mail { subject, body, about, .. } in &new {
        assert_eq!((subject.as_str(), json!(about)), ("Ana sent you a briefing", sent["package"].clone()));
        for text in ["Budget", "See below.", "Agree by Friday?", "Decided on Monday."] {
            assert!(body.contains(text), "{body}");
        }
    }
    assert_eq!((world.count("drafts"), world.count("draft_people"), world.count("ended_drafts")), (0, 0, 1));
    assert_eq!((world.count("packages"), world.count("deliveries")), (1, 2));
}

#[tokio::test]
async fn confirm_send_again_answers_with_the_original_ids_whatever_else_has_changed() {
    let world = ana_and_ben().await;
    let draft = world.draft("ana", &["ben"], "Budget").await;
    let sent = world.ok("ana", "confirm_send", json!({ "draft": draft })).await;
    world.ok("ben", "block_contact", json!({ "contact": address("ana") })).await;
    let before = world.rows();
    for arguments in [
        json!({ "draft": draft }),
        json!({ "draft": draft, "to": ["eve@example.org"], "subject": "Another" }),
    ] {
        assert_eq!(world.ok("ana", "confirm_send", arguments).await, sent);
    }
    assert!(before.changes_to(&world.rows()).is_empty());
}

/// All answers are one, and one briefing and one mail went out since `mails`.
async fn assert_sent_once<A: PartialEq + Debug>(world: &Town, mails: &[Mail], calls: Vec<JoinHandle<A>>) {
    let answers: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(world.new_mails(mails).len(), 1);
    assert_eq!((world.count("packages"), world.count("deliveries")), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_confirm_send_in_parallel_send_once() {
    let world = Arc::new(ana_and_ben().await);
    let draft = world.draft("ana", &["ben"], "Budget").await;
    let mails = world.mails();
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let (world, draft) = (Arc::clone(&world), draft.clone());
            tokio::spawn(async move { world.ok("ana", "confirm_send", json!({ "draft": draft })).await })
        })
        .collect();
    assert_sent_once(&world, &mails, calls).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_programs_on_one_store_that_confirm_at_once_send_once() {
    let world = Arc::new(ana_and_ben().await);
    let draft = world.draft("ana", &["ben"], "Budget").await;
    let mails = world.mails();
    let other = Relay::new(world.place.open()).unwrap();
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let relay = if n % 2 == 0 { other.clone() } else { world.relay.clone() };
            let (caller, arguments) = (world.caller("ana"), json!({ "draft": draft }));
            tokio::spawn(async move { call(&relay, &caller, "confirm_send", arguments).await })
        })
        .collect();
    assert_sent_once(&world, &mails, calls).await;
}

#[tokio::test]
async fn after_an_answer_that_was_lost_the_reads_tell_what_happened() {
    let world = ana_and_ben().await;
    let (lost, kept) =
        (world.draft("ana", &["ben"], "Sent").await, world.draft("ana", &["ben"], "Open").await);
    world.call("ana", "confirm_send", json!({ "draft": lost })).await.unwrap();
    let open: Vec<_> = drafts(&world, "ana").await.iter().map(|draft| text(&draft["draft"])).collect();
    assert_eq!(open, [kept]);
    let again = world.ok("ana", "confirm_send", json!({ "draft": lost })).await;
    let seen = status(&world, "ana", &text(&again["thread"])).await;
    assert_eq!(seen["packages"][0]["package"], again["package"]);
    assert_eq!(inbox(&world, "ben", json!({})).await, [text(&again["package"])]);
}

#[tokio::test]
async fn confirm_send_needs_an_open_draft_of_the_callers_account() {
    let world = ana_and_ben().await;
    let draft = world.draft("ana", &["ben"], "Budget").await;
    for who in ["ben", "cara"] {
        for tool in ["confirm_send", "cancel_draft"] {
            let theirs = world.refused(who, tool, json!({ "draft": draft }), Code::NotFound).await;
            let none = world.refused(who, tool, json!({ "draft": nobodys("drf") }), Code::NotFound).await;
            assert_eq!(theirs, none);
        }
    }
    world.ok("ana", "confirm_send", json!({ "draft": draft })).await;
    let theirs = world.refused("ben", "confirm_send", json!({ "draft": draft }), Code::NotFound).await;
    let none = world.refused("ben", "confirm_send", json!({ "draft": nobodys("drf") }), Code::NotFound).await;
    assert_eq!(theirs, none);
}

#[tokio::test]
async fn another_key_of_the_account_may_confirm_and_one_without_mail_may_not() {
    let world = ana_and_ben().await;
    let draft = world.draft("ana", &["ben"], "Budget").await;
    let key =
        |effects: &[&str]| Caller::with_credential(world.caller("ana").account, "embedder", may(effects));
    let refusal = world
        .call_as(&key(&["Writes", "Removes"]), "confirm_send", json!({ "draft": draft }))
        .await
        .unwrap_err();
    assert_eq!(refusal.code, Code::NotPermitted);
    assert_eq!(world.count("packages"), 0);
    let all = key(&["Writes", "Removes", "ExternalMail"]);
    world.call_as(&all, "confirm_send", json!({ "draft": draft })).await.unwrap();
}

#[tokio::test]
async fn permission_is_checked_again_when_it_is_confirmed_and_all_reasons_are_told() {
    let world = ana_and_ben().await;
    for who in ["cara", "dan"] {
        world.contacts("ana", who).await;
    }
    let draft = world.draft("ana", &["ben", "cara", "dan"], "Budget").await;
    let preview = drafts(&world, "ana").await[0].clone();
    world.ok("ben", "block_contact", json!({ "contact": address("ana") })).await;
    world.ok("ana", "block_contact", json!({ "contact": address("dan") })).await;
    let refusal = world.refused("ana", "confirm_send", json!({ "draft": draft }), Code::NotPermitted).await;
    assert!(refusal.message.contains("ben@example.org") && refusal.message.contains("dan@example.org"));
    assert!(!refusal.message.contains("cara@example.org"), "{}", refusal.message);
    assert_eq!(world.count("packages"), 0);
    // Why it may not go comes before what was shown, also where that names a contact who is none now.
    let shown = json!({ "draft": draft, "to": preview["to"][0]["contact"].as_str().map(|id| [id]) });
    assert_eq!(refusal, world.refused("ana", "confirm_send", shown, Code::NotPermitted).await);
    assert_eq!(drafts(&world, "ana").await.len(), 1);
}

#[tokio::test]
async fn what_the_person_was_shown_must_be_what_goes() {
    let world = ana_and_ben().await;
    world.contacts("ana", "cara").await;
    let draft = world.draft("ana", &["ben", "cara"], "Budget").await;
    let confirm = |to: Json, subject: Json| json!({ "draft": draft, "to": to, "subject": subject });
    let both = json!(["Cara", "BEN@example.org", "ben"]);
    for (to, subject, field) in [
        (json!(["ben@example.org"]), Json::Null, "to"),
        (json!([]), Json::Null, "to"),
        (json!(""), Json::Null, "to"),
        (Json::Null, json!(""), "subject"),
        (json!(["ben", "cara", "eve@example.org"]), Json::Null, "to"),
        (both.clone(), json!("budget"), "subject"),
        (both.clone(), json!("Budget "), "subject"),
        (Json::Null, json!("Other"), "subject"),
    ] {
        let refusal = world.refused("ana", "confirm_send", confirm(to, subject), Code::Stale).await;
        assert_eq!(refusal.field.as_deref(), Some(field));
        let hint = refusal.hint.unwrap();
        let preview: Json = serde_json::from_str(&hint[hint.find('{').unwrap()..]).unwrap();
        assert_eq!(preview["to"].as_array().unwrap().len(), 2);
        assert_eq!(preview["subject"], json!({ "writtenBy": "ana@example.org", "content": "Budget" }));
    }
    world.ok("ana", "confirm_send", confirm(both, json!("Budget"))).await;
}

#[tokio::test]
async fn packages_have_caps_of_a_day_for_one_person_and_in_all() {
    let world = ana_and_ben().await;
    let draft = world.draft("ana", &["ben"], "Now").await;
    let earlier = |count: i64, to: &str| world.pretend_sent("ana", to, count);
    earlier(MAILS_PER_PAIR_A_DAY, "ben");
    world.refused("ana", "confirm_send", json!({ "draft": draft }), Code::QuotaExceeded).await;
    world.clock.forward(DAY_MS);
    earlier(MAILS_PER_ACCOUNT_A_DAY, "cara");
    world.refused("ana", "confirm_send", json!({ "draft": draft }), Code::QuotaExceeded).await;
    world.clock.forward(DAY_MS);
    earlier(MAILS_PER_PAIR_A_DAY - 1, "ben");
    world.ok("ana", "confirm_send", json!({ "draft": draft })).await;
}

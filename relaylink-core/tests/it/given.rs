//! What callers and embedders give is bounded before it is looked up, and held to one law on every engine.

use std::sync::Arc;

use relaylink_core::{
    account::{Whoami, everything_listed},
    mail::Letter,
    prelude::*,
    relay::{
        Relay,
        limits::{PAGE_DEFAULT, PAGE_MAX},
    },
    tool::{Caller, Ceiling},
};
use serde_json::json;

use crate::{
    town::{Town, address},
    world::code,
};

#[tokio::test]
async fn confirm_send_is_shown_no_more_people_than_a_draft_may_name() {
    let town = Town::new().await;
    town.contacts("ana", "ben").await;
    let draft = town.draft("ana", &["ben"], "Budget").await;
    let shown = |people: usize| json!({ "draft": draft, "to": vec![address("ben"); people] });
    let refusal = town.refused("ana", "confirm_send", shown(51), Code::InvalidArgument).await;
    assert_eq!(refusal.message, "`to` names 51 people, and may name 1 to 50.");
    assert_eq!(refusal.field.as_deref(), Some("to"));
    town.ok("ana", "confirm_send", shown(50)).await;
}

#[tokio::test]
async fn contacts_are_searched_for_by_no_more_characters_than_memories_are() {
    let town = Town::new().await;
    for tool in ["list_contacts", "memory_search"] {
        let query = |length| json!({ "query": "é".repeat(length) });
        town.ok("ana", tool, query(10_000)).await;
        let refusal = town.refused("ana", tool, query(10_001), Code::InvalidArgument).await;
        assert_eq!(refusal.message, "`query` has 10001 characters, and may have 10000.");
    }
}

#[tokio::test]
async fn an_address_that_begins_as_an_id_does_is_an_address() {
    let town = Town::new().await;
    let other = town.add("ctc_office@example.org", "Office").await;
    let invited = town.ok("ana", "invite_contact", json!({ "email": "ctc_office@example.org" })).await;
    town.call_as(&other, "accept_contact", json!({ "request": invited["request"] })).await.unwrap();
    let draft = json!({ "to": ["ctc_office@example.org"], "subject": "Budget", "body": "It is due." });
    let preview = town.ok("ana", "draft_package", draft).await;
    assert_eq!(preview["to"][0]["address"], "ctc_office@example.org");
    let unknown = json!({ "contact": "ctc_office" });
    town.refused("ana", "block_contact", unknown, Code::NotFound).await;
}

#[tokio::test]
async fn the_contact_of_a_name_is_found_however_many_bore_it() {
    let town = Town::new().await;
    for n in 0..12 {
        let email = format!("sam{n:02}@example.org");
        let sam = town.add(&email, "Sam").await;
        let invited = town.ok("ana", "invite_contact", json!({ "email": email })).await;
        town.call_as(&sam, "accept_contact", json!({ "request": invited["request"] })).await.unwrap();
        if n < 11 {
            town.ok("ana", "block_contact", json!({ "contact": email })).await;
        }
    }
    let draft = json!({ "to": ["Sam"], "subject": "Budget", "body": "It is due." });
    let preview = town.ok("ana", "draft_package", draft.clone()).await;
    assert_eq!(preview["to"][0]["address"], "sam11@example.org");
    town.ok("ana", "block_contact", json!({ "contact": "sam11@example.org" })).await;
    let refusal = town.refused("ana", "draft_package", draft, Code::InvalidArgument).await;
    assert_eq!(refusal.message, "Several people bear this name.");
    assert_eq!(refusal.hint.unwrap().matches("@example.org").count(), 10);
}

#[tokio::test]
async fn a_key_without_a_secret_and_without_limit_is_found_again_as_it_was_asked_for() {
    let town = Town::new().await;
    let account = town.caller("ana").account.parse().unwrap();
    let key = async |ceiling| {
        let accounts = town.relay.accounts();
        accounts.key_without_secret(&account, "laptop".parse().unwrap(), Some(ceiling)).await
    };
    let made = key(Ceiling::everything()).await.unwrap();
    assert_eq!(made.ceiling, everything_listed());
    for ceiling in [Ceiling::everything(), everything_listed()] {
        assert_eq!(key(ceiling).await.unwrap().credential, made.credential);
    }
    assert_eq!(code(key(Ceiling::listed::<&str>([])).await), Code::Conflict);
}

/// Mails about anything, for anybody.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(ExternalMail))]
struct MailsAbout {
    /// What about.
    about: String,
    /// For whom.
    recipient: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Done {}

impl Run for MailsAbout {
    type Reply = Done;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        let letter = Letter::new(to(), "Hello", "text", &self.about).recipient(&self.recipient);
        tx.mail(letter)?;
        Ok(Done {})
    }
}

fn to() -> relaylink_core::relay::Address {
    "ben@example.org".parse().unwrap()
}

#[tokio::test]
async fn a_nul_is_refused_before_it_reaches_an_engine() {
    let town = Town::new().await;
    let relay = Relay::builder(Arc::clone(&town.store)).tool::<MailsAbout>().build().unwrap();
    let ana = town.caller("ana");
    for (about, recipient) in [("pkg_\0", "acc_ben"), ("pkg_1", "acc\0ben")] {
        let mails = MailsAbout { about: about.into(), recipient: recipient.into() };
        assert_eq!(code(relay.run(&ana, mails).await), Code::InvalidArgument);
    }
    assert!(town.mails().is_empty());
    let with = |credential| Caller::with_credential(&*ana.account, credential, Ceiling::everything());
    for caller in [Caller::local("acc\0"), with("key_\0"), with("another\0")] {
        assert_eq!(code(relay.run(&caller, Whoami {}).await), Code::NotPermitted, "{caller:?}");
    }
    for name in ["Sam\0", "ctc_\0", "sam\0@example.org"] {
        let refusal = town.call("ana", "block_contact", json!({ "contact": name })).await.unwrap_err();
        let due = if name.contains('@') { Code::InvalidArgument } else { Code::NotFound };
        assert_eq!(refusal.code, due, "{refusal:?}");
    }
}

#[tokio::test]
async fn every_list_says_how_long_its_pages_are() {
    let town = Town::new().await;
    let due = format!("How many at most: 1 to {PAGE_MAX}, {PAGE_DEFAULT} unless told.");
    let tools = town.relay.toolset();
    let limits: Vec<_> = tools
        .list()
        .filter_map(|tool| tool.input["properties"].get("limit").map(|limit| (tool.name, limit)))
        .collect();
    assert!(limits.len() >= 6, "{limits:?}");
    for (tool, limit) in limits {
        assert_eq!(limit["description"], due.as_str(), "{tool}");
    }
}

//! Keys open what they say and nothing else; a revoked key is dead at once and for good.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use relaylink_core::{
    account::{RevokeApiKey, Whoami, everything_listed},
    relay::Secret,
    store::{Access, Request, Statement, Verdict, Work},
    tool::{Caller, Ceiling, Code, Grade},
};
use serde_json::json;

use crate::{
    town::nobodys,
    world::{World, code},
};

const DAY: i64 = 86_400_000;

#[tokio::test]
async fn an_address_has_one_account_however_it_is_written() {
    let world = World::new();
    let ana = world.account("Ana@Example.org").await;
    let again = world.accounts().create_account("ana@example.ORG".parse().unwrap(), "Ana".parse().unwrap());
    assert_eq!(code(again.await), Code::Conflict);
    let found = world.accounts().account(&"ANA@example.org".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(found, ana);
    assert_eq!(found.address.as_str(), "Ana@example.org");
    world.account("ben@example.org").await;
    let all = world.accounts().list_accounts().await.unwrap();
    assert_eq!(
        all.iter().map(|account| account.address.as_str()).collect::<Vec<_>>(),
        ["Ana@example.org", "ben@example.org"]
    );
}

#[tokio::test]
async fn a_key_opens_its_account_until_it_expires() {
    let world = World::new();
    let ana = world.account("ana@example.org").await;
    let expires = Some(ana.created.plus_millis(DAY));
    let ceiling = Ceiling::listed([("Removes", Grade::Stage), ("Writes", Grade::Allow)]);
    let (key, secret) = world
        .accounts()
        .create_key(&ana.id, "Laptop".parse().unwrap(), ceiling.clone(), expires)
        .await
        .unwrap();
    let caller = world.authenticate(secret.expose()).await.unwrap().unwrap();
    assert_eq!((&*caller.account, caller.credential.as_deref()), (ana.id.as_str(), Some(key.id.as_str())));
    assert_eq!(caller.ceiling, ceiling);
    let me = world.run(&caller, Whoami {}).await.unwrap();
    assert_eq!((me.key, me.key_name.as_deref()), (Some(key.id), Some("Laptop")));
    assert_eq!(me.address.as_str(), "ana@example.org");
    assert_eq!(
        me.may,
        "May read and write. May only prepare, for a person to confirm: delete. May not: send mail and change shared projects."
    );

    world.clock.forward(DAY);
    assert!(world.authenticate(secret.expose()).await.unwrap().is_none());
    assert_eq!(code(world.run(&caller, Whoami {}).await), Code::NotPermitted);
}

#[tokio::test]
async fn names_of_keys_are_unique_in_an_account_also_after_they_are_revoked() {
    let world = World::new();
    let (ana, ben) = (world.account("ana@example.org").await, world.account("ben@example.org").await);
    let make = async |account, name: &str| {
        let made =
            world.accounts().create_key(account, name.parse().unwrap(), everything_listed(), None).await;
        made.map(|(key, _)| key.id)
    };
    let key = make(&ana.id, "Ärzte").await.unwrap();
    assert_eq!(code(make(&ana.id, "ÄRZTE").await), Code::Conflict);
    make(&ben.id, "Ärzte").await.unwrap();
    world.run(&Caller::local(ana.id.as_str()), RevokeApiKey { key }).await.unwrap();
    assert_eq!(code(make(&ana.id, "ärzte").await), Code::Conflict);
}

#[tokio::test]
async fn a_revoked_key_is_dead_at_once_and_one_letter_says_so() {
    let world = World::new();
    let ana = world.account("ana@example.org").await;
    let (key, secret) = world
        .accounts()
        .create_key(&ana.id, "Laptop".parse().unwrap(), everything_listed(), None)
        .await
        .unwrap();
    let caller = world.authenticate(secret.expose()).await.unwrap().unwrap();
    assert_eq!(hashes(&world).await, 1);
    // The key in use revokes itself.
    let first = world.run(&caller, RevokeApiKey { key: key.id.clone() }).await.unwrap();
    assert!(world.authenticate(secret.expose()).await.unwrap().is_none());
    let refused = world.run(&caller, Whoami {}).await.unwrap_err().into_refusal();
    assert_eq!(refused.code, Code::NotPermitted);
    assert!(refused.hint.is_some());

    world.clock.forward(DAY);
    let owner = Caller::local(ana.id.as_str());
    let again = world.run(&owner, RevokeApiKey { key: key.id.clone() }).await.unwrap();
    assert_eq!(again, first);
    let letters = world.letters().await;
    assert_eq!(letters.len(), 1);
    assert_eq!((letters[0].to.as_str(), letters[0].about.as_str()), ("ana@example.org", key.id.as_str()));
    assert_eq!(hashes(&world).await, 0);
    let listed = world.accounts().list_keys(&ana.id).await.unwrap();
    assert_eq!(listed[0].revoked, Some(first.revoked));
    assert_eq!(listed[0].shown.as_deref(), key.shown.as_deref());
}

/// How many hashes of keys the store has.
async fn hashes(world: &World) -> usize {
    static HASHES: Statement = Statement::unchecked("SELECT hash FROM key_hashes");
    let counted = Arc::new(AtomicUsize::new(0));
    let into = Arc::clone(&counted);
    let work: Work = Box::new(move |session| {
        into.store(session.query(&HASHES, &[]).unwrap().len(), SeqCst);
        Verdict::Commit
    });
    world.store.transact(Request::new(Access::READ, ""), work).await.unwrap();
    counted.load(SeqCst)
}

#[tokio::test]
async fn another_accounts_key_is_answered_like_one_that_does_not_exist() {
    let world = World::new();
    let (ana, ben) = (world.account("ana@example.org").await, world.person("ben@example.org").await);
    let (key, secret) = world
        .accounts()
        .create_key(&ana.id, "Laptop".parse().unwrap(), everything_listed(), None)
        .await
        .unwrap();
    let nothing = nobodys("key");
    let foreign = world.call(&ben, "revoke_api_key", json!({ "key": key.id.as_str() })).await.unwrap_err();
    let missing = world.call(&ben, "revoke_api_key", json!({ "key": nothing })).await.unwrap_err();
    assert_eq!(foreign, missing);
    assert_eq!(foreign.code, Code::NotFound);
    assert!(world.authenticate(secret.expose()).await.unwrap().is_some());
    assert_eq!(world.letters().await, []);
}

#[tokio::test]
async fn what_is_listed_of_a_key_opens_nothing() {
    let world = World::new();
    let ana = world.account("ana@example.org").await;
    let (_, secret) = world
        .accounts()
        .create_key(&ana.id, "Laptop".parse().unwrap(), everything_listed(), None)
        .await
        .unwrap();
    let caller = world.key(ana.id.as_str(), "stdio", everything_listed()).await;
    let reply = world.call(&caller, "list_api_keys", json!({})).await.unwrap();
    let keys = reply["keys"].as_array().unwrap();
    assert_eq!(keys.iter().map(|key| key["name"].as_str().unwrap()).collect::<Vec<_>>(), ["stdio", "Laptop"]);
    assert!(keys[0].get("shown").is_none());
    let shown = keys[1]["shown"].as_str().unwrap();
    let (first, last) = shown.split_once('…').unwrap();
    assert_eq!((first.len(), last.len()), (6, 6));
    assert!(secret.expose().starts_with(first) && secret.expose().ends_with(last));
    let mut texts: Vec<&str> = keys
        .iter()
        .flat_map(|key| key.as_object().unwrap().values())
        .filter_map(|value| value.as_str())
        .collect();
    texts.extend([first, last, "", "rlk_"]);
    for text in texts {
        assert!(world.authenticate(text).await.unwrap().is_none(), "{text}");
    }
    assert!(!holds_eight_of(&reply.to_string().into_bytes(), &secret));
}

#[tokio::test]
async fn a_copy_of_the_store_opens_nothing() {
    let world = World::new();
    let ana = world.account("ana@example.org").await;
    let (_, secret) = world
        .accounts()
        .create_key(&ana.id, "Laptop".parse().unwrap(), everything_listed(), None)
        .await
        .unwrap();
    let bytes = world.place.bytes();
    let six = secret.expose().as_bytes()[..6].to_vec();
    assert!(bytes.windows(6).any(|window| window == six), "the key's row is in these bytes");
    assert!(!holds_eight_of(&bytes, &secret));
}

/// Whether eight characters in a row of the secret's random part are in there.
fn holds_eight_of(bytes: &[u8], secret: &Secret) -> bool {
    let wanted: std::collections::HashSet<_> = secret.expose().as_bytes().windows(8).collect();
    bytes.windows(8).any(|window| wanted.contains(window))
}

#[tokio::test]
async fn a_key_without_a_secret_is_found_again_by_its_name_and_not_made_anew() {
    let world = World::new();
    let ana = world.account("ana@example.org").await;
    let act = async |name: &str, ceiling| {
        world.accounts().key_without_secret(&ana.id, name.parse().unwrap(), ceiling).await
    };
    let read_only = Ceiling::listed(Vec::<(&str, Grade)>::new());
    let first = act("Editor", Some(read_only.clone())).await.unwrap();
    let again = act("editor", None).await.unwrap();
    assert_eq!((again.credential.clone(), again.ceiling), (first.credential.clone(), read_only));
    assert_eq!(code(act("Editor", Some(everything_listed())).await), Code::Conflict);
    world.accounts().create_key(&ana.id, "Laptop".parse().unwrap(), everything_listed(), None).await.unwrap();
    assert_eq!(code(act("Laptop", None).await), Code::Conflict);

    let owner = Caller::local(ana.id.as_str());
    let key = first.credential.as_deref().unwrap().parse().unwrap();
    world.run(&owner, RevokeApiKey { key }).await.unwrap();
    assert_eq!(code(act("Editor", None).await), Code::NotPermitted);
    assert_eq!(code(world.run(&first, Whoami {}).await), Code::NotPermitted);
    assert_eq!(world.accounts().list_keys(&ana.id).await.unwrap().len(), 2);
}

#[tokio::test]
async fn the_last_use_is_listed_once_it_is_written_down() {
    let world = World::new();
    let ana = world.account("ana@example.org").await;
    let caller = world.key(ana.id.as_str(), "Editor", everything_listed()).await;
    let used = async || world.accounts().list_keys(&ana.id).await.unwrap()[0].last_used;
    world.run(&caller, Whoami {}).await.unwrap();
    assert_eq!(used().await, None);
    world.flush_key_use().await.unwrap();
    let first = used().await;
    assert_eq!(first, Some(ana.created.plus_millis(1_000)));
    world.clock.forward(59_999);
    world.run(&caller, Whoami {}).await.unwrap();
    world.flush_key_use().await.unwrap();
    assert_eq!(used().await, first);
    world.clock.forward(1);
    world.run(&caller, Whoami {}).await.unwrap();
    world.flush_key_use().await.unwrap();
    assert_eq!(used().await, Some(ana.created.plus_millis(61_000)));
}

#[tokio::test]
async fn a_wrong_checksum_costs_no_call_to_the_store() {
    let (relay, store) = crate::nowhere::relay();
    for text in ["", "rlk_", "rlk_000000000000000000000000000000AAAAAA", &"x".repeat(10_000)] {
        assert!(relay.authenticate(text).await.unwrap().is_none());
    }
    assert_eq!(store.asked(), 0);
    // CRC-32 of thirty zeros, reckoned elsewhere, in Base62.
    assert!(relay.authenticate("rlk_0000000000000000000000000000002C8GjS").await.is_err());
    assert_eq!(store.asked(), 1);
}

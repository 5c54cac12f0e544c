//! What is remembered is found by its words, whatever they are, and what is forgotten is gone.

use relaylink_core::tool::{Caller, Code};
use serde_json::{Value as Json, json};

use crate::{town::nobodys, world::World};

async fn add(world: &World, caller: &Caller, text: &str) -> String {
    let reply = world.call(caller, "memory_add", json!({ "text": text })).await.unwrap();
    reply["memory"].as_str().unwrap().to_owned()
}

async fn found(world: &World, caller: &Caller, arguments: Json) -> Vec<String> {
    let reply = world.call(caller, "memory_search", arguments).await.unwrap();
    let memories = reply["memories"].as_array().unwrap();
    memories.iter().map(|memory| memory["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn any_text_is_a_search_and_finds_itself() {
    let world = World::new();
    let ana = world.person("ana@example.org").await;
    let long = "word ".repeat(800);
    let texts = [
        "REL-204",
        "it's",
        "\"open quote",
        "AND",
        "OR NOT",
        "NEAR(",
        "*",
        "^x",
        "x:y",
        "(",
        "v1.2",
        "C++",
        "a=/b",
        "-",
        "🎉 party",
        "NULL",
        "memory_terms",
        "rowid:1",
        "{a b}",
        "a~b",
        "42~invoice",
        "%",
        "a_b",
        "back\\slash",
        long.trim(),
    ];
    for text in texts {
        add(&world, &ana, text).await;
    }
    for text in texts {
        let found = found(&world, &ana, json!({ "query": text, "limit": 100 })).await;
        assert!(found.iter().any(|one| one == text), "{text}");
    }
    for nothing in [json!({}), json!({ "query": "" }), json!({ "query": " - " })] {
        let mut arguments = nothing;
        arguments["limit"] = json!(100);
        assert_eq!(found(&world, &ana, arguments).await.len(), texts.len());
    }
    // Ten thousand characters, as many words as there can be.
    let many: String =
        (0..5_000).map(|n| char::from_u32(0x4e00 + n).unwrap()).flat_map(|c| [c, ' ']).collect();
    assert_eq!(found(&world, &ana, json!({ "query": many })).await, [""; 0]);
    let refused =
        world.call(&ana, "memory_search", json!({ "query": "x".repeat(10_001) })).await.unwrap_err();
    assert_eq!((refused.code, refused.field.as_deref()), (Code::InvalidArgument, Some("query")));
}

#[tokio::test]
async fn scripts_without_spaces_are_found_by_their_parts() {
    let world = World::new();
    let ana = world.person("ana@example.org").await;
    let texts =
        ["项目进度report-q3已更新", "会議メモdraft-v2共有済み", "회의록을 공유했습니다", "ประชุมวันศุกร์"];
    for text in texts {
        add(&world, &ana, text).await;
    }
    for (query, at) in
        [("进度", 0), ("report", 0), ("目", 0), ("会議メモ", 1), ("draft-v2", 1), ("회의록", 2), ("วันศุกร์", 3)]
    {
        assert_eq!(found(&world, &ana, json!({ "query": query })).await, [texts[at]], "{query}");
    }
}

#[tokio::test]
async fn all_words_must_occur_and_a_name_is_compared_like_every_name() {
    let world = World::new();
    let ana = world.person("ana@example.org").await;
    for (text, about) in [("Likes tea", Some("Jörg")), ("Likes coffee", Some("JÖRG")), ("Likes tea", None)]
    {
        world.call(&ana, "memory_add", json!({ "text": text, "about": about })).await.unwrap();
    }
    assert_eq!(found(&world, &ana, json!({ "query": "TEA likes" })).await.len(), 2);
    assert_eq!(found(&world, &ana, json!({ "query": "tea coffee" })).await.len(), 0);
    assert_eq!(found(&world, &ana, json!({ "query": "te" })).await.len(), 0);
    assert_eq!(found(&world, &ana, json!({ "about": "jörg" })).await, ["Likes coffee", "Likes tea"]);
    assert_eq!(found(&world, &ana, json!({ "about": "jörg", "query": "tea" })).await, ["Likes tea"]);
    assert_eq!(found(&world, &ana, json!({ "query": "jorg" })).await.len(), 2);
    assert_eq!(found(&world, &ana, json!({ "about": "jorg" })).await.len(), 0);
}

#[tokio::test]
async fn a_search_reaches_nothing_of_another_account() {
    let world = World::new();
    let (ana, ben) = (world.person("ana@example.org").await, world.person("ben@example.org").await);
    add(&world, &ana, "the invoice").await;
    for query in ["invoice", "1~invoice", "", "the", "* OR invoice"] {
        assert_eq!(found(&world, &ben, json!({ "query": query })).await, [""; 0], "{query}");
    }
}

#[tokio::test]
async fn what_is_forgotten_is_gone_and_forgetting_it_again_says_the_same() {
    let world = World::new();
    let (ana, ben) = (world.person("ana@example.org").await, world.person("ben@example.org").await);
    let kept = add(&world, &ana, "Zanzibar kept").await;
    let memory = add(&world, &ana, "Zanzibar forgotten").await;
    let first = world.call(&ana, "memory_forget", json!({ "memory": memory })).await.unwrap();
    assert_eq!(first, json!({ "memory": memory }));
    assert_eq!(found(&world, &ana, json!({ "query": "zanzibar" })).await, ["Zanzibar kept"]);
    assert_eq!(world.call(&ana, "memory_forget", json!({ "memory": memory })).await.unwrap(), first);

    let missing = json!({ "memory": nobodys("mem") });
    let missing = world.call(&ben, "memory_forget", missing).await.unwrap_err();
    assert_eq!(missing.code, Code::NotFound);
    for foreign in [&kept, &memory] {
        let refused = world.call(&ben, "memory_forget", json!({ "memory": foreign })).await.unwrap_err();
        assert_eq!(refused, missing);
    }
}

#[tokio::test]
async fn one_memory_takes_the_place_of_another_or_nothing_happens() {
    let world = World::new();
    let (ana, ben) = (world.person("ana@example.org").await, world.person("ben@example.org").await);
    let wrong = add(&world, &ana, "The budget is 5").await;
    let arguments = json!({ "text": "The budget is 6", "replaces": wrong });
    let right = world.call(&ana, "memory_add", arguments.clone()).await.unwrap();
    assert_eq!(found(&world, &ana, json!({ "query": "budget" })).await, ["The budget is 6"]);
    for (caller, replaces) in [(&ana, wrong.as_str()), (&ben, right["memory"].as_str().unwrap())] {
        let arguments = json!({ "text": "The budget is 7", "replaces": replaces });
        let refused = world.call(caller, "memory_add", arguments).await.unwrap_err();
        assert_eq!((refused.code, refused.field.as_deref()), (Code::NotFound, Some("replaces")));
        assert_eq!(found(&world, caller, json!({ "query": "7" })).await, [""; 0]);
    }
    assert_eq!(found(&world, &ana, json!({})).await, ["The budget is 6"]);
    // What was replaced is a memory that was forgotten.
    world.call(&ana, "memory_forget", json!({ "memory": wrong })).await.unwrap();
}

#[tokio::test]
async fn the_same_statement_twice_is_two_memories() {
    let world = World::new();
    let ana = world.person("ana@example.org").await;
    assert_ne!(add(&world, &ana, "twice").await, add(&world, &ana, "twice").await);
    assert_eq!(found(&world, &ana, json!({ "query": "twice" })).await.len(), 2);
}

#[tokio::test]
async fn a_memory_has_four_thousand_characters_at_most_and_no_control_characters() {
    let world = World::new();
    let ana = world.person("ana@example.org").await;
    add(&world, &ana, &"é".repeat(4_000)).await;
    for text in ["é".repeat(4_001), String::new(), "a\0b".into()] {
        let refused = world.call(&ana, "memory_add", json!({ "text": text })).await.unwrap_err();
        assert_eq!((refused.code, refused.field.as_deref()), (Code::InvalidArgument, Some("text")));
    }
}

#[tokio::test]
async fn every_memory_is_on_one_page_while_others_are_added_and_forgotten() {
    let world = World::new();
    let ana = world.person("ana@example.org").await;
    for n in 0..45 {
        add(&world, &ana, &format!("page {n}")).await;
    }
    let (mut texts, mut cursor) = (Vec::new(), Json::Null);
    loop {
        let arguments = json!({ "query": "page", "cursor": cursor });
        let page = world.call(&ana, "memory_search", arguments).await.unwrap();
        texts.extend(
            page["memories"].as_array().unwrap().iter().map(|m| m["text"].as_str().unwrap().to_owned()),
        );
        add(&world, &ana, "page new").await;
        // The very row that the cursor names goes.
        let last = json!({ "memory": page["memories"].as_array().unwrap().last().unwrap()["memory"] });
        world.call(&ana, "memory_forget", last).await.unwrap();
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    assert_eq!(texts, (0..45).rev().map(|n| format!("page {n}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_memory_in_the_place_of_the_newest_is_not_found_by_the_words_of_the_one_before() {
    let world = World::new();
    let ana = world.person("ana@example.org").await;
    for n in 0..40 {
        let memory = add(&world, &ana, &format!("apple number {n}")).await;
        world.call(&ana, "memory_forget", json!({ "memory": memory })).await.unwrap();
        let pear = add(&world, &ana, "pear").await;
        assert_eq!(found(&world, &ana, json!({ "query": "apple" })).await, [""; 0], "{n}");
        assert_eq!(found(&world, &ana, json!({ "query": "pear" })).await, ["pear"], "{n}");
        world.call(&ana, "memory_forget", json!({ "memory": pear })).await.unwrap();
    }
}

//! What is published of each tool is accepted by every client.

use std::collections::BTreeSet;

use relaylink_core::tool::{Descriptor, schema::lint};
use serde_json::Value as Json;

use crate::cases::tools;

/// Clients put the server's name before a tool's and refuse more than 64 characters, some more than 60.
const PREFIXES: [(&str, usize); 2] = [("relaylink_", 59), ("mcp__relaylink__", 64)];

/// Four bytes a token, as clients reckon it.
const BYTES_A_TOKEN: usize = 4;
/// Some clients warn at 25,000 tokens.
const LIST_TOKENS: usize = 20_000;
const TOOL_TOKENS: usize = 1_000;

/// The fewest tools that a client in use takes.
const TOOLS_OF_A_CLIENT: usize = 40;

/// About 60 words; a model reads all of them before each choice.
const DESCRIPTION_WORDS: usize = 70;

/// What an argument for one id is named after. An id is a string: numbers beyond 2^53 are lost.
const THINGS: [&str; 15] = [
    "contact", "document", "draft", "entry", "group", "handoff", "intent", "item", "key", "memory",
    "package", "project", "request", "thread", "work",
];

/// Every complaint about every tool, with the tool's name.
fn complaints(check: impl Fn(&Descriptor) -> Vec<String>) -> Vec<String> {
    let tools = tools();
    assert!(tools.list().count() > 0);
    let of =
        |tool: &Descriptor| check(tool).into_iter().map(|what| format!("{}: {what}", tool.name)).collect();
    tools.list().flat_map(|tool: &Descriptor| -> Vec<String> { of(tool) }).collect()
}

fn when(broken: bool, what: impl Into<String>) -> Vec<String> {
    if broken { vec![what.into()] } else { Vec::new() }
}

#[test]
fn every_schema_is_portable() {
    let found = complaints(|tool| {
        let of = |name: &str, schema| {
            lint(schema).into_iter().map(|what| format!("{name}: {what}")).collect::<Vec<_>>()
        };
        [of("arguments", &tool.input), of("reply", &tool.output)].concat()
    });
    assert_eq!(found, [""; 0]);
}

#[test]
fn every_name_is_short_and_of_plain_letters() {
    let found = complaints(|tool| {
        let plain = tool.name.starts_with(|c: char| c.is_ascii_lowercase())
            && tool.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let long = PREFIXES.iter().any(|(prefix, most)| prefix.len() + tool.name.len() > *most);
        when(!plain || long, "the name")
    });
    assert_eq!(found, [""; 0]);
    let tools = tools();
    let names: BTreeSet<_> = tools.list().map(|tool| tool.name).collect();
    assert_eq!(names.len(), tools.list().count());
}

#[test]
fn the_four_hints_are_written_out_and_do_not_contradict_each_other() {
    let found = complaints(|tool| {
        let wire = tool.to_json();
        let hint = |name: &str| wire["annotations"].get(name).and_then(Json::as_bool);
        let keys: Vec<_> = wire["annotations"].as_object().unwrap().keys().map(String::as_str).collect();
        let four = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        let read_only = hint("readOnlyHint") == Some(true);
        [
            when(four.iter().any(|name| hint(name).is_none()), "a hint is not written out"),
            when(keys.iter().any(|key| *key != "title" && !four.contains(key)), "another annotation"),
            when(read_only && hint("destructiveHint") != Some(false), "read-only and destructive"),
            when(read_only && hint("idempotentHint") != Some(true), "read-only and not idempotent"),
        ]
        .concat()
    });
    assert_eq!(found, [""; 0]);
}

#[test]
fn every_tool_has_a_title_and_a_short_description_on_one_line() {
    let found = complaints(|tool| {
        let words = tool.description.split_whitespace().count();
        [
            when(tool.title.trim().is_empty() || tool.title.contains('_'), "the title"),
            when(tool.annotations.title.is_some_and(|title| title != tool.title), "two titles that differ"),
            when(words == 0 || words > DESCRIPTION_WORDS, format!("a description of {words} words")),
            when(tool.description.contains('\n'), "a description of several lines"),
        ]
        .concat()
    });
    assert_eq!(found, [""; 0]);
}

#[test]
fn ids_are_strings() {
    let found = complaints(|tool| {
        let properties = tool.input["properties"].as_object().unwrap();
        let thing = |name: &str| THINGS.contains(&name);
        let wrong = properties.iter().filter(|(name, property)| thing(name) && property["type"] != "string");
        wrong.map(|(name, _)| format!("`{name}` is no string")).collect()
    });
    assert_eq!(found, [""; 0]);
}

#[test]
fn the_list_costs_few_tokens_and_no_tool_many() {
    let tokens = |tool: &Descriptor| serde_json::to_string(tool).unwrap().len() / BYTES_A_TOKEN;
    let found = complaints(|tool| when(tokens(tool) > TOOL_TOKENS, format!("about {} tokens", tokens(tool))));
    assert_eq!(found, [""; 0]);
    let all: usize = tools().list().map(tokens).sum();
    assert!(all < LIST_TOKENS, "about {all} tokens");
}

#[test]
fn every_toolset_fits_every_client() {
    let tools = tools();
    for name in tools.toolsets() {
        let count = tools.only(&[name]).unwrap().list().count();
        assert!((1..=TOOLS_OF_A_CLIENT).contains(&count), "{name} has {count} tools");
    }
    let without: Vec<_> = tools.list().filter(|tool| tool.room.is_none()).map(|tool| tool.name).collect();
    assert_eq!(without, [""; 0], "tools of no room");
}

#[test]
fn a_narrowed_list_publishes_the_same_bytes() {
    let tools = tools();
    let bytes = |tool: &Descriptor| serde_json::to_string(tool).unwrap();
    for name in tools.toolsets() {
        for tool in tools.only(&[name]).unwrap().read_only().list() {
            assert_eq!(bytes(tool), bytes(tools.get(tool.name).unwrap()));
        }
    }
    let again = crate::cases::tools();
    assert!(tools.list().map(bytes).eq(again.list().map(bytes)));
}

#![allow(dead_code, reason = "the fixtures are read by their schemas alone")]

use std::{collections::BTreeMap, num::NonZeroI32};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{of_arguments, of_reply};

fn arguments<T: JsonSchema>() -> Json {
    Json::Object(of_arguments::<T>("the_tool").unwrap())
}

fn reply<R: JsonSchema>() -> Json {
    Json::Object(of_reply::<R>("the_tool").unwrap())
}

/// The whole sentence of the error for the arguments `T`.
fn refused<T: JsonSchema>() -> String {
    of_arguments::<T>("the_tool").unwrap_err().to_string()
}

/// What happens to the work.
#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Action {
    /// Takes it on.
    Accept,
    /// Gives it
    /// back.
    Decline,
}

#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum State {
    Open,
    DoneNow,
}

/// A person, and how they are reached.
#[derive(JsonSchema, Serialize, Deserialize)]
struct Person {
    /// Their address.
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    nickname: Option<String>,
}

#[derive(JsonSchema, Deserialize)]
struct Page {
    /// How many at most.
    limit: Option<u32>,
    cursor: Option<String>,
}

/// The text of the tool itself.
#[derive(JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Everything {
    /// Whom it goes to, by [`Person`]
    /// or address.
    ///
    /// Several are fine.
    to: Vec<Person>,
    subject: String,
    /// What to do.
    action: Option<Action>,
    plain_action: Action,
    state: Option<State>,
    states: Option<Vec<State>>,
    small: Option<u8>,
    count: u64,
    share: f64,
    #[serde(default)]
    urgent: bool,
    /// Anything.
    free: Option<Json>,
    bare: Option<Json>,
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    #[allow(clippy::struct_field_names)]
    bounded: u32,
    person: Option<Person>,
}

fn ten() -> u32 {
    10
}

#[test]
fn a_schema_is_written_in_six_keywords() {
    let person = json!({
        "description": "A person, and how they are reached.",
        "properties": {
            "address": { "description": "Their address.", "type": "string" },
            "nickname": { "type": "string" },
        },
        "required": ["address"],
        "type": "object",
    });
    let meanings = "`accept`: Takes it on. `decline`: Gives it back.";
    let action = |text: &str| {
        json!({
            "description": format!("{text} {meanings}"), "enum": ["accept", "decline"], "type": "string",
        })
    };
    let state = json!({ "enum": ["open", "doneNow"], "type": "string" });
    assert_eq!(
        arguments::<Everything>(),
        json!({
            "properties": {
                "action": action("What to do."),
                "bare": { "type": "object" },
                "bounded": { "type": "integer" },
                "count": { "type": "integer" },
                "free": { "description": "Anything.", "type": "object" },
                "person": person,
                "plainAction": action("What happens to the work."),
                "share": { "type": "number" },
                "small": { "type": "integer" },
                "state": state,
                "states": { "items": state, "type": "array" },
                "subject": { "type": "string" },
                "to": {
                    "description": "Whom it goes to, by `Person` or address. Several are fine.",
                    "items": person,
                    "type": "array",
                },
                "urgent": { "type": "boolean" },
            },
            "required": ["count", "plainAction", "share", "subject", "to"],
            "type": "object",
        })
    );
}

#[test]
fn keys_are_sorted_all_the_way_down() {
    fn sorted(json: &Json) -> bool {
        match json {
            Json::Object(map) => map.keys().is_sorted() && map.values().all(sorted),
            Json::Array(items) => items.iter().all(sorted),
            _ => true,
        }
    }
    assert!(sorted(&arguments::<Everything>()) && sorted(&reply::<Person>()));
    let bytes = serde_json::to_string(&reply::<Person>()).unwrap();
    assert_eq!(
        bytes,
        r#"{"description":"A person, and how they are reached.","properties":{"address":{"description":"Their address.","type":"string"},"nickname":{"type":"string"}},"required":["address"],"type":"object"}"#
    );
}

#[test]
fn no_arguments_are_an_empty_object() {
    #[derive(JsonSchema)]
    struct None {}
    #[derive(JsonSchema)]
    struct Braced {
        #[serde(skip)]
        hidden: u8,
    }
    let empty = json!({ "properties": {}, "type": "object" });
    assert_eq!(arguments::<None>(), empty);
    assert_eq!(arguments::<Braced>(), empty);
}

#[test]
fn a_flattened_struct_is_spread_out() {
    #[derive(JsonSchema, Deserialize)]
    struct List {
        query: String,
        #[serde(flatten)]
        page: Page,
    }
    assert_eq!(
        arguments::<List>(),
        json!({
            "properties": {
                "cursor": { "type": "string" },
                "limit": { "description": "How many at most.", "type": "integer" },
                "query": { "type": "string" },
            },
            "required": ["query"],
            "type": "object",
        })
    );
}

#[test]
fn a_reply_that_may_hold_null_is_refused() {
    #[derive(JsonSchema, Serialize)]
    struct Reply {
        people: Vec<Inner>,
    }
    #[derive(JsonSchema, Serialize)]
    struct Inner {
        note: Option<String>,
    }
    let error = of_reply::<Reply>("the_tool").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tool `the_tool` has no portable schema: at `reply.people[].note`, it may be null; add \
         `#[serde(skip_serializing_if = \"Option::is_none\")]`, so that it is left out"
    );
    assert!(of_arguments::<Inner>("the_tool").is_ok());
}

macro_rules! field {
    ($type:ty) => {{
        #[derive(JsonSchema)]
        struct Holder {
            field: $type,
        }
        refused::<Holder>()
    }};
}

#[derive(JsonSchema)]
struct Tree {
    branches: Vec<Tree>,
}

#[derive(JsonSchema)]
enum Loaded {
    One { a: u8 },
    Two(String),
}

#[derive(JsonSchema)]
#[serde(tag = "kind")]
enum Tagged {
    One { a: u8 },
    Two {},
}

#[derive(JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Text(String),
    Number(u8),
}

#[test]
fn what_has_no_portable_form_is_refused_with_its_place_and_a_remedy() {
    #[derive(JsonSchema)]
    struct Named {
        #[serde(rename = "reply-to")]
        field: String,
    }
    #[derive(JsonSchema)]
    struct Open {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, String>,
    }
    let cases = [
        (refused::<Tree>(), "arguments.branches[]", "contains itself"),
        (field!(Vec<Tree>), "arguments.field[].branches[]", "contains itself"),
        (field!((u8, String)), "arguments.field", "a tuple"),
        (field!(Option<(u8, u8)>), "arguments.field", "a tuple"),
        (field!(BTreeMap<String, u8>), "arguments.field", "keys of any name"),
        (field!(Loaded), "arguments.field", "one of several things"),
        (field!(Option<Tagged>), "arguments.field", "one of several things"),
        (field!(Untagged), "arguments.field", "one of several things"),
        (field!(()), "arguments.field", "always null"),
        (field!(Vec<Option<u8>>), "arguments.field[]", "an item may be null"),
        (field!(NonZeroI32), "arguments.field", "`not`"),
        (refused::<Named>(), "arguments.reply-to", "the name is not"),
        (refused::<Open>(), "arguments", "keys of any name"),
        (refused::<Loaded>(), "arguments", "one of several things"),
        (refused::<Tagged>(), "arguments", "one of several things"),
        (refused::<State>(), "arguments", "the root is not an object"),
        (refused::<Vec<u8>>(), "arguments", "the root is not an object"),
        (refused::<Option<Person>>(), "arguments", "the root is not an object"),
        (refused::<String>(), "arguments", "the root is not an object"),
        (refused::<Json>(), "arguments", "the root is not an object"),
        (refused::<()>(), "arguments", "always null"),
    ];
    for (error, at, what) in cases {
        let start = format!("the tool `the_tool` has no portable schema: at `{at}`, ");
        assert!(error.starts_with(&start) && error.contains(what) && error.contains("; "), "{error}");
    }
}

#[test]
fn free_json_of_a_map_is_an_object() {
    #[derive(JsonSchema)]
    struct Holder {
        free: serde_json::Map<String, Json>,
        list: Vec<Json>,
        fixed: [u8; 2],
    }
    assert_eq!(
        arguments::<Holder>()["properties"],
        json!({
            "fixed": { "items": { "type": "integer" }, "type": "array" },
            "free": { "type": "object" },
            "list": { "items": { "type": "object" }, "type": "array" },
        })
    );
}

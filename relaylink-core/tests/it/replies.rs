//! Every reply is what the published schema of it says, to a client that takes it at its word: no
//! key that is not published, and all that are required.

use serde_json::Value as Json;

use crate::cases::{Case, each, tools};

/// Where a value departs from a schema of the portable kind, in words.
fn departures(value: &Json, schema: &Json, at: &str, found: &mut Vec<String>) {
    let is = match schema["type"].as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => value.is_number(),
    };
    if !is {
        found.push(format!("{at} is {value}, no {}", schema["type"]));
        return;
    }
    if let Some(choices) = schema["enum"].as_array().filter(|choices| !choices.contains(value)) {
        found.push(format!("{at} is {value}, none of {choices:?}"));
    }
    for (n, item) in value.as_array().into_iter().flatten().enumerate() {
        departures(item, &schema["items"], &format!("{at}[{n}]"), found);
    }
    let Some(object) = value.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        if !object.contains_key(name) {
            found.push(format!("{at} has no {name}"));
        }
    }
    // An object without properties is free.
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty())
    else {
        return;
    };
    for (name, inner) in object {
        match properties.get(name) {
            Some(schema) => departures(inner, schema, &format!("{at}.{name}"), found),
            None => found.push(format!("{at}.{name} is not published")),
        }
    }
}

async fn answers(case: &'static Case) {
    let (frozen, scene) = case.ready().await;
    let town = frozen.thaw();
    let reply = town.relay.call(&scene.caller, case.tool, scene.arguments.clone()).await.unwrap();
    let schema = Json::Object((*tools().get(case.tool).unwrap().output).clone());
    let mut found = Vec::new();
    departures(&reply, &schema, "reply", &mut found);
    assert_eq!(found, [""; 0], "{case}: {reply}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_reply_is_what_its_schema_says() {
    each(answers).await;
}

#[test]
fn a_departure_is_seen() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "a": { "type": "string", "enum": ["x"] },
            "b": { "type": "array", "items": { "type": "integer" } },
        },
        "required": ["a"],
    });
    for (value, count) in [
        (serde_json::json!({ "a": "x", "b": [1, 2] }), 0),
        (serde_json::json!({ "b": [] }), 1),
        (serde_json::json!({ "a": "y" }), 1),
        (serde_json::json!({ "a": "x", "b": null }), 1),
        (serde_json::json!({ "a": "x", "b": [1.5, "2"] }), 2),
        (serde_json::json!({ "a": "x", "c": 1 }), 1),
        (serde_json::json!([]), 1),
    ] {
        let mut found = Vec::new();
        departures(&value, &schema, "reply", &mut found);
        assert_eq!(found.len(), count, "{found:?}");
    }
}

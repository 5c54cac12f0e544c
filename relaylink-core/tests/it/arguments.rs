//! Wrong arguments are refused in words that a model can act on, before there is a transaction.

use relaylink_core::{
    relay::Relay,
    tool::{Caller, Code, Descriptor, Refusal},
};
use serde_json::{Map, Value as Json, json};

use crate::{
    nowhere::relay,
    published::INSIDE,
    world::{answered, object},
};

async fn call(relay: &Relay, tool: &str, arguments: Json) -> Refusal {
    let called = relay.toolset().call(&Caller::local("acc_1"), tool, object(arguments)).await;
    answered(called).expect_err(tool)
}

fn published(relay: &Relay) -> Vec<Descriptor> {
    let tools: Vec<_> = relay.toolset().list().cloned().collect();
    assert!(!tools.is_empty());
    tools
}

fn properties(tool: &Descriptor) -> Vec<(String, Json)> {
    let properties = tool.input["properties"].as_object().unwrap();
    properties.iter().map(|(name, property)| (name.clone(), property.clone())).collect()
}

fn legible(tool: &Descriptor, refusal: &Refusal, field: &str) {
    assert_eq!(refusal.code, Code::InvalidArgument, "{} {field}: {refusal:?}", tool.name);
    assert!(refusal.message.starts_with(&format!("{}: ", tool.name)), "{refusal:?}");
    assert!(refusal.message.contains(&format!("`{field}`")), "{} {field}: {refusal:?}", tool.name);
    for word in INSIDE {
        assert!(!refusal.message.contains(word), "{} {field}: {word} in {refusal:?}", tool.name);
    }
}

#[tokio::test]
async fn an_unknown_argument_is_refused_by_name_the_same_each_time() {
    let (relay, store) = relay();
    for tool in published(&relay) {
        let injected = || json!({ "_meta": {}, "task_progress": "1/2", "toolCallId": "x" });
        let first = call(&relay, tool.name, injected()).await;
        for key in ["_meta", "task_progress", "toolCallId"] {
            legible(&tool, &first, key);
        }
        let said = format!("{}{}", first.message, first.hint.clone().unwrap_or_default());
        assert!(said.len() < 1_000, "{said}");
        for _ in 0..4 {
            assert_eq!(call(&relay, tool.name, injected()).await, first);
        }
    }
    assert_eq!(store.asked(), 0);
}

#[tokio::test]
async fn a_misspelt_argument_is_refused_with_the_right_one() {
    let (relay, store) = relay();
    for tool in published(&relay) {
        for (name, _) in properties(&tool) {
            let wrong = format!("{name}_");
            let refusal = call(&relay, tool.name, json!({ (&*wrong): "x" })).await;
            legible(&tool, &refusal, &wrong);
            assert!(refusal.message.contains(&format!("the nearest is `{name}`")), "{refusal:?}");
        }
    }
    assert_eq!(store.asked(), 0);
}

#[tokio::test]
async fn a_value_of_the_wrong_type_is_refused_at_its_field() {
    let (relay, store) = relay();
    for tool in published(&relay) {
        for (name, property) in properties(&tool) {
            let wrong = match property["type"].as_str().unwrap() {
                "string" => vec![json!(5), json!([]), json!({}), json!(true)],
                "integer" => vec![json!("abc"), json!(5.5), json!("1e309"), json!(true), json!([5])],
                "number" => vec![json!("abc"), json!("1e309"), json!(true)],
                "boolean" => vec![json!("yes"), json!(1), json!([])],
                "array" => vec![json!("abc"), json!(5), json!({}), json!([null])],
                _ => vec![json!("abc"), json!(5), json!([])],
            };
            let choice = property.get("enum").map(|_| json!("NOT_ONE_OF_THEM"));
            for value in wrong.into_iter().chain(choice) {
                let refusal = call(&relay, tool.name, json!({ (&*name): value })).await;
                let at = if value == json!([null]) { format!("{name}[0]") } else { name.clone() };
                legible(&tool, &refusal, &at);
            }
        }
    }
    assert_eq!(store.asked(), 0);
}

#[tokio::test]
async fn a_missing_argument_is_named() {
    let (relay, store) = relay();
    for tool in published(&relay) {
        let required = tool.input.get("required").and_then(Json::as_array).cloned().unwrap_or_default();
        if required.is_empty() {
            continue;
        }
        let refusal = call(&relay, tool.name, json!({})).await;
        for name in required {
            legible(&tool, &refusal, name.as_str().unwrap());
        }
    }
    assert_eq!(store.asked(), 0);
}

#[tokio::test]
async fn null_is_answered_as_absent() {
    let (relay, _) = relay();
    for tool in published(&relay) {
        let absent = call(&relay, tool.name, json!({})).await;
        let names: Vec<_> = properties(&tool).into_iter().map(|(name, _)| name).collect();
        for name in &names {
            assert_eq!(
                call(&relay, tool.name, json!({ (&**name): null })).await,
                absent,
                "{} {name}",
                tool.name
            );
        }
        let all: Map<_, _> = names.into_iter().map(|name| (name, Json::Null)).collect();
        assert_eq!(call(&relay, tool.name, Json::Object(all)).await, absent, "{}", tool.name);
    }
}

#[tokio::test]
async fn by_name_the_relay_answers_as_its_toolset_does() {
    let (relay, _) = relay();
    for tool in published(&relay) {
        let nonsense = json!({ "nonsense": 1 });
        let direct = relay.call(&Caller::local("acc_1"), tool.name, object(nonsense.clone())).await;
        assert_eq!(answered(direct).expect_err(tool.name), call(&relay, tool.name, nonsense).await);
    }
}

//! Arguments as models really send them, in calls that succeed: each way to write a value comes to
//! the same answer and the same rows.

use relaylink_core::tool::{Code, Refusal, audit::State};
use serde_json::{Map, Value as Json, json};

use crate::{
    cases::{Case, each, tools},
    published::{INSIDE, Place, places},
    town::{Town, list},
    world::answered,
};

/// What a call answers, and what it leaves, in a town that is the same each time.
async fn outcome(case: &Case, arguments: Map<String, Json>) -> (Result<Json, Refusal>, State) {
    let (frozen, scene) = case.ready().await;
    let town = frozen.thaw();
    let answer = answered(town.relay.call(&scene.caller, case.tool, arguments).await);
    (answer, town.rows())
}

fn of(case: &Case) -> Vec<Place> {
    places(tools().get(case.tool).unwrap())
}

async fn nulls(case: &'static Case) {
    let (_, scene) = case.ready().await;
    let plain = outcome(case, scene.arguments.clone()).await;
    assert!(plain.0.is_ok(), "{case}: {:?}", plain.0);
    let mut all = scene.arguments.clone();
    for place in of(case).into_iter().filter(|place| !place.required && place.path.len() == 1) {
        let Some(with) = place.set(&scene.arguments, Json::Null) else { continue };
        if place.get(&scene.arguments).is_some() {
            let mut without = scene.arguments.clone();
            without.remove(&place.path[0]);
            let without = outcome(case, without).await;
            assert_eq!(outcome(case, with).await, without, "{case}: `{place}` is null");
        } else {
            assert_eq!(outcome(case, with).await, plain, "{case}: `{place}` is null");
            all.insert(place.path[0].clone(), Json::Null);
        }
    }
    assert_eq!(outcome(case, all).await, plain, "{case}: all that is absent is null");
}

#[tokio::test(flavor = "multi_thread")]
async fn null_is_absent() {
    each(nulls).await;
}

/// Ways to write a value of this kind that come to the same.
fn writings(place: &Place, now: Option<&Json>) -> Vec<Vec<Json>> {
    match (&*place.kind, now) {
        ("integer", _) => vec![vec![json!(5), json!("5"), json!(5.0), json!(" 5 "), json!("5.0")]],
        ("number", _) => vec![vec![json!(2.5), json!("2.5")]],
        ("boolean", _) => vec![vec![json!(true), json!("true")], vec![json!(false), json!("false")]],
        ("array" | "object", Some(now)) => vec![vec![now.clone(), now.to_string().into()]],
        _ => Vec::new(),
    }
}

async fn texts(case: &'static Case) {
    let (_, scene) = case.ready().await;
    for place in of(case) {
        for alike in writings(&place, place.get(&scene.arguments)) {
            let mut first = None;
            for value in alike {
                let Some(arguments) = place.set(&scene.arguments, value.clone()) else { continue };
                let outcome = outcome(case, arguments).await;
                let first = first.get_or_insert_with(|| outcome.clone());
                assert_eq!(&outcome, &*first, "{case}: `{place}` written {value}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_written_as_text_is_that_value() {
    each(texts).await;
}

async fn wrong(case: &'static Case) {
    let (frozen, scene) = case.ready().await;
    let town = frozen.thaw();
    let before = town.rows();
    for place in of(case) {
        let values: &[Json] = match &*place.kind {
            "string" if place.choices.is_some() => &[json!("none of them"), json!("")],
            "string" => &[json!(5), json!(true), json!(["x"]), json!({})],
            "integer" => &[json!("abc"), json!(2.5), json!("1e309"), json!(true)],
            "number" => &[json!("abc"), json!(true)],
            "boolean" => &[json!("yes"), json!(1), json!([])],
            "array" => &[json!("abc"), json!(5), json!({})],
            _ => &[json!("abc"), json!(5), json!([])],
        };
        for value in values {
            // An empty text where nothing need be is nothing.
            if value == "" && !place.required {
                continue;
            }
            let Some(arguments) = place.set(&scene.arguments, value.clone()) else { continue };
            refused(&town, case, arguments, &place.field()).await;
        }
        if place.required && place.path.len() == 1 {
            let mut arguments = scene.arguments.clone();
            arguments.remove(&place.path[0]);
            refused(&town, case, arguments, &place.field()).await;
        }
    }
    for unknown in ["task_progress", "toolCallId", "_meta", "cc", "account"] {
        let mut arguments = scene.arguments.clone();
        arguments.insert(unknown.to_owned(), "x".into());
        refused(&town, case, arguments, unknown).await;
    }
    let changes = before.changes_to(&town.rows());
    assert!(changes.is_empty(), "{case}: wrong arguments, and it did {changes}");
}

async fn refused(town: &Town, case: &Case, arguments: Map<String, Json>, field: &str) {
    let (_, scene) = case.ready().await;
    let said = format!("{case} {arguments:?}");
    let answer = answered(town.relay.call(&scene.caller, case.tool, arguments).await);
    let Err(refusal) = answer else { panic!("{said}: {answer:?}") };
    assert_eq!(refusal.code, Code::InvalidArgument, "{said}: {refusal:?}");
    assert_eq!(refusal.field.as_deref(), Some(field), "{said}: {refusal:?}");
    assert!(refusal.message.contains(case.tool) && refusal.message.contains(field), "{said}: {refusal:?}");
    let text = format!("{} {}", refusal.message, refusal.hint.as_deref().unwrap_or_default());
    for word in INSIDE {
        assert!(!text.contains(word), "{said}: {word} in {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_argument_beside_right_ones_is_refused_by_name_and_nothing_is_done() {
    each(wrong).await;
}

#[tokio::test]
async fn a_text_that_looks_like_a_list_stays_text() {
    let town = Town::new().await;
    for body in ["[1,2]", "{\"a\":1}", "5", "true", "null"] {
        let draft = json!({ "to": "[\"ben@example.org\"]", "subject": body, "body": body });
        town.ok("ana", "draft_package", draft).await;
        let drafts = town.ok("ana", "list_drafts", json!({ "limit": "1" })).await;
        let draft = &list(&drafts["drafts"])[0];
        assert_eq!((&draft["body"]["content"], &draft["subject"]["content"]), (&json!(body), &json!(body)));
        assert_eq!(draft["notReached"][0]["address"], "ben@example.org");
    }
}

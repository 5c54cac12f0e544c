mod scalars;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use serde_json::json;

use super::*;
use crate::tool::{Place, Tool};

/// An id as the core's are: a string whose form serde checks.
#[derive(Debug, PartialEq)]
struct DraftId(String);

impl<'de> Deserialize<'de> for DraftId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.starts_with("drf_") {
            return Ok(Self(text));
        }
        Err(de::Error::custom("expected an id: `drf_` and 26 characters"))
    }
}

impl JsonSchema for DraftId {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DraftId".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Action {
    Accept,
    PutBack,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
struct Person {
    name: String,
    age: Option<u8>,
}

/// A fixture.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema, Tool)]
#[serde(rename_all = "camelCase", default)]
struct Draft {
    to: Vec<String>,
    people: Option<Vec<Person>>,
    body: Option<String>,
    limit: Option<u32>,
    small: Option<i8>,
    share: Option<f64>,
    urgent: Option<bool>,
    action: Option<Action>,
    actions: Vec<Action>,
    id: Option<DraftId>,
    replied_by: Option<String>,
    free: Option<Json>,
    person: Option<Person>,
    counts: Vec<u64>,
}

/// A fixture.
#[derive(Debug, PartialEq, Deserialize, JsonSchema, Tool)]
struct Strict {
    subject: String,
    draft: DraftId,
    limit: u32,
    person: Person,
}

/// A fixture.
#[derive(Debug, PartialEq, Deserialize, JsonSchema, Tool)]
struct Nothing {}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Pages {
    limit: Option<u32>,
    draft: Option<DraftId>,
}

/// A fixture.
#[derive(Debug, PartialEq, Deserialize, JsonSchema, Tool)]
struct Listed {
    query: String,
    #[serde(flatten)]
    pages: Pages,
}

#[derive(JsonSchema, serde::Serialize)]
struct Reply {}

fn given<T: Tool + DeserializeOwned + JsonSchema>(arguments: Json) -> Result<T, Refusal> {
    let descriptor = Descriptor::of::<T, Reply>(Place::default()).unwrap();
    let Json::Object(arguments) = arguments else { panic!("not an object") };
    read(&descriptor, arguments).map_err(Stop::into_refusal)
}

/// Field and message of the refusal.
fn refused<T: Tool + DeserializeOwned + JsonSchema + std::fmt::Debug>(arguments: Json) -> (String, String) {
    let refusal = given::<T>(arguments).unwrap_err();
    assert_eq!(refusal.code, Code::InvalidArgument);
    (refusal.field.unwrap_or_default(), refusal.message)
}

fn draft(arguments: Json) -> Draft {
    given(arguments).unwrap()
}

#[test]
fn absent_null_and_nothing_are_the_same() {
    assert_eq!(draft(json!({})), Draft::default());
    let names =
        serde_json::to_value(&*Descriptor::of::<Draft, Reply>(Place::default()).unwrap().input).unwrap();
    let names: Vec<_> = names["properties"].as_object().unwrap().keys().cloned().collect();
    let all: Map<_, _> = names.iter().map(|name| (name.clone(), Json::Null)).collect();
    assert_eq!(draft(Json::Object(all)), Draft::default());
    for name in names {
        assert_eq!(draft(json!({ (name): null })), Draft::default());
    }
    let nested = draft(json!({ "person": { "name": "Ana", "age": null } }));
    assert_eq!(nested.person, Some(Person { name: "Ana".into(), age: None }));
}

#[test]
fn json_text_is_parsed_where_a_list_or_an_object_is_due_and_nowhere_else() {
    let read = draft(json!({
        "to": "[\"ana@example.org\"]",
        "body": "[1,2]",
        "people": "[{\"name\":\"{}\",\"age\":\"7\"}]",
        "person": "{\"name\":\"Ben\"}",
        "free": "{\"a\":[null,1.5]}",
    }));
    assert_eq!(read.to, ["ana@example.org"]);
    assert_eq!(read.body.as_deref(), Some("[1,2]"));
    assert_eq!(read.people, Some(vec![Person { name: "{}".into(), age: Some(7) }]));
    assert_eq!(read.person.unwrap().name, "Ben");
    assert_eq!(read.free, Some(json!({ "a": [null, 1.5] })));
    assert_eq!(draft(json!({ "body": "null" })).body.as_deref(), Some("null"));
    assert_eq!(
        refused::<Draft>(json!({ "to": "ana@example.org" })).1,
        "draft: `to` must be a list of strings, not \"ana@example.org\"."
    );
    assert_eq!(
        refused::<Draft>(json!({ "to": "{\"a\":1}" })).1,
        "draft: `to` must be a list of strings, not an object."
    );
}

#[test]
fn an_empty_text_is_an_empty_list_and_absent_only_where_it_cannot_be_a_value() {
    let read = draft(json!({
        "to": "", "people": "", "limit": "", "share": "", "urgent": "", "action": "", "id": "",
        "free": "", "person": "", "body": "", "repliedBy": "",
    }));
    let kept = Some(String::new());
    let nobody = Some(Vec::new());
    assert_eq!(read, Draft { people: nobody, body: kept.clone(), replied_by: kept, ..Draft::default() });
    let (field, message) =
        refused::<Strict>(json!({ "subject": "", "draft": "", "limit": 1, "person": { "name": "" } }));
    assert_eq!(field, "draft");
    assert_eq!(message, "strict: `draft` is not valid: expected an id: `drf_` and 26 characters.");
    let nested = given::<Listed>(json!({ "query": "", "draft": "" })).unwrap();
    assert_eq!(nested.pages.draft, None);
}

#[test]
fn every_unknown_key_is_refused_by_name_with_the_nearest() {
    let refusal = given::<Draft>(json!({ "limit_count": 5, "replied_by": "x", "cc": [] })).unwrap_err();
    assert_eq!(
        refusal.message,
        "draft: unknown argument `cc`; unknown argument `limit_count`, the nearest is `limit`; \
         unknown argument `replied_by`, the nearest is `repliedBy`."
    );
    assert_eq!(refusal.field.as_deref(), Some("cc"));
    assert!(refusal.hint.unwrap().starts_with("Drop `cc`. draft takes `action`, `actions`, `body`"));
    let nested = refused::<Draft>(json!({ "people": [{ "name": "Ana" }, { "name": "Ben", "nmae": 1 }] }));
    assert_eq!(nested, ("people[1].nmae".into(), "draft: unknown argument `people[1].nmae`.".into()));
    let hint = |arguments| given::<Draft>(arguments).unwrap_err().hint.unwrap();
    assert_eq!(
        hint(json!({ "people": [{ "name": "Ana", "x": 1 }, { "name": "Ben", "y": 1 }] })),
        "Drop `people[0].x`, `people[1].y`. `people[0]` takes `age`, `name`."
    );
    let both = hint(json!({ "x": 1, "person": { "name": "Ana", "x": 1 } }));
    assert!(both.starts_with("Drop `x`, `person.x`. draft takes `action`, `actions`, "), "{both}");
    assert!(both.ends_with(". `person` takes `age`, `name`."), "{both}");
    let null = refused::<Draft>(json!({ "sender_mail": null }));
    assert_eq!(null.0, "sender_mail");
}

#[test]
fn keys_that_a_client_adds_are_named_in_the_same_short_words_each_time() {
    let call = || json!({ "_meta": {}, "task_progress": "1/2", "toolCallId": "x" });
    let first = given::<Nothing>(call()).unwrap_err();
    assert_eq!(
        first.message,
        "nothing: unknown argument `_meta`; unknown argument `task_progress`; unknown argument `toolCallId`."
    );
    assert_eq!(
        first.hint.as_deref(),
        Some("Drop `_meta`, `task_progress`, `toolCallId`. nothing takes no arguments.")
    );
    for _ in 0..5 {
        assert_eq!(given::<Nothing>(call()).unwrap_err(), first);
    }
}

#[test]
fn a_missing_field_is_named_with_what_is_due_and_all_are_named_at_once() {
    let (field, message) = refused::<Strict>(json!({ "subject": null, "person": {} }));
    assert_eq!(field, "draft");
    assert_eq!(
        message,
        "strict: `draft` is missing, a string; `limit` is missing, a whole number; \
         `person.name` is missing, a string; `subject` is missing, a string."
    );
}

#[test]
fn a_wrong_value_of_an_enum_is_refused_with_the_right_ones() {
    for (arguments, field) in [
        (json!({ "action": "Accept" }), "action"),
        (json!({ "actions": ["accept", "Accept"] }), "actions[1]"),
    ] {
        let (at, message) = refused::<Draft>(arguments);
        assert_eq!(at, field);
        assert_eq!(message, format!("draft: `{field}` must be one of `accept`, `putBack`, not \"Accept\"."));
    }
    assert_eq!(draft(json!({ "action": "putBack" })).action, Some(Action::PutBack));
}

#[test]
fn a_wrong_type_is_refused_in_plain_words() {
    let cases = [
        (json!({ "body": 5 }), "draft: `body` must be a string, not 5."),
        (json!({ "to": ["a", 5] }), "draft: `to[1]` must be a string, not 5."),
        (json!({ "to": [null] }), "draft: `to[0]` must be a string, not null."),
        (json!({ "person": [] }), "draft: `person` must be an object, not a list."),
        (json!({ "people": {} }), "draft: `people` must be a list of objects, not an object."),
        (json!({ "free": 5 }), "draft: `free` must be an object, not 5."),
        (json!({ "counts": "x" }), "draft: `counts` must be a list of whole numbers, not \"x\"."),
    ];
    for (arguments, sentence) in cases {
        assert_eq!(refused::<Draft>(arguments).1, sentence);
    }
}

#[test]
fn a_wrong_id_is_refused_at_its_field_also_in_a_flattened_struct() {
    assert_eq!(
        refused::<Draft>(json!({ "id": "pkg_1" })),
        ("id".into(), "draft: `id` is not valid: expected an id: `drf_` and 26 characters.".into())
    );
    assert_eq!(
        refused::<Listed>(json!({ "query": "x", "limit": 5, "draft": "pkg_1" })),
        ("draft".into(), "listed: `draft` is not valid: expected an id: `drf_` and 26 characters.".into())
    );
    assert_eq!(refused::<Listed>(json!({ "query": "x", "limit": -1 })).0, "limit");
    assert_eq!(refused::<Listed>(json!({ "query": "x", "cursr": "a" })).0, "cursr");
    let read = given::<Listed>(json!({ "query": "x", "limit": "5.0" })).unwrap();
    assert_eq!(read.pages.limit, Some(5));
}

#[test]
fn many_mistakes_make_a_short_refusal() {
    let to: Vec<_> = (0..5_000).collect();
    let (field, message) = refused::<Draft>(json!({ "to": to, ("k".repeat(5_000)): 1 }));
    assert!(field.len() < 300 && message.len() < 1_000, "{message}");
    assert!(message.ends_with("and 4993 more."), "{message}");
    let odd = refused::<Draft>(json!({ "a\u{202e}b\nc": 1 }));
    assert_eq!(odd.0, "a\\u{202e}b\\nc");
}

#[test]
fn deep_json_is_refused_and_no_stack_ends() {
    let nested = |levels: usize| {
        let mut json = json!({});
        for _ in 0..levels {
            json = json!([json]);
        }
        json!({ "in": json })
    };
    assert!(given::<Draft>(json!({ "free": nested(60) })).is_ok());
    let (field, message) = refused::<Draft>(json!({ "free": nested(200) }));
    assert_eq!((field.as_str(), message.contains("64 levels")), ("free", true));
    let text = format!("{{\"in\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(refused::<Draft>(json!({ "free": text })).0, "free");
    assert_eq!(refused::<Draft>(json!({ "to": "[".repeat(100_000) })).0, "to");
}

#[test]
fn no_word_of_rust_or_serde_is_in_a_refusal() {
    let rows = [
        json!({ "limit": -1 }),
        json!({ "id": "x" }),
        json!({ "action": 5 }),
        json!({ "person": 5 }),
        json!({ "people": [{}] }),
        json!({ "urgent": "no" }),
    ];
    for row in rows {
        let (_, message) = refused::<Draft>(row);
        for word in ["u32", "i64", "struct", "enum", "Person", "Draft", "variant", "invalid type", "line 1"] {
            assert!(!message.contains(word), "{message}");
        }
    }
}

#[test]
fn the_nearest_name() {
    let names = ["from", "limit", "repliedBy", "memory_search", "memory_forget"];
    let near = |name: &str| nearest(name, names.into_iter());
    assert_eq!(near("replied_by").as_deref(), Some("repliedBy"));
    assert_eq!(near("limit_count").as_deref(), Some("limit"));
    assert_eq!(near("memory_serach").as_deref(), Some("memory_search"));
    assert_eq!(near("zzz"), None);
    assert_eq!(near(""), None);
    assert_eq!(nearest("x", std::iter::empty()), None);
}

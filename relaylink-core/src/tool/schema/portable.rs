use serde_json::{Map, Value as Json};

use super::{
    SchemaError,
    lint::{is_property_name, lint},
};

/// Keywords that say more than is published. Bounds belong in the doc comment.
const DROPPED: [&str; 26] = [
    "$defs",
    "$id",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "default",
    "deprecated",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "pattern",
    "readOnly",
    "title",
    "uniqueItems",
    "writeOnly",
];

const FLAT: &str = "make it a struct with optional fields, or an enum without data";
const PLAIN: &str = "use a plain type: a string, a number, a flag, a list, a struct";

/// A schema on its way: its texts apart, since a field's own text takes the place of its type's.
struct Node {
    schema: Map<String, Json>,
    text: Option<String>,
    /// What each value of an enum means.
    choices: String,
    nullable: bool,
}

struct Fault {
    at: Vec<String>,
    what: String,
    remedy: &'static str,
}

impl Fault {
    fn new(what: impl Into<String>, remedy: &'static str) -> Self {
        Self { at: Vec::new(), what: what.into(), remedy }
    }

    fn within(mut self, segment: impl Into<String>) -> Self {
        self.at.push(segment.into());
        self
    }
}

/// The portable schema of `schema`, whose root has to be an object; it keeps its own text if `described`.
pub(super) fn root(
    tool: &'static str,
    name: &'static str,
    schema: Json,
    described: bool,
) -> Result<Map<String, Json>, SchemaError> {
    let made = object_root(schema, described).map_err(|fault| {
        let at: String = fault.at.into_iter().rev().collect();
        SchemaError { tool, at: format!("{name}{at}"), what: fault.what, remedy: fault.remedy }
    })?;
    match lint(&made).into_iter().next() {
        None => Ok(made),
        Some(what) => Err(SchemaError { tool, at: name.to_owned(), what, remedy: PLAIN }),
    }
}

fn object_root(schema: Json, described: bool) -> Result<Map<String, Json>, Fault> {
    // A type that says nothing of itself may be anything, and not an object alone.
    let is_object = schema.get("type").and_then(Json::as_str) == Some("object");
    let mut node = node(schema)?;
    if node.nullable || !is_object {
        return Err(Fault::new("the root is not an object", "put it in a field of a struct"));
    }
    node.text = node.text.filter(|_| described);
    node.schema.entry("properties").or_insert_with(|| Json::Object(Map::new()));
    Ok(finish(node))
}

fn node(schema: Json) -> Result<Node, Fault> {
    let mut schema = match schema {
        Json::Bool(true) => return Ok(free(None)),
        Json::Object(schema) => schema,
        _ => return Err(Fault::new("no value is allowed", PLAIN)),
    };
    let text = match schema.remove("description") {
        Some(Json::String(text)) => Some(clean(&text)).filter(|text| !text.is_empty()),
        _ => None,
    };
    for keyword in DROPPED {
        schema.remove(keyword);
    }
    if schema.contains_key("$ref") {
        return Err(Fault::new(
            "the type contains itself",
            "a schema is written out in full: give it a fixed depth",
        ));
    }
    let mut node = match (schema.remove("anyOf"), schema.remove("oneOf")) {
        (None, None) => plain(schema)?,
        (Some(any), None) if schema.is_empty() => nullable(any)?,
        (None, Some(one)) => documented_enum(one, &schema)?,
        _ => return Err(Fault::new("several schemas are combined", FLAT)),
    };
    node.text = text.or(node.text);
    Ok(node)
}

/// `anyOf` of a schema and null, as an `Option` has it.
fn nullable(any: Json) -> Result<Node, Fault> {
    let Json::Array(mut any) = any else { return Err(Fault::new("`anyOf` is no list", FLAT)) };
    any.retain(|schema| schema.get("type").and_then(Json::as_str) != Some("null"));
    match (any.pop(), any.pop()) {
        (Some(one), None) => Ok(Node { nullable: true, ..node(one)? }),
        _ => Err(Fault::new("it may be one of several things", FLAT)),
    }
}

/// `oneOf` of texts, as an enum with doc comments on its variants has it.
fn documented_enum(one: Json, beside: &Map<String, Json>) -> Result<Node, Fault> {
    let fault = || Fault::new("it may be one of several things", FLAT);
    let Json::Array(one) = one else { return Err(fault()) };
    if beside.keys().any(|key| key != "type") {
        return Err(fault());
    }
    let (mut values, mut choices, mut null) = (Vec::new(), String::new(), false);
    for variant in one {
        let node = node(variant)?;
        let Some(Json::Array(texts)) = node.schema.get("enum") else { return Err(fault()) };
        if let (Some(meaning), [Json::String(value)]) = (&node.text, texts.as_slice()) {
            let end = if meaning.ends_with(['.', '!', '?']) { "" } else { "." };
            choices.extend([" `", value, "`: ", meaning, end]);
        }
        null |= node.nullable;
        values.extend(texts.iter().cloned());
    }
    let mut schema = Map::new();
    schema.insert("enum".to_owned(), Json::Array(values));
    schema.insert("type".to_owned(), "string".into());
    Ok(Node { schema, text: None, choices, nullable: null })
}

fn plain(mut schema: Map<String, Json>) -> Result<Node, Fault> {
    let mut values = match (schema.remove("enum"), schema.remove("const")) {
        (Some(Json::Array(values)), None) => Some(values),
        (None, Some(value)) => Some(vec![value]),
        (None, None) => None,
        _ => return Err(Fault::new("`enum` is no list", PLAIN)),
    };
    let (kind, mut nullable) = match schema.remove("type") {
        Some(Json::String(kind)) => (Some(kind), false),
        Some(Json::Array(kinds)) => one_kind(kinds)?,
        None if values.is_some() => (Some("string".to_owned()), false),
        _ => (None, false),
    };
    if let Some(values) = &mut values {
        let all = values.len();
        values.retain(|value| !value.is_null());
        nullable |= values.len() < all;
        if kind.as_deref() != Some("string") || values.is_empty() || !values.iter().all(Json::is_string) {
            return Err(Fault::new("an enum of other values than strings", "give its values names"));
        }
    }
    let mut made = Map::new();
    if let Some(values) = values {
        made.insert("enum".to_owned(), Json::Array(values));
    }
    match kind.as_deref() {
        None if schema.is_empty() => return Ok(free(None)),
        Some("object") => object(&mut schema, &mut made)?,
        Some("array") => {
            if schema.contains_key("prefixItems") || schema.get("items").is_some_and(Json::is_array) {
                return Err(Fault::new("a tuple", "make it a struct, whose fields have names"));
            }
            let items = schema.remove("items").unwrap_or(Json::Bool(true));
            let items = node(items).map_err(|fault| fault.within("[]"))?;
            if items.nullable {
                return Err(Fault::new("an item may be null", "leave it out of the list").within("[]"));
            }
            made.insert("items".to_owned(), Json::Object(finish(items)));
        }
        Some("string" | "integer" | "number" | "boolean") => {}
        Some("null") => return Err(Fault::new("it is always null", "leave the field out")),
        _ => return Err(Fault::new("it has no type", PLAIN)),
    }
    if let Some(kind) = kind {
        made.insert("type".to_owned(), kind.into());
    }
    if let Some(keyword) = schema.keys().next() {
        return Err(Fault::new(format!("the keyword `{keyword}` has no portable form"), PLAIN));
    }
    Ok(Node { schema: made, text: None, choices: String::new(), nullable })
}

/// The one type beside null.
fn one_kind(kinds: Vec<Json>) -> Result<(Option<String>, bool), Fault> {
    let all = kinds.len();
    let mut kinds: Vec<_> = kinds
        .into_iter()
        .filter_map(|kind| kind.as_str().filter(|k| *k != "null").map(str::to_owned))
        .collect();
    let nullable = kinds.len() < all;
    match (kinds.pop(), kinds.pop()) {
        (Some(kind), None) => Ok((Some(kind), nullable)),
        _ => Err(Fault::new("it has several types", PLAIN)),
    }
}

fn object(schema: &mut Map<String, Json>, made: &mut Map<String, Json>) -> Result<(), Fault> {
    let properties = match schema.remove("properties") {
        Some(Json::Object(properties)) => Some(properties),
        _ => None,
    };
    let required: Vec<String> = match schema.remove("required") {
        Some(Json::Array(names)) => names.iter().filter_map(|n| n.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        match schema.remove(keyword) {
            None | Some(Json::Bool(false)) => {}
            Some(Json::Bool(true)) if properties.is_none() => {}
            Some(_) => return Err(Fault::new("keys of any name", "use a list of structs with a name each")),
        }
    }
    if schema.contains_key("patternProperties") {
        return Err(Fault::new("keys of any name", "use a list of structs with a name each"));
    }
    let Some(properties) = properties else { return Ok(()) };
    let mut published = std::collections::BTreeMap::new();
    for (name, property) in properties {
        let within = |fault: Fault| fault.within(format!(".{name}"));
        if !is_property_name(&name) {
            return Err(within(Fault::new(
                "the name is not letters, digits and `_`, at most 64, no digit first",
                "give it another name with `#[serde(rename = \"…\")]`",
            )));
        }
        let property = node(property).map_err(within)?;
        if property.nullable && required.contains(&name) {
            return Err(within(Fault::new(
                "it may be null",
                "add `#[serde(skip_serializing_if = \"Option::is_none\")]`, so that it is left out",
            )));
        }
        published.insert(name, Json::Object(finish(property)));
    }
    let mut required: Vec<_> = required.into_iter().filter(|name| published.contains_key(name)).collect();
    required.sort_unstable();
    required.dedup();
    made.insert("properties".to_owned(), Json::Object(published.into_iter().collect()));
    if !required.is_empty() {
        made.insert("required".to_owned(), required.into());
    }
    Ok(())
}

/// Any JSON object.
fn free(text: Option<String>) -> Node {
    let schema = Map::from_iter([("type".to_owned(), Json::from("object"))]);
    Node { schema, text, choices: String::new(), nullable: false }
}

/// The schema with its texts, its keys sorted: the same bytes whether or not `serde_json` keeps
/// the order of insertion.
fn finish(node: Node) -> Map<String, Json> {
    let text = format!("{}{}", node.text.unwrap_or_default(), node.choices);
    let mut keys: Vec<_> = node.schema.into_iter().collect();
    if !text.is_empty() {
        keys.push(("description".to_owned(), Json::from(text.trim())));
    }
    keys.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    keys.into_iter().collect()
}

/// A doc comment as one line, without the brackets of its links.
fn clean(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").replace("[`", "`").replace("`]", "`")
}

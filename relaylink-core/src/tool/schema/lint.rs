use serde_json::{Map, Value as Json};

use crate::tool::limits::PROPERTY_NAME_MAX;

const KEYWORDS: [&str; 6] = ["description", "enum", "items", "properties", "required", "type"];
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// What keeps a published schema from being accepted by every client: a line for each fault, with its
/// path; none means that it is portable. The root has to be an object with `properties`.
///
/// For schemas made elsewhere; those of a [`Descriptor`](crate::tool::Descriptor) pass.
pub fn lint(schema: &Map<String, Json>) -> Vec<String> {
    let mut faults = Vec::new();
    if schema.get("type").and_then(Json::as_str) != Some("object") {
        faults.push("the root's `type` is not `object`".to_owned());
    }
    if !schema.get("properties").is_some_and(Json::is_object) {
        faults.push("the root has no `properties`".to_owned());
    }
    if schema.contains_key("enum") {
        faults.push("the root has an `enum`".to_owned());
    }
    node(schema, "", &mut faults);
    faults
}

/// Whether every client accepts a property of this name.
pub(super) fn is_property_name(name: &str) -> bool {
    name.len() <= PROPERTY_NAME_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn node(schema: &Map<String, Json>, at: &str, faults: &mut Vec<String>) {
    let mut fault = |what: String| faults.push(format!("at `{}`: {what}", at.trim_start_matches('.')));
    for key in schema.keys().filter(|key| !KEYWORDS.contains(&key.as_str())) {
        fault(format!("the keyword `{key}`"));
    }
    let kind = schema.get("type").and_then(Json::as_str);
    if !kind.is_some_and(|kind| TYPES.contains(&kind)) {
        fault("`type` is not one word".to_owned());
    }
    if schema.get("description").is_some_and(|text| !text.is_string()) {
        fault("`description` is not a text".to_owned());
    }
    if let Some(values) = schema.get("enum") {
        let texts = values.as_array().is_some_and(|v| v.iter().all(Json::is_string) && differ(v));
        if !texts || kind != Some("string") {
            fault("`enum` is for strings, and lists strings only, each once".to_owned());
        }
    }
    let nothing = Map::new();
    let properties = match schema.get("properties") {
        Some(Json::Object(properties)) if kind == Some("object") => properties,
        None => &nothing,
        Some(_) => {
            fault("`properties` does not belong here, or is no object".to_owned());
            &nothing
        }
    };
    if let Some(required) = schema.get("required") {
        let names = required.as_array().map_or(&[][..], Vec::as_slice);
        let known = |name: &Json| name.as_str().is_some_and(|name| properties.contains_key(name));
        if !names.iter().all(known) || !differ(names) {
            fault("`required` is not a list of properties, each once".to_owned());
        }
    }
    match (kind, schema.get("items")) {
        (Some("array"), Some(Json::Object(items))) => node(items, &format!("{at}[]"), faults),
        (Some("array"), _) => fault("`items` is not an object".to_owned()),
        (_, Some(_)) => fault("`items` belongs to an array".to_owned()),
        (_, None) => {}
    }
    for (name, property) in properties {
        let at = format!("{at}.{name}");
        if !is_property_name(name) {
            faults.push(format!("at `{}`: the name of the property", at.trim_start_matches('.')));
        }
        match property {
            Json::Object(property) => node(property, &at, faults),
            _ => faults.push(format!("at `{}`: not an object", at.trim_start_matches('.'))),
        }
    }
}

/// Whether there are values, all different: what both drafts ask of `required` and `enum`.
fn differ(values: &[Json]) -> bool {
    !values.is_empty() && values.iter().enumerate().all(|(at, value)| !values[..at].contains(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults(schema: &Json) -> Vec<String> {
        lint(schema.as_object().unwrap())
    }

    /// A root whose property `p` is this.
    fn with(property: &Json) -> Json {
        json!({ "type": "object", "properties": { "p": property } })
    }

    #[test]
    fn a_portable_schema_has_no_faults() {
        let schema = json!({
            "type": "object",
            "required": ["to"],
            "properties": {
                "to": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] } },
                "free": { "type": "object", "description": "Any JSON object." },
            },
        });
        assert_eq!(faults(&schema), [""; 0]);
        assert_eq!(faults(&json!({ "type": "object", "properties": {} })), [""; 0]);
    }

    #[test]
    fn each_rule_is_seen_when_it_is_broken() {
        let long = "x".repeat(65);
        let broken = [
            json!({}),
            json!({ "type": "object" }),
            json!({ "type": "object", "properties": null }),
            json!({ "type": "object", "properties": {}, "oneOf": [] }),
            json!({ "type": "object", "properties": {}, "enum": ["a"] }),
            json!({ "type": "object", "properties": {}, "$ref": "#" }),
            json!({ "type": "object", "properties": {}, "$schema": "x" }),
            json!({ "type": "object", "properties": {}, "additionalProperties": false }),
            json!({ "type": "object", "properties": {}, "required": ["p"] }),
            json!({ "type": "object", "properties": {}, "required": [] }),
            json!({ "type": "object", "properties": { "p": { "type": "string" } }, "required": ["p", "p"] }),
            json!({ "type": "object", "properties": { "9": { "type": "string" } } }),
            json!({ "type": "object", "properties": { (long): { "type": "string" } } }),
            json!({ "type": "object", "properties": { "a.b": { "type": "string" } } }),
            with(&json!(true)),
            with(&json!({ "description": "anything" })),
            with(&json!({ "type": ["string", "null"] })),
            with(&json!({ "type": "null" })),
            with(&json!({ "type": "string", "nullable": true })),
            with(&json!({ "type": "array" })),
            with(&json!({ "type": "array", "items": true })),
            with(&json!({ "type": "array", "items": [{ "type": "string" }] })),
            with(&json!({ "type": "array", "items": { "type": ["string"] } })),
            with(&json!({ "type": "string", "items": { "type": "string" } })),
            with(&json!({ "type": "string", "enum": ["a", null] })),
            with(&json!({ "type": "string", "enum": ["a", "a"] })),
            with(&json!({ "type": "string", "enum": [] })),
            with(&json!({ "type": "integer", "enum": [1] })),
            with(&json!({ "type": "string", "const": "a" })),
            with(&json!({ "type": "integer", "format": "uint32" })),
            with(&json!({ "type": "integer", "minimum": 0 })),
            with(&json!({ "type": "string", "description": 5 })),
            with(&json!({ "anyOf": [{ "type": "string" }] })),
        ];
        for schema in broken {
            assert!(!faults(&schema).is_empty(), "{schema}");
        }
    }

    #[test]
    fn a_fault_is_named_with_its_path() {
        let schema = with(&json!({ "type": "array", "items": { "type": "string", "format": "email" } }));
        assert_eq!(faults(&schema), ["at `p[]`: the keyword `format`"]);
    }
}

//! The published schema of a tool's arguments, walked: every place where a value goes.

use relaylink_core::tool::Descriptor;
use serde_json::{Map, Value as Json};

/// Words of the program's inside that no client should read.
pub(crate) const INSIDE: [&str; 16] = [
    "struct", "variant", "serde", "Option", "Vec<", "u32", "i64", "Id(", "::", "SELECT", "rows", ".rs",
    "line 1", "column", "/dev", "sqlite",
];

/// A place in the arguments.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The keys down to it; `[]` stands for the first item of a list.
    pub(crate) path: Vec<String>,
    /// `string`, `integer`, `number`, `boolean`, `array` or `object`.
    pub(crate) kind: String,
    /// The values that a text may have, where they are listed.
    pub(crate) choices: Option<Vec<Json>>,
    pub(crate) required: bool,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path.join(".").replace(".[]", "[]"))
    }
}

/// Every place there is in a tool's arguments, outer ones first.
pub(crate) fn places(tool: &Descriptor) -> Vec<Place> {
    let mut places = Vec::new();
    within(&Json::Object((*tool.input).clone()), &[], &mut places);
    places
}

fn within(schema: &Json, path: &[String], places: &mut Vec<Place>) {
    let inner = |key: &str| [path, &[key.to_owned()]].concat();
    if let Some(items) = schema.get("items") {
        add(items, &inner("[]"), true, places);
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        add(schema, &inner(name), false, places);
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let path = inner(name.as_str().unwrap());
        places.iter_mut().filter(|place| place.path == path).for_each(|place| place.required = true);
    }
}

fn add(schema: &Json, path: &[String], required: bool, places: &mut Vec<Place>) {
    let kind = schema["type"].as_str().unwrap().to_owned();
    let choices = schema["enum"].as_array().cloned();
    places.push(Place { path: path.to_vec(), kind, choices, required });
    within(schema, path, places);
}

impl Place {
    /// The arguments with this value there; `None` where an outer part is missing from them.
    pub(crate) fn set(&self, arguments: &Map<String, Json>, value: Json) -> Option<Map<String, Json>> {
        let mut all = Json::Object(arguments.clone());
        let (last, outer) = self.path.split_last()?;
        let mut at = &mut all;
        for key in outer {
            at = if key == "[]" { at.get_mut(0)? } else { at.get_mut(key)? };
        }
        match at {
            Json::Array(items) if last == "[]" => match items.first_mut() {
                Some(first) => *first = value,
                None => items.push(value),
            },
            Json::Object(map) => drop(map.insert(last.clone(), value)),
            _ => return None,
        }
        let Json::Object(all) = all else { return None };
        Some(all)
    }

    /// What the arguments have there.
    pub(crate) fn get<'a>(&self, arguments: &'a Map<String, Json>) -> Option<&'a Json> {
        let (first, rest) = self.path.split_first()?;
        rest.iter().try_fold(
            arguments.get(first)?,
            |at, key| {
                if key == "[]" { at.get(0) } else { at.get(key) }
            },
        )
    }

    /// The place as a refusal's `field` writes it.
    pub(crate) fn field(&self) -> String {
        self.path.join(".").replace(".[]", "[0]")
    }
}

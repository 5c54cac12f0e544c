use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::{Map, Value as Json};

use super::{Annotations, Decline, EffectInfo, Hints, Tool, arguments::Shape, schema};

/// All that is published of one tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Descriptor {
    /// Its name on the wire.
    pub name: &'static str,
    /// The name a person reads: the written title, or the name in words.
    pub title: String,
    /// What it does, what it changes, what comes next.
    pub description: &'static str,
    /// The four hints and the written title.
    pub annotations: Annotations,
    /// What it may do.
    pub effects: &'static [EffectInfo],
    /// What it claims.
    pub hints: Hints,
    /// What it could claim and does not.
    pub declines: &'static [Decline],
    /// Whether every call is to be put to a person.
    pub always_ask: bool,
    /// The group it is listed under, if any.
    pub room: Option<&'static str>,
    /// The schema of its arguments.
    pub input: Arc<Map<String, Json>>,
    /// The schema of its reply.
    pub output: Arc<Map<String, Json>>,
    /// The schema of its arguments, as they are read by it.
    pub(crate) shape: Arc<Shape>,
}

impl Descriptor {
    /// The descriptor of the tool `T` whose reply is `R`.
    pub(crate) fn of<T: Tool + JsonSchema, R: JsonSchema>(
        room: Option<&'static str>,
    ) -> Result<Self, schema::SchemaError> {
        let input = schema::of_arguments::<T>(T::NAME)?;
        Ok(Self {
            name: T::NAME,
            title: T::TITLE.map_or_else(|| in_words(T::NAME), str::to_owned),
            description: T::DESCRIPTION,
            annotations: Annotations::new(T::HINTS, T::TITLE),
            effects: T::EFFECTS,
            hints: T::HINTS,
            declines: T::DECLINES,
            always_ask: T::ALWAYS_ASK,
            room,
            shape: Arc::new(Shape::of(&input)),
            input: Arc::new(input),
            output: Arc::new(schema::of_reply::<R>(T::NAME)?),
        })
    }
}

/// `list_api_keys` → `List api keys`.
fn in_words(name: &str) -> String {
    let mut words = name.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn a_name_in_words() {
        assert_eq!(in_words("list_drafts"), "List drafts");
        assert_eq!(in_words(""), "");
    }
}

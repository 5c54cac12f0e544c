use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::{
    Annotations, Decline, EffectInfo, Hints, Tool, arguments::Shape, hint::Hint, schema,
    toolset::ToolsetError,
};

/// All that is published of one tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Descriptor {
    /// Its name on the wire.
    pub name: &'static str,
    /// The name a person reads: the written title, or the name in words.
    pub title: String,
    /// What it does, what it changes, what comes next: the doc comment, a paragraph a line.
    pub description: String,
    /// The four hints and the written title.
    pub annotations: Annotations,
    /// What it may do.
    pub effects: &'static [EffectInfo],
    /// What it claims.
    pub hints: Hints,
    /// What it could claim and does not.
    pub declines: &'static [Decline],
    /// Why it does what its purpose does not tell, as a clause for whoever is refused it.
    pub why: Option<&'static str>,
    /// Whether every call is to be put to a person.
    pub always_ask: bool,
    /// The room it belongs to, if any: the toolset under which it is listed.
    pub room: Option<&'static str>,
    /// Toolsets across the rooms that have it too.
    pub sets: &'static [&'static str],
    /// The schema of its arguments.
    pub input: Arc<Map<String, Json>>,
    /// The schema of its reply.
    pub output: Arc<Map<String, Json>>,
    /// The schema of its arguments, as they are read by it.
    pub(crate) shape: Arc<Shape>,
}

/// The toolsets that tools are added to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub(crate) room: Option<&'static str>,
    pub(crate) sets: &'static [&'static str],
}

impl Place {
    /// A room, and no other set.
    pub(crate) const fn room(name: &'static str) -> Self {
        Self { room: Some(name), sets: &[] }
    }
}

impl Descriptor {
    /// The descriptor of the tool `T` whose reply is `R`; an error where its hints do not hold, or a schema
    /// cannot be published.
    pub(crate) fn of<T: Tool + JsonSchema, R: JsonSchema>(place: Place) -> Result<Self, ToolsetError> {
        hold::<T>()?;
        let input = schema::of_arguments::<T>(T::NAME)?;
        Ok(Self {
            name: T::NAME,
            title: T::TITLE.map_or_else(|| in_words(T::NAME), str::to_owned),
            description: unwrapped(T::DESCRIPTION),
            annotations: Annotations::new(T::HINTS, T::TITLE),
            effects: T::EFFECTS,
            hints: T::HINTS,
            declines: T::DECLINES,
            why: None,
            always_ask: T::ALWAYS_ASK,
            room: place.room,
            sets: place.sets,
            shape: Arc::new(Shape::of(&input)),
            input: Arc::new(input),
            output: Arc::new(schema::of_reply::<R>(T::NAME)?),
        })
    }

    /// The toolsets that have it: its room, then the others.
    pub fn toolsets(&self) -> impl Iterator<Item = &'static str> {
        self.room.into_iter().chain(self.sets.iter().copied())
    }

    /// Whether the toolset of this name has it.
    pub fn is_in(&self, toolset: &str) -> bool {
        self.toolsets().any(|name| name == toolset)
    }

    /// What `tools/list` publishes of it, as a value; for the same bytes each time, serialise the
    /// descriptor itself.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// What `tools/list` publishes of it, always in the same order and so in the same bytes.
impl Serialize for Descriptor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Published<'a> {
            name: &'a str,
            title: &'a str,
            description: &'a str,
            input_schema: &'a Map<String, Json>,
            output_schema: &'a Map<String, Json>,
            annotations: Annotations,
            #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
            meta: Option<Meta>,
        }
        #[derive(Serialize)]
        struct Meta {
            #[serde(rename = "anthropic/requiresUserInteraction")]
            ask: bool,
        }
        Published {
            name: self.name,
            title: &self.title,
            description: &self.description,
            input_schema: &self.input,
            output_schema: &self.output,
            annotations: self.annotations,
            meta: self.always_ask.then_some(Meta { ask: true }),
        }
        .serialize(serializer)
    }
}

/// Refuses a tool whose effects contradict what it hints or declines. One that is derived does not compile
/// then; one that is written by hand, or derived with another core's proofs, is held to it here.
fn hold<T: Tool>() -> Result<(), ToolsetError> {
    let contradiction = |hint: Hint| {
        T::EFFECTS.iter().find(|effect| hint.contradicted_by(**effect)).map(|effect| effect.name)
    };
    for hint in T::HINTS.claims() {
        if let Some(effect) = contradiction(hint) {
            return Err(ToolsetError::Hint { tool: T::NAME, hint: hint.word(), effect });
        }
    }
    for hint in T::DECLINES.iter().filter_map(|decline| Hint::named(decline.hint)) {
        if let Some(effect) = contradiction(hint) {
            return Err(ToolsetError::Decline { tool: T::NAME, hint: hint.word(), effect });
        }
    }
    Ok(())
}

/// `list_api_keys` → `List api keys`.
fn in_words(name: &str) -> String {
    let mut words = name.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// The text without the line breaks of its source. Lists, headings, code and indented lines keep theirs.
fn unwrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut fenced, mut open) = (false, false);
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        let marked = line.starts_with([' ', '-', '*', '+', '#', '>', '|'])
            || line.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(". ");
        let apart = fenced || fence || marked || line.is_empty();
        if !out.is_empty() {
            out.push(if open && !apart { ' ' } else { '\n' });
        }
        out.push_str(line);
        fenced ^= fence;
        open = !(fenced || fence || line.is_empty() || line.starts_with(['#', '|']));
    }
    out
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// Tells the time.
    #[derive(Tool, Deserialize, JsonSchema)]
    #[tool(effects(), hints(closed_world), always_ask, title = "Tell the time")]
    struct TellTime {}

    #[derive(Serialize, JsonSchema)]
    struct Told {
        at: String,
    }

    #[test]
    fn a_name_in_words() {
        assert_eq!(in_words("list_drafts"), "List drafts");
        assert_eq!(in_words(""), "");
    }

    #[test]
    fn a_description_loses_the_line_breaks_of_its_source_alone() {
        assert_eq!(unwrapped("Tells\nthe time.\n\nOf\nday."), "Tells the time.\n\nOf day.");
        let list = "One of:\n- this,\n- that,\n1. or\n```\na\nb\n```\nEnd\nhere.";
        assert_eq!(unwrapped(list), "One of:\n- this,\n- that,\n1. or\n```\na\nb\n```\nEnd here.");
        assert_eq!(unwrapped("# Head\ntext"), "# Head\ntext");
        assert_eq!(unwrapped(""), "");
    }

    #[test]
    fn what_is_published_has_always_the_same_bytes() {
        let descriptor = Descriptor::of::<TellTime, Told>(Place::room("clock")).unwrap();
        let bytes = serde_json::to_string(&descriptor).unwrap();
        assert_eq!(
            bytes,
            concat!(
                r#"{"name":"tell_time","title":"Tell the time","description":"Tells the time.","#,
                r#""inputSchema":{"properties":{},"type":"object"},"#,
                r#""outputSchema":{"properties":{"at":{"type":"string"}},"required":["at"],"type":"object"},"#,
                r#""annotations":{"title":"Tell the time","readOnlyHint":false,"destructiveHint":true,"#,
                r#""idempotentHint":false,"openWorldHint":false},"#,
                r#""_meta":{"anthropic/requiresUserInteraction":true}}"#,
            )
        );
        assert_eq!(serde_json::from_str::<Json>(&bytes).unwrap(), descriptor.to_json());
    }
}

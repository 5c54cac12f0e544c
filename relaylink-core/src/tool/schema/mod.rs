//! Schemas that every client accepts.
//!
//! A published schema uses six keywords: `type`, `description`, `properties`, `required`, `items` and
//! `enum`. `type` is always one word, an optional property is one that is not in `required`, everything
//! is written out in place. Bounds and defaults are said in words, in the doc comment, and checked by
//! the tool. A type that has no such schema is an error when its tool is added.

mod lint;
mod portable;

use schemars::{
    JsonSchema,
    generate::{Contract, SchemaSettings},
};
use serde_json::{Map, Value as Json};

pub use lint::lint;

/// A type has no portable schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{tool}` has no portable schema: at `{at}`, {what}; {remedy}")]
#[non_exhaustive]
pub struct SchemaError {
    /// The tool.
    pub tool: &'static str,
    /// Where: `arguments.to[]`, `reply.people[].state`.
    pub at: String,
    /// What is wrong there.
    pub what: String,
    /// What to do.
    pub remedy: &'static str,
}

/// The schema of a tool's arguments. Its root bears no description: the tool has the same one.
pub(crate) fn of_arguments<T: JsonSchema>(tool: &'static str) -> Result<Map<String, Json>, SchemaError> {
    portable::root(tool, "arguments", generate::<T>(Contract::Deserialize), false)
}

/// The schema of a tool's reply.
pub(crate) fn of_reply<R: JsonSchema>(tool: &'static str) -> Result<Map<String, Json>, SchemaError> {
    portable::root(tool, "reply", generate::<R>(Contract::Serialize), true)
}

fn generate<T: JsonSchema>(contract: Contract) -> Json {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.contract = contract;
    settings.transforms.clear();
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

#[cfg(test)]
mod tests;

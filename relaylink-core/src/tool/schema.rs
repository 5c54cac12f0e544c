//! Schemas that every client accepts.
use schemars::JsonSchema;
use serde_json::{Map, Value as Json};

/// A type has no portable schema.
#[derive(Debug, thiserror::Error)]
#[error("the tool `{tool}` has no portable schema: at {at}, {what}")]
pub struct SchemaError {
    /// The tool.
    pub tool: &'static str,
    /// Where in the schema.
    pub at: String,
    /// What is wrong there.
    pub what: String,
}

/// The schema of a tool's arguments.
pub(crate) fn of_arguments<T: JsonSchema>(_tool: &'static str) -> Result<Map<String, Json>, SchemaError> {
    Ok(Map::new())
}

/// The schema of a tool's reply.
pub(crate) fn of_reply<T: JsonSchema>(_tool: &'static str) -> Result<Map<String, Json>, SchemaError> {
    Ok(Map::new())
}

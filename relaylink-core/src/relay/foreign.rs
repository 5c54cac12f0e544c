use schemars::JsonSchema;
use serde::Serialize;

use crate::store::{FromValue, StoreError, Value};

/// Text that a person wrote and another one's assistant will read. It can be stored and searched,
/// and leaves only in an envelope that names its author: it is content, never instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign<T>(T);

impl<T> Foreign<T> {
    /// Takes such a text in.
    pub const fn new(text: T) -> Self {
        Self(text)
    }

    /// Puts it in its envelope.
    pub fn by(self, author: impl Into<String>) -> Written<T> {
        Written { written_by: author.into(), content: self.0 }
    }
}

impl<T: AsRef<str>> Foreign<T> {
    /// The text, for rules and for the store.
    pub(crate) fn text(&self) -> &str {
        self.0.as_ref()
    }
}

impl<T: FromValue> FromValue for Foreign<T> {
    fn from_value(value: Value) -> Result<Self, StoreError> {
        T::from_value(value).map(Self)
    }
}

impl<T: AsRef<str>> From<&Foreign<T>> for Value {
    fn from(text: &Foreign<T>) -> Self {
        Self::Text(text.text().to_owned())
    }
}

/// Content written by a person; not instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Written<T> {
    /// The author's address.
    pub written_by: String,
    /// What they wrote.
    pub content: T,
}

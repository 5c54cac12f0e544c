use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use unicode_normalization::UnicodeNormalization;

use super::limits::NAME_MAX;
use crate::store::{FromValue, StoreError, Value};

/// The form in which names, tags and nicknames are compared, everywhere: Unicode's full case
/// folding over NFKC, white space folded to single spaces.
pub fn fold(name: &str) -> String {
    let folded = caseless::default_case_fold_str(&name.nfkc().collect::<String>());
    let mut out = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.nfkc());
    }
    out
}

/// Whether a character has no place in a name, a subject or another single line: control
/// characters, line and paragraph separators, and those that turn the direction of what follows.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Why a text is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing is left of it.
    #[error("a name cannot be empty")]
    Empty,
    /// It is too long.
    #[error("a name has at most {NAME_MAX} characters")]
    Long,
    /// It has a character that does not show or that turns the direction of the text.
    #[error("a name cannot hold control or direction characters")]
    Hidden,
}

/// A name as a person wrote it: one line, trimmed, in NFC. Compared by [`fold`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Name(String);

impl Name {
    /// The name as it is shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as it is compared.
    pub fn key(&self) -> String {
        fold(&self.0)
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if text.chars().any(is_hidden) {
            return Err(NameError::Hidden);
        }
        let name: String = text.trim().nfc().collect();
        match name.chars().count() {
            0 => Err(NameError::Empty),
            n if n > NAME_MAX => Err(NameError::Long),
            _ => Ok(Self(name)),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Name".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

impl From<&Name> for Value {
    fn from(name: &Name) -> Self {
        Self::Text(name.0.clone())
    }
}

impl FromValue for Name {
    fn from_value(value: Value) -> Result<Self, StoreError> {
        String::from_value(value).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_without_case_in_one_normal_form() {
        for (a, b) in
            [("Ärzte", "ÄRZTE"), ("Москва", "МОСКВА"), ("e\u{301}", "É"), (" a  b ", "A B"), ("ß", "SS")]
        {
            assert_eq!(fold(a), fold(b), "{a} {b}");
        }
        assert_ne!(fold("a_b"), fold("axb"));
        for name in ["ﬁ", "Ǆ", "İstanbul", "ΣΊΣΥΦΟΣ"] {
            assert_eq!(fold(&fold(name)), fold(name), "{name}");
        }
    }

    #[test]
    fn a_name_is_one_visible_line_of_a_hundred_characters_at_most() {
        assert_eq!(" Ana ".parse::<Name>().unwrap().as_str(), "Ana");
        assert_eq!("  ".parse::<Name>(), Err(NameError::Empty));
        assert!("é".repeat(NAME_MAX).parse::<Name>().is_ok());
        assert_eq!("é".repeat(NAME_MAX + 1).parse::<Name>(), Err(NameError::Long));
        for text in ["a\nb", "a\r\nBcc: x@example.org", "a\u{202e}b", "a\0", "\u{2028}", "\u{feff}a"] {
            assert_eq!(text.parse::<Name>(), Err(NameError::Hidden), "{text:?}");
        }
    }
}

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::limits::ADDRESS_MAX;
use crate::store::{FromValue, StoreError, Value};

/// Why a text is no address we can send to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It has not the form of one.
    #[error("this is not an e-mail address: expected one like name@example.org")]
    Form,
    /// The part before the @ needs a mail extension that few servers have.
    #[error("the part of an address before the @ can only hold plain letters, digits and signs")]
    Local,
    /// It is too long.
    #[error("an e-mail address has at most {ADDRESS_MAX} characters")]
    Long,
}

/// An e-mail address: as it was written, its domain in ASCII. Compared by [`key`](Self::key).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Address(String);

impl Address {
    /// The address as mail is sent to it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address as it is compared: without case. What stands behind a plus is a part of it.
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        let (local, domain) = text.rsplit_once('@').ok_or(AddressError::Form)?;
        // No domain in ASCII has fewer characters than the one it is made from.
        if text.chars().nth(ADDRESS_MAX).is_some() {
            return Err(AddressError::Long);
        }
        if !local.is_ascii() {
            return Err(AddressError::Local);
        }
        let domain = idna::domain_to_ascii_strict(domain).map_err(|_| AddressError::Form)?;
        if local.len() + 1 + domain.len() > ADDRESS_MAX {
            return Err(AddressError::Long);
        }
        let quoted = local.contains(|c: char| c == '"' || c.is_ascii_control() || c == ' ');
        if quoted || domain.starts_with('[') || lettre::Address::new(local, &domain).is_err() {
            return Err(AddressError::Form);
        }
        Ok(Self(format!("{local}@{domain}")))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Address {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Address".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

impl From<&Address> for Value {
    fn from(address: &Address) -> Self {
        Self::Text(address.0.clone())
    }
}

impl FromValue for Address {
    fn from_value(value: Value) -> Result<Self, StoreError> {
        String::from_value(value).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, AddressError> {
        text.parse::<Address>().map(|address| address.0)
    }

    #[test]
    fn the_spelling_stays_and_the_domain_goes_out_in_ascii() {
        assert_eq!(parse(" Ben+work@Example.org "), Ok("Ben+work@example.org".into()));
        assert_eq!(parse("user@köln.example"), Ok("user@xn--kln-sna.example".into()));
        assert_eq!(parse("jösé@example.org"), Err(AddressError::Local));
        for long in [
            format!("{}@example.org", "a".repeat(ADDRESS_MAX)),
            format!("ana@{}org", "ö.".repeat(ADDRESS_MAX)),
        ] {
            assert_eq!(parse(&long), Err(AddressError::Long), "{long}");
        }
        for text in [
            "",
            "ana",
            "@example.org",
            "ana@",
            "a b@example.org",
            "ana@exa mple.org",
            "a\r\nBcc:b@example.org",
            "\"a\"@example.org",
            "ana@[127.0.0.1]",
            "ana@example.org\0",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn case_does_not_tell_two_addresses_apart_and_a_plus_does() {
        let key = |text: &str| text.parse::<Address>().unwrap().key();
        assert_eq!(key("Ben@Example.org"), key("ben@example.ORG"));
        assert_ne!(key("ben+work@example.org"), key("ben@example.org"));
    }
}

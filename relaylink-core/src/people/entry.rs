use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ContactId, InviteId};
use crate::{
    relay::{Address, IdError, Timestamp, Written, check_id, highest},
    store::Value,
};

/// How somebody stands to the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// A contact.
    Accepted,
    /// They asked, and wait for an answer.
    Incoming,
    /// The account asked, and waits for an answer.
    Outgoing,
    /// The account has blocked them.
    Blocked,
}

/// Somebody an account knows, has asked, is asked by, or has blocked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// How they stand: accepted, incoming, outgoing or blocked.
    pub state: State,
    /// The contact's id; of a request there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contact: Option<ContactId>,
    /// The request's id, while it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<InviteId>,
    /// Their address.
    pub address: Address,
    /// The name they gave themselves. Of somebody who was only asked there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the one who asked wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Written<String>>,
    /// Since when they stand so.
    pub since: Timestamp,
}

/// A contact.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    /// The contact's id.
    pub contact: ContactId,
    /// Their address.
    pub address: Address,
    /// The name they gave themselves.
    pub name: String,
    /// Since when they are contacts.
    pub since: Timestamp,
}

/// Where an entry stands in the list, newest first: what its id holds behind the prefix. Contacts
/// and requests, kept under different ids, stand in one order by it, and stay where they are when
/// their state changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(String);

impl Place {
    const PREFIX: &'static str = "ppl";

    /// The place of the entry with this id.
    pub(super) fn of(id: &str) -> Self {
        Self(id.split_once('_').map_or(id, |(_, rest)| rest).to_owned())
    }

    /// Before every entry.
    pub(super) fn newest() -> Self {
        Self(highest())
    }

    /// The place as an id with this prefix would have it.
    pub(super) fn within(&self, prefix: &str) -> Value {
        Value::Text(format!("{prefix}_{}", self.0))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", Self::PREFIX, self.0)
    }
}

impl FromStr for Place {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        check_id(Self::PREFIX, text)?;
        Ok(Self::of(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_back_and_an_id_is_none() {
        let place = Place::of("ctc_0123456789abcdefghjkmnpqr0");
        assert_eq!(place.to_string().parse(), Ok(place.clone()));
        assert!("ctc_0123456789abcdefghjkmnpqr0".parse::<Place>().is_err());
        assert!(place < Place::newest());
        assert_eq!(place.within("inv"), Value::Text("inv_0123456789abcdefghjkmnpqr0".into()));
    }
}

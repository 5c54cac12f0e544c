use schemars::JsonSchema;
use serde::Serialize;

use super::{DraftId, ThreadId};
use crate::{
    people::ContactId,
    relay::{Address, Timestamp, Written},
};

/// Somebody a draft would reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recipient {
    /// The contact's id.
    pub contact: ContactId,
    /// Their address.
    pub address: Address,
    /// Their name.
    pub name: String,
}

/// Somebody a draft names and would not reach; not a recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unreached {
    /// Their address.
    pub address: Address,
    /// Why it would not reach them.
    pub reason: String,
}

/// What a draft would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The draft.
    pub draft: DraftId,
    /// The thread it replies to; absent where it begins one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// Whom exactly it would reach.
    pub to: Vec<Recipient>,
    /// Who is named and would not be reached.
    pub not_reached: Vec<Unreached>,
    /// Its subject.
    pub subject: Written<String>,
    /// When it was drafted.
    pub created: Timestamp,
}

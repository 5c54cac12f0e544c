//! Arguments as models really send them.
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value as Json};

use super::{Code, Descriptor, Stop};

/// Reads a tool from its arguments.
pub(crate) fn read<T: DeserializeOwned>(
    _descriptor: &Descriptor,
    arguments: Map<String, Json>,
) -> Result<T, Stop> {
    serde_json::from_value(Json::Object(arguments))
        .map_err(|error| Stop::refuse(Code::InvalidArgument, error.to_string()))
}

/// Writes a reply.
pub(crate) fn write<R: Serialize>(reply: &R) -> Result<Json, Stop> {
    serde_json::to_value(reply)
        .map_err(|_| Stop::refuse(Code::Unavailable, "The reply could not be written."))
}

/// The nearest of the names there are, if one is near.
pub(crate) fn nearest<'a>(_name: &str, _names: impl Iterator<Item = &'a str>) -> Option<String> {
    None
}

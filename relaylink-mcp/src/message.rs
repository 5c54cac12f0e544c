//! One message as its sender wrote it: read, or the answer it gets instead.

use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde_json::{Value as Json, json};

use crate::limits::MESSAGE_BYTES;

/// What a piece of text was.
pub(crate) enum Read {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing that wants an answer: blank, or a notification nobody knows.
    Nothing,
    /// No message; this is the answer.
    Bad(Json),
}

/// Reads one message. A byte order mark and white space around it are passed over.
pub(crate) fn read(bytes: &[u8]) -> Read {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii();
    if bytes.is_empty() {
        return Read::Nothing;
    }
    // Checked as a whole: the parser lets broken UTF-8 pass in members that nobody reads.
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Read::Bad(error(&Json::Null, ErrorCode::PARSE_ERROR, "the message is not UTF-8"));
    };
    match serde_json::from_str(text) {
        Ok(message) => Read::Message(Box::new(message)),
        Err(_) => explain(text),
    }
}

fn explain(text: &str) -> Read {
    let message: Json = match serde_json::from_str(text) {
        Ok(message) => message,
        Err(wrong) => {
            let why = format!("the message is not JSON: {wrong}");
            return Read::Bad(error(&Json::Null, ErrorCode::PARSE_ERROR, &why));
        }
    };
    let id = message.get("id").filter(|id| id.is_string() || id.is_i64());
    let method = message.get("method").is_some_and(Json::is_string);
    let (code, why) = if message.is_array() {
        (ErrorCode::INVALID_REQUEST, "batches are not served: send each message alone")
    } else if method && message.get("id").is_none() {
        return Read::Nothing;
    } else if method && id.is_some() && message["jsonrpc"] == "2.0" && !message["params"].is_object() {
        (ErrorCode::INVALID_PARAMS, "the params must be an object")
    } else {
        (ErrorCode::INVALID_REQUEST, "the message is no JSON-RPC 2.0 request")
    };
    Read::Bad(error(id.unwrap_or(&Json::Null), code, why))
}

/// The answer to a body that holds nothing.
pub(crate) fn empty() -> Json {
    error(&Json::Null, ErrorCode::PARSE_ERROR, "the body is empty")
}

/// The answer to a line that is too long to be read.
pub(crate) fn too_long() -> Json {
    let why = format!("the message is too long: the limit is {MESSAGE_BYTES} bytes");
    error(&Json::Null, ErrorCode::INVALID_REQUEST, &why)
}

fn error(id: &Json, code: ErrorCode, message: &str) -> Json {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

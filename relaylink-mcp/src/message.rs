//! One message as its sender wrote it: read, or the answer it gets instead.

use rmcp::model::{ClientJsonRpcMessage, ErrorCode};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Deserializer, Value as Json, json};

/// What a piece of text was.
pub(crate) enum Read {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing that wants an answer: blank, or a notification nobody knows.
    Nothing,
    /// No message; this is the answer.
    Bad(Json),
}

/// The message without a byte order mark before it, and white space around it.
pub(crate) fn bare(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii()
}

/// Reads one message that is [`bare`].
pub(crate) fn read(bytes: &[u8]) -> Read {
    if bytes.is_empty() {
        return Read::Nothing;
    }
    // Checked as a whole: the parser lets broken UTF-8 pass in members that nobody reads.
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Read::Bad(error(None, ErrorCode::PARSE_ERROR, "the message is not UTF-8"));
    };
    match serde_json::from_str(text) {
        Ok(message) => Read::Message(Box::new(message)),
        Err(_) => explain(text),
    }
}

fn explain(text: &str) -> Read {
    let message: Json = match serde_json::from_str(text) {
        Ok(message) => message,
        Err(wrong) => return Read::Bad(unreadable(text, &wrong)),
    };
    let id = message.get("id").filter(|id| is_id(id));
    let method = message.get("method").is_some_and(Json::is_string);
    let call = method && id.is_some() && message["jsonrpc"] == "2.0";
    let meta = &message["params"]["_meta"];
    let (id, code, why) = if message.is_array() {
        (None, ErrorCode::INVALID_REQUEST, "batches are not served: send each message alone")
    } else if message.is_object() && serde_json::from_str::<Members>(text).is_err() {
        // Of two ids the last was read, and either may be meant.
        (None, ErrorCode::INVALID_REQUEST, "a member of the message is there twice")
    } else if method && message.get("id").is_none() {
        return Read::Nothing;
    } else if call && !message["params"].is_object() {
        (id, ErrorCode::INVALID_PARAMS, "the params must be an object")
    } else if call && !meta.is_object() && !meta.is_null() {
        (id, ErrorCode::INVALID_PARAMS, "`_meta` in the params must be an object")
    } else {
        (id, ErrorCode::INVALID_REQUEST, "the message is no JSON-RPC 2.0 request")
    };
    Read::Bad(error(id, code, why))
}

fn is_id(id: &Json) -> bool {
    id.is_string() || id.is_i64()
}

/// What a request has, each at most once. Only its id need be such as can be held.
#[derive(Deserialize)]
#[expect(dead_code, reason = "that each is there once is all that is asked of some")]
struct Members {
    jsonrpc: Option<IgnoredAny>,
    id: Option<Json>,
    method: Option<IgnoredAny>,
    params: Option<IgnoredAny>,
}

/// The answer to what is no JSON, or holds what nothing here can hold: a number beyond all others, half
/// a character, lists in lists without end. Then it still has an id, under which its sender waits.
fn unreadable(text: &str, wrong: &serde_json::Error) -> Json {
    let id = serde_json::from_str(text).ok().and_then(|sent: Members| sent.method.and(sent.id));
    let found = serde_path_to_error::deserialize::<_, Json>(&mut Deserializer::from_str(text));
    let (Some(id), Err(found)) = (id.filter(is_id), found) else {
        return error(None, ErrorCode::PARSE_ERROR, &format!("the message is not JSON: {wrong}"));
    };
    let path = found.path().to_string();
    let params = path.split(['.', '[']).next() == Some("params");
    let code = if params { ErrorCode::INVALID_PARAMS } else { ErrorCode::INVALID_REQUEST };
    let half = wrong.to_string().contains("hex escape");
    let hint = if half { ": a surrogate without its other half is no character" } else { "" };
    error(Some(&id), code, &format!("{path} cannot be read: {wrong}{hint}"))
}

/// The answer to what is no request.
pub(crate) fn error(id: Option<&Json>, code: ErrorCode, message: &str) -> Json {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

//! What stands before the protocol: host, origin, key, size; and the answers, which pages may read.

use std::{error::Error, sync::Arc, time::Duration};

use ::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::{
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response, Result},
};
use http_body_util::LengthLimitError;
use relaylink_core::tool::Caller;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, ProtocolVersion};
use serde::Serialize;
use serde_json::Value as Json;
use tokio::{sync, time::timeout};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer, ExposeHeaders};

use super::access::Access;
use crate::{
    Authenticate, auth,
    limits::{self, MESSAGE_BYTES},
    message::{self, Read},
};

const VERSION: &str = "mcp-protocol-version";

/// What a page needs to send, and to see.
const SENT: &str =
    "authorization content-type accept last-event-id mcp-protocol-version mcp-session-id mcp-method mcp-name";
const SEEN: &str = "mcp-protocol-version mcp-session-id www-authenticate";

pub(super) struct Guard<A> {
    pub(super) keys: A,
    pub(super) places: Arc<sync::Semaphore>,
}

/// An answer, which keeps its place until the connection has written the last of it and lets it go.
struct Answer {
    bytes: Bytes,
    _place: Option<sync::OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Turns away whom the server does not speak to, by the name it is called or the page that calls it.
pub(super) async fn admit(
    State(access): State<Arc<Access>>,
    request: Request,
    next: Next,
) -> Result<Response> {
    let (status, why) = match access.host(request.uri(), request.headers()) {
        None => (StatusCode::BAD_REQUEST, "The request must name one host."),
        Some(false) => (StatusCode::FORBIDDEN, "This server is not called by that host name."),
        Some(true) if request.headers().get(header::ORIGIN).is_some_and(|origin| !access.origin(origin)) => {
            (StatusCode::FORBIDDEN, "Pages of that origin may not call this server.")
        }
        Some(true) => return Ok(next.run(request).await),
    };
    Err((status, why).into())
}

/// Lets the page that asked read the answer, and say next time what the protocol needs. Keys go in
/// a header that the page sets itself, so the browser is never told to add credentials of its own.
pub(super) fn sharing() -> CorsLayer {
    CorsLayer::new()
        // Others never come here.
        .allow_origin(AllowOrigin::mirror_request())
        // Not served, but let through to their 405, which a client understands.
        .allow_methods([Method::POST, Method::GET, Method::DELETE])
        .allow_headers(AllowHeaders::list(SENT.split(' ').map(HeaderName::from_static)))
        .expose_headers(ExposeHeaders::list(SEEN.split(' ').map(HeaderName::from_static)))
        .max_age(Duration::from_mins(10))
        .vary([header::ORIGIN])
}

/// What stands before the protocol alone.
pub(super) async fn guard<A: Authenticate>(
    State(guard): State<Arc<Guard<A>>>,
    mut request: Request,
    next: Next,
) -> Result<Response> {
    if request.extensions().get::<Caller>().is_none() {
        let caller = caller(&guard.keys, request.headers()).await?;
        request.extensions_mut().insert(caller);
    }
    // From here on the key is known to nobody.
    request.headers_mut().remove(header::AUTHORIZATION);
    let place = Arc::clone(&guard.places).acquire_owned().await.ok();
    let (head, body) = request.into_parts();
    let body = read(body).await?;
    let body = body.slice_ref(message::bare(&body));
    let version = head.headers.get(VERSION).and_then(|version| version.to_str().ok()).map(str::to_owned);
    let json = is_json(&head.headers);
    let response = next.run(Request::from_parts(head, Body::from(body.clone()))).await;
    let response = match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE if json => match message::read(&body) {
            Read::Bad(answer) if answer["id"].is_null() => bad_request(&answer),
            Read::Bad(answer) => axum::Json(answer).into_response(),
            Read::Nothing => bad_request(&message::error(None, ErrorCode::PARSE_ERROR, "the body is empty")),
            Read::Message(_) => response,
        },
        StatusCode::BAD_REQUEST if !is_json(response.headers()) => {
            version.and_then(|version| unsupported(&version)).unwrap_or(response)
        }
        _ => response,
    };
    let (head, body) = response.into_parts();
    let broken = |_| (StatusCode::INTERNAL_SERVER_ERROR, "The answer cannot be sent.");
    let answer = Answer { bytes: to_bytes(body, usize::MAX).await.map_err(broken)?, _place: place };
    Ok(Response::from_parts(head, Body::from(Bytes::from_owner(answer))))
}

async fn caller(keys: &impl Authenticate, headers: &HeaderMap) -> Result<Caller> {
    let (challenge, why) = match auth::bearer(headers) {
        None => ("Bearer", "Send a key: `Authorization: Bearer …`."),
        Some(key) => match keys.authenticate(key).await {
            Ok(Some(caller)) => return Ok(caller),
            Ok(None) => (
                "Bearer error=\"invalid_token\"",
                "That key is unknown, revoked or expired. Ask the account's owner for another.",
            ),
            Err(error) => {
                tracing::error!(%error, "a key could not be checked");
                let why = "The key could not be checked. Try again in a moment.";
                return Err((StatusCode::SERVICE_UNAVAILABLE, why).into());
            }
        },
    };
    Err((StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)], why).into())
}

async fn read(body: Body) -> Result<Bytes> {
    let too_large = || {
        let why = format!("The request is too large: the limit is {MESSAGE_BYTES} bytes.");
        (StatusCode::PAYLOAD_TOO_LARGE, [(header::CONNECTION, "close")], why).into()
    };
    if body.size_hint().lower() > MESSAGE_BYTES as u64 {
        return Err(too_large());
    }
    match timeout(limits::BODY, to_bytes(body, MESSAGE_BYTES)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if error.source().is_some_and(<dyn Error>::is::<LengthLimitError>) => Err(too_large()),
        Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "The request broke off.").into()),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "The request took too long to arrive.").into()),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// The versions there are, for a client that asks for another.
fn unsupported(version: &str) -> Option<Response> {
    let asked = serde_json::from_value(Json::from(version)).ok()?;
    let known = ProtocolVersion::KNOWN_VERSIONS.contains(&asked);
    let error = ErrorData::unsupported_protocol_version(asked, ProtocolVersion::KNOWN_VERSIONS);
    (!known).then(|| bad_request(&JsonRpcError::new(None, error)))
}

fn bad_request(answer: &impl Serialize) -> Response {
    (StatusCode::BAD_REQUEST, axum::Json(answer)).into_response()
}

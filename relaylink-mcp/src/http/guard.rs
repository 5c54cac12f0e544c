//! What stands before the protocol: host, origin, method, key, size; and the answers' headers.

use std::{error::Error, sync::Arc};

use ::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::{
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_body_util::LengthLimitError;
use relaylink_core::tool::Caller;
use rmcp::{ErrorData, model};
use serde_json::Value as Json;
use tokio::{sync, time::timeout};

use super::Http;
use crate::{
    Authenticate, auth,
    limits::{self, MESSAGE_BYTES},
    message::{self, Read},
};

const VERSION: &str = "mcp-protocol-version";

const ALLOWED: &str = "POST, OPTIONS";

pub(super) struct Guard<A> {
    pub(super) keys: A,
    pub(super) http: Http,
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

pub(super) async fn guard<A: Authenticate>(
    State(guard): State<Arc<Guard<A>>>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(refused) = guard.turns_away(&request) {
        return refused;
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match *request.method() {
        Method::POST => guard.post(request, next).await.unwrap_or_else(|refused| refused),
        Method::OPTIONS => (StatusCode::NO_CONTENT, [(header::ALLOW, ALLOWED)]).into_response(),
        _ => (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, ALLOWED)]).into_response(),
    };
    response.headers_mut().append(header::VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = origin {
        share(response.headers_mut(), origin);
    }
    response
}

/// What stands before a route that needs no key.
pub(super) async fn admit<A: Authenticate>(
    State(guard): State<Arc<Guard<A>>>,
    request: Request,
    next: Next,
) -> Response {
    match guard.turns_away(&request) {
        Some(refused) => refused,
        None => next.run(request).await,
    }
}

/// Lets the page that asked read the answer, and say next time what the protocol needs. Keys go in
/// a header that the page sets itself, so the browser is never told to add credentials of its own.
fn share(headers: &mut HeaderMap, origin: HeaderValue) {
    const NAMES: &str = "authorization, content-type, accept, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name";
    const SHOWN: &str = "mcp-protocol-version, mcp-session-id, www-authenticate";
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    for (name, value) in [
        // Not served, but let through to their 405, which a client understands.
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST, GET, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, NAMES),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, SHOWN),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

impl<A: Authenticate> Guard<A> {
    /// The answer to whom the server does not speak, by the name it is called or the page that calls it.
    fn turns_away(&self, request: &Request) -> Option<Response> {
        match self.http.hosts.admit(request.uri(), request.headers()) {
            Some(true) => {}
            Some(false) => {
                return Some(plain(StatusCode::FORBIDDEN, "This server is not called by that host name."));
            }
            None => return Some(plain(StatusCode::BAD_REQUEST, "The request must name one host.")),
        }
        let origin = request.headers().get(header::ORIGIN);
        origin
            .is_some_and(|origin| !self.http.origins.allows(origin))
            .then(|| plain(StatusCode::FORBIDDEN, "Pages of that origin may not call this server."))
    }

    async fn post(&self, mut request: Request, next: Next) -> Result<Response, Response> {
        if request.extensions().get::<Caller>().is_none() {
            let caller = self.caller(request.headers()).await?;
            request.extensions_mut().insert(caller);
        }
        // From here on the key is known to nobody.
        request.headers_mut().remove(header::AUTHORIZATION);
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (head, body) = request.into_parts();
        let body = Self::body(body).await?;
        let version = head.headers.get(VERSION).and_then(|version| version.to_str().ok()).map(str::to_owned);
        let json = is_json(&head.headers);
        let response = next.run(Request::from_parts(head, Body::from(body.clone()))).await;
        let response = match response.status() {
            StatusCode::UNSUPPORTED_MEDIA_TYPE if json => match message::read(&body) {
                Read::Bad(answer) => bad_request(&answer),
                Read::Nothing => bad_request(&message::empty()),
                Read::Message(_) => response,
            },
            StatusCode::BAD_REQUEST if !is_json(response.headers()) => {
                version.and_then(|version| unsupported(&version)).unwrap_or(response)
            }
            _ => response,
        };
        let (head, body) = response.into_parts();
        let broken = |_| plain(StatusCode::INTERNAL_SERVER_ERROR, "The answer cannot be sent.");
        let bytes = to_bytes(body, usize::MAX).await.map_err(broken)?;
        Ok(Response::from_parts(head, Body::from(Bytes::from_owner(Answer { bytes, _place: place }))))
    }

    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, Response> {
        let Some(key) = auth::bearer(headers) else {
            return Err(unauthorized("Bearer", "Send a key: `Authorization: Bearer …`."));
        };
        match self.keys.authenticate(key).await {
            Ok(Some(caller)) => Ok(caller),
            Ok(None) => Err(unauthorized(
                "Bearer error=\"invalid_token\"",
                "That key is unknown, revoked or expired. Ask the account's owner for another.",
            )),
            Err(error) => {
                tracing::error!(%error, "a key could not be checked");
                let why = "The key could not be checked. Try again in a moment.";
                Err(plain(StatusCode::SERVICE_UNAVAILABLE, why))
            }
        }
    }

    async fn body(body: Body) -> Result<Bytes, Response> {
        let too_large = || {
            let why = format!("The request is too large: the limit is {MESSAGE_BYTES} bytes.");
            (StatusCode::PAYLOAD_TOO_LARGE, [(header::CONNECTION, "close")], why).into_response()
        };
        if body.size_hint().lower() > MESSAGE_BYTES as u64 {
            return Err(too_large());
        }
        match timeout(limits::BODY, to_bytes(body, MESSAGE_BYTES)).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) if error.source().is_some_and(<dyn Error>::is::<LengthLimitError>) => {
                Err(too_large())
            }
            Ok(Err(_)) => Err(plain(StatusCode::BAD_REQUEST, "The request broke off.")),
            Err(_) => Err(plain(StatusCode::REQUEST_TIMEOUT, "The request took too long to arrive.")),
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn plain(status: StatusCode, why: &'static str) -> Response {
    (status, why).into_response()
}

fn unauthorized(challenge: &'static str, why: &'static str) -> Response {
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)], why).into_response()
}

/// The versions there are, for a client that asks for another.
fn unsupported(version: &str) -> Option<Response> {
    if model::ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == version) {
        return None;
    }
    let asked = serde_json::from_value(Json::from(version)).ok()?;
    let error = ErrorData::unsupported_protocol_version(asked, model::ProtocolVersion::KNOWN_VERSIONS);
    serde_json::to_value(model::JsonRpcError::new(None, error)).ok().map(|answer| bad_request(&answer))
}

fn bad_request(answer: &Json) -> Response {
    (StatusCode::BAD_REQUEST, axum::Json(answer)).into_response()
}

//! Cases 88, 90, 114 and 116: who is let in.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{Router, extract::Request, middleware::Next, routing::get};
use relaylink_core::tool::Caller;
use relaylink_mcp::{
    Authenticate, Http, Server,
    auth::{AuthError, Elsewhere},
};
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::support::{
    Site, call, request,
    site::{Keys, head, kept, next},
    tools,
};

const LIST: &str = "tools/list";

#[tokio::test]
async fn without_a_known_key_it_is_401_with_a_challenge() {
    let site = Site::open().await;
    let list = request(1, LIST, &json!({}));
    for (key, challenge) in
        [("", "Bearer"), ("Basic YW5h", "Bearer"), ("Bearer wrong", "Bearer error=\"invalid_token\"")]
    {
        let answer = site.ask_with(&list, &[("authorization", key)]).await;
        assert_eq!(answer.status, 401, "{key}");
        assert_eq!(answer.header("www-authenticate"), Some(challenge), "{key}");
        assert!(!answer.body.contains("wrong"), "the key comes back: {}", answer.body);
    }
    let twice = head("POST", &[]) + "authorization: Bearer ana-key\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(site.raw(twice.as_bytes()).await.status, 401, "two keys are none");
    assert_eq!(site.ask_with(&list, &[("authorization", "bearer ana-key")]).await.status, 200);
}

#[tokio::test]
async fn a_key_that_cannot_be_checked_is_503_without_details() {
    let site = Site::open().await;
    let answer =
        site.ask_with(&request(1, LIST, &json!({})), &[("authorization", "Bearer broken-key")]).await;
    assert_eq!(answer.status, 503);
    assert!(!answer.body.contains("fire"), "{}", answer.body);
}

#[tokio::test]
async fn the_applications_own_middleware_may_say_who_calls() {
    let bench = Arc::default();
    let server = Server::new(tools::toolset(&bench));
    let app = Http::new(&server).router(Elsewhere).layer(axum::middleware::from_fn(
        |mut request: Request, next: Next| async {
            if request.headers().contains_key("x-person") {
                request.extensions_mut().insert(tools::ben());
            }
            next.run(request).await
        },
    ));
    let site = Site::serving(app, bench).await;
    let hello = call(1, "hello", &json!({}));
    assert_eq!(site.ask_with(&hello, &[]).await.status, 401);
    let answer = site.ask_with(&hello, &[("x-person", "ben")]).await;
    assert_eq!(answer.json()["result"]["structuredContent"], json!({"text": "ben"}));
}

#[tokio::test]
async fn a_foreign_host_or_origin_is_403_before_the_body_is_read() {
    let site = Site::open().await;
    for wrong in [
        &[("host", "attacker.test")][..],
        &[("host", "localhost.attacker.test:8787")],
        &[("origin", "https://evil.test")],
        &[("origin", "null")],
        &[("origin", "http://localhost")],
        &[("host", "attacker.test"), ("origin", "https://app.example.org")],
        &[("host", "attacker.test"), ("authorization", "")],
    ] {
        // The body is announced and never sent: only who does not wait for it can answer.
        let unsent = head("POST", wrong) + "content-length: 100\r\n\r\n";
        let answer = site.raw(unsent.as_bytes()).await;
        assert_eq!(answer.status, 403, "{wrong:?}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{wrong:?}");
    }
    let none = site.ask_with(&request(1, LIST, &json!({})), &[("host", "")]).await;
    assert_eq!(none.status, 400, "no host at all");
}

#[tokio::test]
async fn hosts_and_origins_are_let_in_as_they_are_written() {
    let bench = Arc::default();
    let server = Server::new(tools::toolset(&bench));
    let mut http = Http::new(&server);
    for host in ["mcp.example.org", "other.example.org:8443"] {
        http = http.host(host).unwrap();
    }
    for origin in ["https://App.example.org:443", "http://localhost:*", "http://127.0.0.1:6274"] {
        http = http.origin(origin).unwrap();
    }
    let site = Site::serving(http.router(Keys), bench).await;
    let ping = request(1, "ping", &json!({}));
    for (header, value, status) in [
        ("host", "LOCALHOST:8787", 200),
        ("host", "127.0.0.1:1", 200),
        ("host", "[::1]:8787", 200),
        ("host", "mcp.example.org:9", 200),
        ("host", "other.example.org:8443", 200),
        ("host", "other.example.org", 403),
        ("host", "other.example.org:8444", 403),
        ("host", "xmcp.example.org", 403),
        ("host", "localhost:8787@attacker.test", 403),
        ("host", "a b", 400),
        ("origin", "https://app.example.org", 200),
        ("origin", "http://localhost", 200),
        ("origin", "http://localhost:6274", 200),
        ("origin", "http://127.0.0.1:6274", 200),
        ("origin", "http://app.example.org", 403),
        ("origin", "https://app.example.org.evil.test", 403),
        ("origin", "https://app.example.org:8443", 403),
        ("origin", "http://localhost.evil.test", 403),
        ("origin", "http://localhost:6274.evil.test", 403),
        ("origin", "http://127.0.0.1", 403),
    ] {
        assert_eq!(site.ask_with(&ping, &[(header, value)]).await.status, status, "{header}: {value}");
    }
    let absolute =
        head("POST", &[]).replace("/mcp", "http://attacker.test/mcp") + "content-length: 0\r\n\r\n";
    assert_eq!(site.raw(absolute.as_bytes()).await.status, 403, "both names count");
    let twice = head("POST", &[]) + "host: localhost\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(site.raw(twice.as_bytes()).await.status, 400, "two hosts are none");
}

#[tokio::test]
async fn an_open_route_needs_no_key_and_stands_behind_the_same_hosts_and_origins() {
    let bench = Arc::default();
    let server = Server::new(tools::toolset(&bench));
    let routes = Router::new().route("/up", get(|| async { "up" }));
    let http = Http::new(&server).origin("https://app.example.org").unwrap().open(routes);
    let site = Site::serving(http.router(Keys), bench).await;
    let up = async |headers: &[(&str, &str)]| {
        let headers = [headers, &[("authorization", "")]].concat();
        let asked = head("GET", &headers).replacen("/mcp", "/up", 1) + "\r\n";
        site.raw(asked.as_bytes()).await
    };
    let answer = up(&[]).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "up"));
    for (header, value, status) in [
        ("host", "attacker.test", 403),
        ("host", "", 400),
        ("origin", "https://evil.test", 403),
        ("origin", "https://app.example.org", 200),
    ] {
        assert_eq!(up(&[(header, value)]).await.status, status, "{header}: {value}");
    }
    let list = request(1, LIST, &json!({}));
    assert_eq!(
        site.ask_with(&list, &[("authorization", "")]).await.status,
        401,
        "beside it, a key is needed"
    );
}

#[test]
fn what_is_no_host_and_no_origin_is_refused_in_words() {
    let server = tools::server();
    for wrong in ["", "*", "*.example.org", "https://example.org", "a b", "me@example.org"] {
        let error = Http::new(&server).host(wrong).err().map(|error| error.to_string());
        assert!(error.unwrap().contains("is no host: write"), "{wrong}");
    }
    for wrong in ["*", "null", "app.example.org", "https://*", "https://a.example/path", "https://a:1:*", ""]
    {
        let error = Http::new(&server).origin(wrong).err().map(|error| error.to_string());
        assert!(error.unwrap().contains("is no origin: write"), "{wrong}");
    }
}

#[tokio::test]
async fn a_preflight_from_an_allowed_origin_is_204_with_the_protocols_headers() {
    let site = Site::open().await;
    let preflight = [
        ("origin", "https://app.example.org"),
        ("authorization", ""),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,content-type,mcp-protocol-version"),
    ];
    let answer = site.send("OPTIONS", &preflight, b"").await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example.org"));
    assert_eq!(answer.header("vary"), Some("origin"));
    assert!(answer.header("access-control-allow-methods").unwrap().contains("POST"));
    let allowed = answer.header("access-control-allow-headers").unwrap();
    for name in
        ["authorization", "content-type", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"]
    {
        assert!(allowed.contains(name), "{name} in {allowed}");
    }
    assert_eq!(answer.header("access-control-allow-credentials"), None);

    let foreign = site.send("OPTIONS", &[("origin", "https://evil.test"), ("authorization", "")], b"").await;
    assert_eq!(foreign.status, 403);
    assert!(!foreign.head.to_ascii_lowercase().contains("access-control"), "{}", foreign.head);
}

#[tokio::test]
async fn errors_too_can_be_read_by_an_allowed_origin() {
    let site = Site::open().await;
    let origin = ("origin", "https://app.example.org");
    for (status, headers, body) in [
        (401, &[origin, ("authorization", "")][..], &b"{}"[..]),
        (400, &[origin], b"not json"),
        (415, &[origin, ("content-type", "text/plain")], b"{}"),
        (406, &[origin, ("accept", "text/html")], b"{}"),
    ] {
        let answer = site.send("POST", headers, body).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example.org"), "{status}");
        assert!(answer.header("access-control-expose-headers").unwrap().contains("www-authenticate"));
    }
}

#[tokio::test]
async fn a_key_that_is_revoked_is_refused_on_the_open_connection() {
    let (bench, keys) = (Arc::default(), Revocable::default());
    let server = Server::new(tools::toolset(&bench));
    let site = Site::serving(Http::new(&server).router(keys.clone()), bench).await;
    let request = kept(&call(1, "hello", &json!({})));
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    for (revoked, status) in [(false, 200), (true, 401)] {
        keys.0.store(revoked, Ordering::SeqCst);
        stream.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(next(&mut stream, &mut Vec::new()).await.status, status, "revoked: {revoked}");
    }
}

/// One key, and whether it is revoked.
#[derive(Clone, Default)]
struct Revocable(Arc<AtomicBool>);

impl Authenticate for Revocable {
    async fn authenticate(&self, _: &str) -> Result<Option<Caller>, AuthError> {
        Ok((!self.0.load(Ordering::SeqCst)).then(tools::ana))
    }
}

#[tokio::test]
async fn no_key_is_in_the_logs_however_much_is_logged() {
    let logs = Logs::default();
    let writer = logs.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _logged = tracing::subscriber::set_default(subscriber);
    let site = Site::open().await;
    let message = call(1, "panics", &json!({}));
    for key in ["Bearer ana-key", "Bearer wrong-key", "Bearer broken-key", "Basic secret-key"] {
        site.ask_with(&message, &[("authorization", key)]).await;
    }
    site.send("POST", &[], b"nonsense").await;
    let logged = String::from_utf8(logs.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("a key could not be checked"), "the logs are kept: {logged}");
    for key in ["ana-key", "wrong-key", "broken-key", "secret-key"] {
        assert!(!logged.contains(key), "{logged}");
    }
}

#[derive(Clone, Default)]
struct Logs(Arc<Mutex<Vec<u8>>>);

impl io::Write for Logs {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

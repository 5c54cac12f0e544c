use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use relaylink_core::tool::Caller;
use relaylink_mcp::{Authenticate, Http, Server, auth::AuthError, http};
use serde_json::Value as Json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

use super::tools::{self, Bench};

const PATIENCE: Duration = Duration::from_secs(10);

/// Two keys that are known, one with which checking fails.
pub(crate) struct Keys;

impl Authenticate for Keys {
    async fn authenticate(&self, bearer: &str) -> Result<Option<Caller>, AuthError> {
        match bearer {
            "ana-key" => Ok(Some(tools::ana())),
            "ben-key" => Ok(Some(tools::ben())),
            "broken-key" => Err("the disk is on fire".into()),
            _ => Ok(None),
        }
    }
}

/// A server over HTTP.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) bench: Arc<Bench>,
    pub(crate) serving: JoinHandle<io::Result<()>>,
    stop: Option<oneshot::Sender<()>>,
}

/// An answer as it came.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("JSON: {} {}", self.status, self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (given, value) = line.split_once(':')?;
            given.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Site {
    pub(crate) async fn open() -> Self {
        let bench = Arc::default();
        let server = Server::new(tools::toolset(&bench));
        let http = Http::new(&server).origin("https://app.example.org").unwrap();
        Self::serving(http.router(Keys), bench).await
    }

    pub(crate) async fn serving(app: Router, bench: Arc<Bench>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(http::serve(listener, app, async {
            if stopped.await.is_err() {
                std::future::pending::<()>().await;
            }
        }));
        Self { address, bench, serving, stop: Some(stop) }
    }

    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Sends bytes and reads the answer's end, which the server marks by closing.
    pub(crate) async fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server may answer and close before it has taken everything.
        let _ = stream.write_all(request).await;
        let mut bytes = Vec::new();
        let read = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("an answer");
        assert!(read.is_ok() || !bytes.is_empty(), "{read:?}");
        answer(&bytes)
    }

    /// A request with these headers instead of the usual ones of the same name.
    pub(crate) async fn send(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = Vec::from(head(method, headers));
        request.extend(format!("content-length: {}\r\n\r\n", body.len()).into_bytes());
        request.extend(body);
        self.raw(&request).await
    }

    /// What Ana's client is answered.
    pub(crate) async fn ask(&self, message: &Json) -> Json {
        self.ask_with(message, &[]).await.json()
    }

    pub(crate) async fn ask_with(&self, message: &Json, headers: &[(&str, &str)]) -> Answer {
        self.send("POST", headers, message.to_string().as_bytes()).await
    }
}

/// A request's head without its end. A header given as "" is left out.
pub(crate) fn head(method: &str, headers: &[(&str, &str)]) -> String {
    let usual = [
        ("host", "localhost"),
        ("authorization", "Bearer ana-key"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("connection", "close"),
    ];
    let mut head = format!("{method} /mcp HTTP/1.1\r\n");
    let kept = usual.iter().filter(|(name, _)| !headers.iter().any(|(given, _)| given == name));
    for (name, value) in kept.chain(headers).filter(|(_, value)| !value.is_empty()) {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head
}

pub(crate) fn answer(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("an answer: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// A request as Ana's client sends it, on a connection that stays open.
pub(crate) fn kept(message: &Json) -> String {
    let body = message.to_string();
    format!("{}content-length: {}\r\n\r\n{body}", head("POST", &[("connection", "keep-alive")]), body.len())
}

/// Posts a request without waiting for its answer.
pub(crate) async fn post(address: SocketAddr, message: &Json) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(kept(message).as_bytes()).await.unwrap();
    stream
}

/// The next answer on a connection, of which nothing has been taken.
pub(crate) async fn answered(mut stream: TcpStream) -> Answer {
    next(&mut stream, &mut Vec::new()).await
}

/// The next answer on a connection that stays open; `taken` is what came before it is asked for, and
/// what came of those after it.
pub(crate) async fn next(stream: &mut TcpStream, taken: &mut Vec<u8>) -> Answer {
    let reading = async {
        loop {
            if let Some(length) = complete(taken) {
                return answer(&taken.drain(..length).collect::<Vec<_>>());
            }
            assert_ne!(stream.read_buf(taken).await.unwrap(), 0, "the connection broke off");
        }
    };
    timeout(PATIENCE, reading).await.expect("an answer")
}

/// How many bytes the first answer in there has, once it is there whole.
fn complete(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let body: usize = answer(&bytes[..head]).header("content-length").unwrap().parse().unwrap();
    (bytes.len() >= head + body).then_some(head + body)
}

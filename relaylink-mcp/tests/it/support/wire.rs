use std::{io, time::Duration};

use relaylink_core::tool::Caller;
use relaylink_mcp::{Server, stdio};
use serde_json::Value as Json;
use tokio::{
    io::{
        AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
    },
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};

use super::{initialize, tools};

const PATIENCE: Duration = Duration::from_secs(10);

/// A client on the other end of a stdio session.
pub(crate) struct Wire {
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: Option<WriteHalf<DuplexStream>>,
    pub(crate) session: JoinHandle<io::Result<()>>,
    stop: Option<oneshot::Sender<()>>,
}

impl Wire {
    /// Nothing said yet.
    pub(crate) fn silent(server: Server, caller: Caller) -> Self {
        let (near, far) = duplex(64 * 1024);
        let (read, write) = split(far);
        let (stop, stopped) = oneshot::channel();
        let session = tokio::spawn(async move {
            let stopped = async {
                if stopped.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            stdio::serve_over(&server, caller, read, write, stopped).await
        });
        let (read, write) = split(near);
        Self { read: BufReader::new(read).lines(), write: Some(write), session, stop: Some(stop) }
    }

    pub(crate) fn as_ana() -> Self {
        Self::silent(tools::server(), tools::ana())
    }

    pub(crate) async fn opened_as_ana() -> Self {
        Self::opened(tools::server(), tools::ana()).await
    }

    /// After the handshake of a client of 2025.
    pub(crate) async fn opened(server: Server, caller: Caller) -> Self {
        let mut wire = Self::silent(server, caller);
        let answer = wire.ask(&initialize("2025-06-18")).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        wire.bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await;
        wire
    }

    pub(crate) async fn bytes(&mut self, bytes: &[u8]) {
        let write = self.write.as_mut().unwrap();
        write.write_all(bytes).await.unwrap();
        write.flush().await.unwrap();
    }

    pub(crate) async fn say(&mut self, message: &Json) {
        self.bytes(format!("{message}\n").as_bytes()).await;
    }

    /// The next line, which must be JSON-RPC; none at the end.
    pub(crate) async fn hear(&mut self) -> Option<Json> {
        let line = self.next_line().await?;
        let message: Json = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        Some(message)
    }

    /// The next line as it came.
    pub(crate) async fn line(&mut self) -> String {
        self.next_line().await.unwrap()
    }

    async fn next_line(&mut self) -> Option<String> {
        timeout(PATIENCE, self.read.next_line()).await.expect("an answer").unwrap()
    }

    pub(crate) async fn ask(&mut self, message: &Json) -> Json {
        self.say(message).await;
        self.hear().await.unwrap()
    }

    /// Ends the input.
    pub(crate) async fn hang_up(&mut self) {
        self.write.take().unwrap().shutdown().await.unwrap();
    }

    /// Both streams are closed, as when a client is killed; the session that is left.
    pub(crate) fn gone(self) -> JoinHandle<io::Result<()>> {
        self.session
    }

    /// Tells the server to stop.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }
}

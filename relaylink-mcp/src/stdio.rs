//! One client over a pair of byte streams: a message a line.

use std::{future::Future, io};

use futures_util::{StreamExt, stream};
use relaylink_core::tool::Caller;
use rmcp::{
    RoleServer, ServiceExt,
    model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta, ProtocolVersion, ServerJsonRpcMessage},
    service::ServerInitializeError,
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    time::timeout,
};
use tokio_util::{
    bytes::{Bytes, BytesMut},
    codec::{AnyDelimiterCodec, AnyDelimiterCodecError, BytesCodec, Decoder, FramedRead, FramedWrite},
    sync::CancellationToken,
    task::AbortOnDropHandle,
};

use crate::{
    Server, limits,
    message::{self, Read},
};

/// Serves this caller over stdin and stdout, until stdin ends or `shutdown` completes. Calls that
/// run when stdin ends have five seconds, and their answers are written before this returns.
///
/// Nothing but protocol may be written to stdout. End the process once this has returned: where
/// stdin is no pipe, reading it cannot be cancelled, and the runtime would wait for it.
pub async fn serve(
    server: &Server,
    caller: Caller,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let (read, write) = rmcp::transport::stdio_pipes();
    serve_over(server, caller, read, write, shutdown).await
}

/// Serves this caller over streams of yours, as [`serve`] does over stdin and stdout.
pub async fn serve_over(
    server: &Server,
    caller: Caller,
    read: impl AsyncRead + Send + Unpin + 'static,
    write: impl AsyncWrite + Send + Unpin + 'static,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let (answers, mut written) = mpsc::channel(limits::ANSWERS);
    let written = stream::poll_fn(move |context| written.poll_recv(context)).map(Ok);
    // Written as they come, several at a time where several wait.
    let writer =
        AbortOnDropHandle::new(tokio::spawn(written.forward(FramedWrite::new(write, BytesCodec::new()))));
    let codec = AnyDelimiterCodec::new_with_max_length(b"\n".into(), b"\n".into(), limits::MESSAGE_BYTES);
    let pipe = Pipe { lines: FramedRead::new(read, Lines(codec)), answers, opened: false };
    let told = CancellationToken::new();
    let mut session = Box::pin(async {
        match server.session(Some(caller)).serve_with_ct(pipe, told.clone()).await {
            Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    tokio::select! {
        ended = &mut session => ended?,
        () = shutdown => {
            told.cancel();
            session.await?;
        }
    }
    // The session is over and with it every sender, so the writer ends with the last answer.
    match timeout(limits::LAST_WORDS, writer).await {
        // A client that is gone reads no answers: that is an end too.
        Ok(Ok(Err(error))) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Ok(Ok(written)) => written,
        Ok(Err(_)) => Err(io::Error::other("writing to the client failed")),
        Err(_) => Ok(()),
    }
}

/// Lines in, answers out.
struct Pipe<R> {
    lines: FramedRead<R, Lines>,
    answers: mpsc::Sender<Bytes>,
    /// Whether a request has come that opens a session: before it, rmcp takes anything but a
    /// request as the end.
    opened: bool,
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Pipe<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        answer: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answers = self.answers.clone();
        async move { answers.send(line(&answer)?).await.map_err(|_| io::ErrorKind::BrokenPipe.into()) }
    }

    /// Cancelled whenever an answer is ready, so nothing may be lost at an await.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Room for an answer first: who reads no answers is read no requests.
            let room = self.answers.reserve().await.ok()?;
            match self.lines.next().await? {
                Ok(Read::Message(message)) => {
                    self.opened = self.opened || opens(&message);
                    if self.opened || matches!(*message, ClientJsonRpcMessage::Request(_)) {
                        return Some(*message);
                    }
                }
                Ok(Read::Nothing) => {}
                Ok(Read::Bad(answer)) => room.send(line(&answer).ok()?),
                Err(error) => {
                    tracing::warn!(%error, "reading from the client failed");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Whether this message opens a session: `initialize`, or a request that says all in itself.
fn opens(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else {
        return false;
    };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) => false,
        request => request
            .get_meta()
            .protocol_version()
            .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version)),
    }
}

fn line(message: &impl serde::Serialize) -> io::Result<Bytes> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes.into())
}

/// Reads lines, of which no more is held than a message may have.
struct Lines(AnyDelimiterCodec);

impl Decoder for Lines {
    type Item = Read;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Read>> {
        read(self.0.decode(buffer))
    }

    /// A last line without its end is a line. The codec takes it, since it knows how far it looked.
    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Read>> {
        read(self.0.decode_eof(buffer))
    }
}

/// A line that is too long is an item, since an error would leave what follows it unread.
fn read(line: Result<Option<Bytes>, AnyDelimiterCodecError>) -> io::Result<Option<Read>> {
    match line {
        Ok(line) => Ok(line.map(|line| message::read(message::bare(&line)))),
        Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => {
            let why = format!("the message is too long: the limit is {} bytes", limits::MESSAGE_BYTES);
            Ok(Some(Read::Bad(message::error(None, ErrorCode::INVALID_REQUEST, &why))))
        }
        Err(AnyDelimiterCodecError::Io(error)) => Err(error),
    }
}

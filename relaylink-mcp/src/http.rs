//! Streamable HTTP without sessions: one request, one JSON reply.

mod access;
mod guard;

use std::{future::Future, io, net::SocketAddr, pin::Pin, sync::Arc};

use ::http::StatusCode;
use access::Access;
use axum::{
    Router, handler::Handler, middleware::from_fn_with_state, routing::post_service, serve::Listener,
};
use guard::Guard;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_io_timeout::TimeoutStream;
use tokio_util::{io::InspectReader, sync::CancellationToken};
use tower_http::set_status::SetStatusLayer;

use crate::{Authenticate, Server, limits};

pub use access::AccessError;

/// How a toolset is served over HTTP. Without more, at `/mcp` of this machine's own names, to
/// clients that are no browsers.
#[must_use]
pub struct Http {
    server: Server,
    path: String,
    access: Access,
    open: Router,
}

impl Http {
    /// Serves this server.
    pub fn new(server: &Server) -> Self {
        Self { server: server.clone(), path: "/mcp".to_owned(), access: Access::local(), open: Router::new() }
    }

    /// Another path than `/mcp`.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// One more host by whose name the server may be called, beside `localhost`, `127.0.0.1` and
    /// `[::1]`: `mcp.example.org` on any port, or `mcp.example.org:8443`. Any other is 403, so that
    /// no web page reaches a local server under a name of its own.
    pub fn host(mut self, host: &str) -> Result<Self, AccessError> {
        self.access.add_host(host)?;
        Ok(self)
    }

    /// One more origin whose pages may call the server: `https://app.example.org`, or
    /// `http://localhost:*` for any port. Any other is 403; requests without an origin, which no
    /// browser sends, are let through.
    pub fn origin(mut self, origin: &str) -> Result<Self, AccessError> {
        self.access.add_origin(origin)?;
        Ok(self)
    }

    /// Routes of yours that anybody may call without a key, as one by which a balancer sees whether the
    /// server is ready. Host and origin are checked before them, too.
    pub fn open(mut self, routes: Router) -> Self {
        self.open = self.open.merge(routes);
        self
    }

    /// The router, to serve or to merge into a router of yours. A request whose extensions hold a
    /// [`Caller`](relaylink_core::tool::Caller) already is taken as theirs; any other needs a key.
    pub fn router<A: Authenticate>(self, keys: A) -> Router {
        // Host and Origin are checked before rmcp is asked, on all routes alike.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(limits::MESSAGE_BYTES);
        let session = move || Ok(self.server.session(None));
        let service = StreamableHttpService::new(session, Arc::new(NeverSessionManager::default()), config);
        let cors = guard::sharing();
        let guard = Arc::new(Guard { keys, places: Arc::new(Semaphore::new(limits::REQUESTS)) });
        let route = post_service(service)
            .route_layer(from_fn_with_state(guard, guard::guard::<A>))
            .layer(cors.clone())
            // The layer answers a preflight by itself, and with 200.
            .options(StatusCode::NO_CONTENT.layer(cors).layer(SetStatusLayer::new(StatusCode::NO_CONTENT)));
        let routes = Router::new().route(&self.path, route).merge(self.open);
        routes.route_layer(from_fn_with_state(Arc::new(self.access), guard::admit))
    }
}

/// Serves a router until `shutdown` completes; then requests that run have [`limits::SHUTDOWN`] to
/// end. At most [`limits::CONNECTIONS`] are open at one time, and one that stalls is dropped
/// ([`limits::STALLED`], [`limits::IDLE`]).
pub async fn serve(
    listener: TcpListener,
    app: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let told = CancellationToken::new();
    let listener = Connections { listener, places: Arc::new(Semaphore::new(limits::CONNECTIONS)) };
    let serving = axum::serve(listener, app).with_graceful_shutdown(told.clone().cancelled_owned());
    let out_of_time = async {
        shutdown.await;
        told.cancel();
        tokio::time::sleep(limits::SHUTDOWN).await;
    };
    tokio::select! {
        ended = async { serving.await } => ended,
        () = out_of_time => Ok(()),
    }
}

/// Connections, so many at a time, that cannot be held for ever, without Nagle's delay (an answer in
/// two writes would wait 40 ms).
struct Connections {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

/// Called with what is read, of which it wants nothing: it owns the connection's place.
type Holds = Box<dyn FnMut(&[u8]) + Send>;

impl Listener for Connections {
    type Io = Pin<Box<InspectReader<TimeoutStream<TcpStream>, Holds>>>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Without it an answer is slower, not wrong.
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(limits::STALLED));
        stream.set_read_timeout(Some(limits::IDLE));
        let holds: Holds = Box::new(move |_| _ = &place);
        (Box::pin(InspectReader::new(stream, holds)), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

use std::{net::SocketAddr, time::Duration};

use clap::Args;
use relaylink_mcp::Http;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{health, on_signal};
use crate::{failure::Failure, home::Home, offer, options::Offered};

/// Serves all accounts over HTTP, to whoever has a key.
#[derive(Args)]
pub(crate) struct Serve {
    /// Where to listen: an IP address and a port; port 0 takes a free one.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:8787",
        env = "RELAYLINK_LISTEN",
        value_parser = place
    )]
    listen: SocketAddr,
    /// A name the server may be called by, beside this machine's own; may be given again.
    #[arg(long, value_name = "HOST", value_delimiter = ',', env = "RELAYLINK_ALLOWED_HOST")]
    allowed_host: Vec<String>,
    /// An origin whose web pages may call the server; may be given again.
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',', env = "RELAYLINK_ALLOWED_ORIGIN")]
    allowed_origin: Vec<String>,
    /// How long it goes on serving once it is told to end, while /readyz says that it is not ready: the
    /// time in which a balancer asks again.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, env = "RELAYLINK_DRAIN")]
    drain: u16,
    /// Ends when whoever started it does, and with them its standard input.
    #[arg(long, hide = true)]
    until_input_ends: bool,
    #[command(flatten)]
    offered: Offered,
}

fn place(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "expected an IP address and a port, as 127.0.0.1:8787 or [::1]:8787")
}

impl Serve {
    pub(crate) async fn run(self, home: Home) -> Result<(), Failure> {
        let mut http = Http::new(&offer::server(home.relay.toolset(), &self.offered)?);
        for host in &self.allowed_host {
            http = http.host(host).map_err(Failure::usage)?;
        }
        for origin in &self.allowed_origin {
            http = http.origin(origin).map_err(Failure::usage)?;
        }
        let ending = on_signal();
        if self.until_input_ends {
            let ending = ending.clone();
            // A thread that nobody waits for: a read of it cannot be broken off.
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
                ending.cancel();
            });
        }
        let stop = after(ending.clone(), Duration::from_secs(self.drain.into()));
        let app = http.open(health::routes(home.relay.clone(), ending)).router(home.relay.clone());
        let cannot_listen = |error| {
            Failure::new(format!("{} cannot be listened on: {error}", self.listen))
                .hint("Give another with --listen ADDRESS:PORT.")
        };
        let listener = TcpListener::bind(self.listen).await.map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        if !address.ip().is_loopback() && self.allowed_host.is_empty() {
            tracing::warn!("calls by any other name than localhost are refused: see --allowed-host");
        }
        // A program that starts this one reads the address here.
        eprintln!("listening on http://{address}/mcp");
        let serving = async {
            let ended = relaylink_mcp::http::serve(listener, app, stop.clone().cancelled_owned()).await;
            stop.cancel();
            ended
        };
        let (ended, ()) = tokio::join!(serving, home.keep(stop.clone()));
        ended.map_err(|error| Failure::new(format!("the server failed: {error}")))
    }
}

/// Told so long after `told` was.
fn after(told: CancellationToken, pause: Duration) -> CancellationToken {
    let stop = CancellationToken::new();
    let late = stop.clone();
    tokio::spawn(async move {
        told.cancelled().await;
        tokio::time::sleep(pause).await;
        late.cancel();
    });
    stop
}

//! The whole relay inside somebody else's axum application: its routes, its listener, its shutdown.
//! Run it as `embed FILE ADDRESS`, for example `embed embed.db 127.0.0.1:8787`.

use std::{error::Error, sync::Arc};

use axum::{Router, routing::get};
use relaylink_core::account::everything_listed;
use relaylink_core::mail::{Courier, DirectoryMailer, Post};
use relaylink_core::relay::{Address, Relay, SystemClock};
use relaylink_core::store::{Store, sqlite::Sqlite};
use relaylink_mcp::{Http, Server, http};
use tokio::{net::TcpListener, signal::ctrl_c};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_else(|| "embed.db".to_owned());
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8787".to_owned());

    // The relay over a store, and the courier that carries its mail; here into a folder.
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&file)?);
    let post = Post::new("Embedded", "relay@example.org".parse()?);
    let relay = Relay::builder(Arc::clone(&store)).post(post.clone()).build()?;
    let mailer = Arc::new(DirectoryMailer::new(format!("{file}.mail")));
    let courier = Courier::new(store, mailer, Arc::new(SystemClock), post);
    let mail = tokio::spawn(async move { courier.run(stopped()).await });

    if let Some(key) = first_key(&relay).await? {
        eprintln!("Ana's key, shown this once: {key}");
    }

    // The application's own route, and the relay's beside it.
    let server = Server::new(relay.toolset()).name("embedded-relay", env!("CARGO_PKG_VERSION"));
    let app = Router::new()
        .route("/", get(|| async { "An application with a relay at /mcp.\n" }))
        .merge(Http::new(&server).router(relay.clone()));

    let listener = TcpListener::bind(&address).await?;
    eprintln!("Listening on http://{}", listener.local_addr()?);
    http::serve(listener, app, stopped()).await?;
    mail.await??;
    Ok(relay.flush_key_use().await?)
}

/// Makes an account with a key, where there is none yet.
async fn first_key(relay: &Relay) -> Result<Option<String>, Box<dyn Error>> {
    let ana: Address = "ana@example.org".parse()?;
    if relay.accounts().account(&ana).await?.is_some() {
        return Ok(None);
    }
    let account = relay.accounts().create_account(ana, "Ana".parse()?).await?;
    let made = relay.accounts().create_key(&account.id, "laptop".parse()?, everything_listed(), None);
    Ok(Some(made.await?.1.expose().to_owned()))
}

async fn stopped() {
    if ctrl_c().await.is_err() {
        std::future::pending::<()>().await; // No signal can come; the application runs on.
    }
}

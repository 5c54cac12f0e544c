//! A file a command.

pub(crate) mod account;
pub(crate) mod key;
pub(crate) mod serve;
pub(crate) mod stdio;
pub(crate) mod tools;
pub(crate) mod tour;

use tokio_util::sync::CancellationToken;

/// Told once the process is asked to end, by Ctrl-C or SIGTERM.
fn on_signal() -> CancellationToken {
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        let asked = signalled().await;
        if let Err(error) = asked {
            tracing::error!(%error, "signals cannot be waited for: end the process by force");
            return;
        }
        told.cancel();
    });
    stop
}

#[cfg(unix)]
async fn signalled() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn signalled() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

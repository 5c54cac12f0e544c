//! A file a command.

pub(crate) mod account;
pub(crate) mod backup;
pub(crate) mod check;
pub(crate) mod copy;
mod health;
pub(crate) mod key;
pub(crate) mod serve;
pub(crate) mod stdio;
pub(crate) mod tools;
pub(crate) mod tour;

use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// Does what blocks for long, where nothing else waits for the thread.
async fn blocking(act: impl FnOnce() -> Result<(), Failure> + Send + 'static) -> Result<(), Failure> {
    tokio::task::spawn_blocking(act).await.unwrap_or_else(|error| Err(Failure::new(error)))
}

/// Told once the process is asked to end, by Ctrl-C or SIGTERM. Asked a second time, the process
/// ends where it stands: what was answered is stored, and mail in flight is told as unknown.
fn on_signal() -> CancellationToken {
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        let mut signals = match Signals::caught() {
            Ok(signals) => signals,
            Err(error) => {
                tracing::error!(%error, "signals cannot be waited for: end the process by force");
                return;
            }
        };
        signals.next().await;
        told.cancel();
        signals.next().await;
        tracing::warn!("told twice to end: what runs is left as it is");
        std::process::exit(1);
    });
    stop
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn caught() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn caught() -> std::io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}

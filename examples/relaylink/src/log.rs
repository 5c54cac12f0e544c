use std::io;

use tracing_subscriber::EnvFilter;

/// Logs go to stderr: over stdio, stdout belongs to the protocol. `RELAYLINK_LOG` says how much, as
/// `warn`, or `relaylink=debug,warn`; whatever it says, the protocol library logs errors only,
/// since at other levels it logs what people write.
pub(crate) fn start() {
    let wanted = std::env::var("RELAYLINK_LOG").unwrap_or_else(|_| "info".to_owned());
    let filter =
        EnvFilter::try_new(format!("{wanted},{}", relaylink_mcp::LOG_FILTER)).unwrap_or_else(|error| {
            eprintln!("warning: RELAYLINK_LOG is not understood ({error}): logging warnings");
            EnvFilter::new(format!("warn,{}", relaylink_mcp::LOG_FILTER))
        });
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(false).init();
}

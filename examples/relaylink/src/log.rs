use std::io;

use tracing_subscriber::{
    EnvFilter, Layer, filter::filter_fn, fmt, layer::SubscriberExt, util::SubscriberInitExt,
};

/// Logs go to stderr: over stdio, stdout belongs to the protocol. `RELAYLINK_LOG` says how much, as
/// `warn`, or `relaylink=debug,warn`; whatever it says, the protocol library logs errors only,
/// since at other levels it logs what people write.
pub(crate) fn start() {
    let wanted = std::env::var("RELAYLINK_LOG").ok().filter(|wanted| !wanted.is_empty());
    let wanted = wanted.unwrap_or_else(|| "info".to_owned());
    let wanted = EnvFilter::try_new(wanted).unwrap_or_else(|error| {
        eprintln!("warning: RELAYLINK_LOG is not understood ({error}): logging warnings");
        EnvFilter::new("warn")
    });
    let discreet =
        filter_fn(|about| *about.level() == tracing::Level::ERROR || !about.target().starts_with("rmcp"));
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(false).with_filter(discreet);
    tracing_subscriber::registry().with(wanted).with(lines).init();
}

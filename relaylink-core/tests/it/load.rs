//! How long a test keeps a store busy, and what it says of it.

use std::{io::Write, time::Duration};

use crate::switches;

/// The variable that says how many seconds a load lasts.
const SECONDS_VARIABLE: &str = "RELAYLINK_TEST_LOAD";

/// How long the load is to last: so short, and told to be, where nobody says.
pub(crate) fn lasts(short: u64) -> Duration {
    let seconds = switches::number(SECONDS_VARIABLE).map(u64::from);
    if seconds.is_none() {
        say(&format!("short: {short} seconds of load; {SECONDS_VARIABLE}=60 for all"));
    }
    Duration::from_secs(seconds.unwrap_or(short))
}

/// Says something past the capture of a passing test's output.
pub(crate) fn say(what: &str) {
    let mut stderr = std::io::stderr();
    writeln!(stderr, "{what}").unwrap();
}

use std::{
    io::{self, IsTerminal},
    ops::ControlFlow,
    time::{Duration, Instant},
};

use clap::{Args, builder::BoolishValueParser};
use relaylink_core::store::{
    StoreError,
    upkeep::{Compared, Content, Outcome, Progress, Report, Rooms, Step, copy},
};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::{blocking, on_signal};
use crate::{failure::Failure, output, store::Place};

/// How often a terminal is told, and how often a file or a pipe.
const TERMINAL: Duration = Duration::from_millis(100);
const PIPE: Duration = Duration::from_secs(1);

const AGAIN: &str = "Run the same move again: it goes on where it stopped.";

/// Copies a store to another one, from one engine to the other or not, and compares the two. Ended in the
/// middle and run again, it goes on where it stopped; until it is done, no server serves the target.
#[derive(Args)]
pub(crate) struct Move {
    /// The store to copy, which nothing else has open: postgres://…, a folder of data, or a store's file.
    /// Others on the machine can read an argument: a password goes in the variable.
    #[arg(
        long,
        value_name = "STORE",
        env = "RELAYLINK_FROM",
        hide_env_values = true,
        value_parser = Place::parser("--from or RELAYLINK_FROM")
    )]
    from: Place,
    /// The store to fill, which is empty or not there.
    #[arg(
        long,
        value_name = "STORE",
        env = "RELAYLINK_TO",
        hide_env_values = true,
        value_parser = Place::parser("--to or RELAYLINK_TO")
    )]
    to: Place,
    /// How far it is, and how it ended, as a line of JSON each.
    #[arg(long, env = "RELAYLINK_JSON", value_parser = BoolishValueParser::new())]
    json: bool,
}

impl Move {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let stop = on_signal();
        blocking(move || self.copied(&stop)).await
    }

    fn copied(self, stop: &CancellationToken) -> Result<(), Failure> {
        let (mut from, mut to) = (self.from.source()?, self.to.target()?);
        let mut teller = Teller::new(self.json);
        let report = copy(&mut from, &mut to, &Rooms::relay(), &mut |progress| {
            teller.tell(progress);
            if stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        teller.end();
        let report = report.map_err(|error| match error {
            StoreError::Unusable(why) => Failure::new(why),
            error => Failure::from(error).hint(AGAIN),
        })?;
        told(&report, self.json)?;
        let tables = report.tables.len();
        let are = match report.outcome {
            Outcome::Copied => "are",
            Outcome::AlreadyThere => "were already",
            Outcome::Stopped => return Err(Failure::new("it was told to end before it was done").hint(AGAIN)),
            _ => {
                let different = report.tables.iter().filter(|table| !table.is_equal());
                let different: Vec<_> = different.map(|table| &*table.table).collect();
                return Err(Failure::new(format!(
                    "{} and {} differ in {}: the first has changed meanwhile",
                    from.name(),
                    to.name(),
                    different.join(", ")
                ))
                .hint("End all that has either open, and run the same move again: it begins anew."));
            }
        };
        eprintln!("All {tables} tables of {} {are} in {}, and equal.", from.name(), to.name());
        Ok(())
    }
}

/// Writes how it ended.
fn told(report: &Report, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let content = |content: &Content| json!({ "rows": content.rows, "digest": content.digest });
        let tables = report.tables.iter().map(|Compared { table, from, to, .. }| {
            json!({ "table": table, "from": content(from), "to": content(to), "equal": from == to })
        });
        let outcome = match report.outcome {
            Outcome::Copied => "copied",
            Outcome::AlreadyThere => "already_there",
            Outcome::Stopped => "stopped",
            _ => "differs",
        };
        let tables: Json = tables.collect();
        return output::line(&json!({ "outcome": outcome, "tables": tables }).to_string());
    }
    let rows: Vec<_> = report
        .tables
        .iter()
        .map(|table| {
            let equal = if table.is_equal() { "equal" } else { "differs" };
            [table.table.clone(), table.to.rows.to_string(), table.to.digest.clone(), equal.to_owned()]
        })
        .collect();
    output::table(["TABLE", "ROWS", "SHA-256", ""], &rows)
}

/// Tells how far it is: to a terminal in one line, which is written over.
struct Teller {
    json: bool,
    terminal: bool,
    last: Option<Instant>,
}

impl Teller {
    fn new(json: bool) -> Self {
        Self { json, terminal: io::stderr().is_terminal(), last: None }
    }

    fn tell(&mut self, progress: &Progress<'_>) {
        let Progress { step, table, done, of, .. } = *progress;
        let step = match step {
            Step::Copy => "copy",
            Step::Index => "index",
            _ => "compare",
        };
        if self.json {
            // Whoever no longer reads does not end a move.
            let _ =
                output::line(&json!({ "step": step, "table": table, "done": done, "of": of }).to_string());
            return;
        }
        let pause = if self.terminal { TERMINAL } else { PIPE };
        if of == 0 || (done < of && self.last.is_some_and(|last| last.elapsed() < pause)) {
            return;
        }
        self.last = Some(Instant::now());
        let line = format!("{step} {table}: {done} of {of}");
        if self.terminal { eprint!("\r\x1b[K{line}") } else { eprintln!("{line}") }
    }

    fn end(&self) {
        if self.terminal && !self.json {
            eprint!("\r\x1b[K");
        }
    }
}

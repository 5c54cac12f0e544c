use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Writes one line to stdout.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    written(writeln!(io::stdout(), "{text}"))
}

/// Writes a value as JSON to stdout.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new(format!("the answer cannot be written as JSON: {error}")))?;
    line(&text)
}

/// Writes rows to stdout: to a terminal with their headings and in columns, to a pipe with tabs
/// between cells and no headings.
pub(crate) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if !out.is_terminal() {
        for row in rows {
            written(writeln!(out, "{}", row.join("\t")))?;
        }
        return Ok(());
    }
    let headings = headings.map(str::to_owned);
    let all = || std::iter::once(&headings).chain(rows);
    let widths: [usize; N] =
        std::array::from_fn(|at| all().map(|row| row[at].chars().count()).max().unwrap_or(0));
    for row in all() {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        written(writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end()))?;
    }
    Ok(())
}

/// A reader that has had enough is no failure of ours.
fn written(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("the answer cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

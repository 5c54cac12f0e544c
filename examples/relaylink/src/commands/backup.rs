use std::path::PathBuf;

use clap::Args;
use relaylink_core::store::sqlite::{Options, Sqlite};

use super::blocking;
use crate::{failure::Failure, output, store::Place};

/// Copies a store that is a file to a new file, while it is served.
#[derive(Args)]
pub(crate) struct Backup {
    /// The file to make. One that is there is left as it is.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Backup {
    pub(crate) async fn run(self, store: Place) -> Result<(), Failure> {
        let Place::File(from) = store else {
            return Err(Failure::usage("a store in PostgreSQL is backed up by PostgreSQL's own program")
                .hint("It is pg_dump: see “Backing up” in relaylink-core/STORAGE.md."));
        };
        blocking(move || {
            let size = Sqlite::backup(&from, &self.file, Options::default())?;
            output::line(&format!("{} holds all of {}: {size} bytes.", self.file.display(), from.display()))
        })
        .await
    }
}

//! The tables, as numbered SQL files.
//!
//! To add one: write `NNNN_name.sql` beside this file with the next free number, and a line for it
//! at the end of [`CORE`]. Where one text cannot serve all engines, write `NNNN_name.sqlite.sql`
//! and `NNNN_name.postgres.sql`, and add the second with [`Migration::on_postgres`]. A file that
//! has landed is never edited: a store remembers each text it has applied and refuses another.
//!
//! Columns are typed TEXT, BIGINT (times in milliseconds) or BYTEA/BLOB. There are no triggers, no
//! ON DELETE or ON UPDATE actions, no deferred keys, no ON CONFLICT clauses, no STRICT, no parameters, and
//! no statement but CREATE, ALTER, INSERT and UPDATE; [`Migration::fault`] says what a text breaks.

mod lint;

use super::Dialect;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use super::StoreError;

/// Makes a migration of the file `NNNN_name.sql`.
macro_rules! migration {
    ($version:literal, $name:literal, $file:literal) => {
        Migration::new($version, $name, include_str!($file))
    };
}

/// The tables of RelayLink itself, oldest first.
pub const CORE: &[Migration] = &[
    migration!(1, "outbox", "0001_outbox.sql"),
    migration!(2, "accounts", "0002_accounts.sql"),
    migration!(3, "memory", "0003_memory.sqlite.sql").on_postgres(include_str!("0003_memory.postgres.sql")),
    migration!(4, "people", "0004_people.sql"),
    migration!(5, "messages", "0005_messages.sql"),
    migration!(6, "changes", "0006_changes.sqlite.sql")
        .on_postgres(include_str!("0006_changes.postgres.sql")),
];

/// The name under which a store keeps the versions of [`CORE`].
pub const CORE_OWNER: &str = "relaylink";

/// One step of a schema: applied once, in one transaction, together with its version.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    version: u32,
    name: &'static str,
    sqlite: &'static str,
    postgres: Option<&'static str>,
}

impl Migration {
    /// The step to `version`, which counts from 1 without gaps. `name` is for messages.
    pub const fn new(version: u32, name: &'static str, text: &'static str) -> Self {
        Self { version, name, sqlite: text, postgres: None }
    }

    /// The text for PostgreSQL, where one text cannot serve both.
    #[must_use]
    pub const fn on_postgres(mut self, text: &'static str) -> Self {
        self.postgres = Some(text);
        self
    }

    /// The version it leads to.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Its name, for messages.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its text in this dialect.
    pub const fn text(&self, dialect: Dialect) -> &'static str {
        match (dialect, self.postgres) {
            (Dialect::Postgres, Some(text)) => text,
            _ => self.sqlite,
        }
    }

    /// What the text has that no migration may have, in words; none where all is well.
    pub fn fault(&self) -> Option<String> {
        let texts = [Dialect::Sqlite, Dialect::Postgres].map(|dialect| (self.text(dialect), dialect));
        texts.into_iter().find_map(|(text, dialect)| lint::fault(text, dialect))
    }

    /// What a store remembers of the text it has applied.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(super) fn digest(&self, dialect: Dialect) -> String {
        data_encoding::HEXLOWER.encode(&<sha2::Sha256 as sha2::Digest>::digest(self.text(dialect)))
    }

    /// The error where a store remembers another text.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(super) fn edited(&self, owner: &str) -> StoreError {
        StoreError::Unusable(format!(
            "migration {} ({}) of {owner} is not the one that this store was made with: \
             an applied migration is never edited, a new one is added",
            self.version, self.name
        ))
    }

    /// Refuses a store that does not say that this was applied, and holds a table of it: that is no older store,
    /// and it would be applied again.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(super) fn refuse_there(
        &self,
        store: &str,
        owner: &str,
        dialect: Dialect,
        there: &[String],
    ) -> Result<(), StoreError> {
        match self.tables(dialect).iter().find(|name| there.contains(name)) {
            Some(name) => Err(StoreError::Unusable(format!(
                "{store} holds the table {name}, and its table migrations has no row that says so: {owner}, {}. \
                 Where that row was lost, restore a backup; where another program made the table, keep the \
                 tables of the two apart",
                self.version
            ))),
            None => Ok(()),
        }
    }

    /// The tables that it makes in this dialect.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(super) fn tables(&self, dialect: Dialect) -> Vec<String> {
        lint::tables(self.text(dialect), dialect)
    }
}

/// The migrations of a store, by who owns them.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) type Owners = [(&'static str, &'static [Migration])];

/// The tables that these make; an index of text that is an engine's own is none.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) fn tables_of(owners: &Owners, dialect: Dialect) -> Vec<String> {
    owners.iter().flat_map(|(_, steps)| *steps).flat_map(|step| step.tables(dialect)).collect()
}

/// What a store says of a step it has applied: the owner, the version, its name and the text's digest.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) type Applied = (String, i64, String, String);

/// Refuses a store unless just these have been applied to it.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) fn agree(
    store: &str,
    dialect: Dialect,
    owners: &Owners,
    applied: &[Applied],
    there: &[String],
) -> Result<(), StoreError> {
    for (owner, steps) in owners {
        for step in *steps {
            let version = i64::from(step.version());
            match applied.iter().find(|(of, at, ..)| of == owner && *at == version) {
                Some((.., digest)) if *digest == step.digest(dialect) => {}
                Some(_) => return Err(step.edited(owner)),
                None => {
                    step.refuse_there(store, owner, dialect, there)?;
                    return Err(StoreError::Unusable(format!(
                        "{store} lacks the tables of {owner} at version {version} ({}): start a server of this \
                         program over it, which brings them up to date",
                        step.name()
                    )));
                }
            }
        }
    }
    for (owner, version, name, _) in applied {
        let Some((_, steps)) = owners.iter().find(|(known, _)| known == owner) else {
            return Err(StoreError::Unusable(format!(
                "{store} has tables of {owner}, which this program does not know: use the program that made them"
            )));
        };
        if usize::try_from(*version).map_or(true, |version| version > steps.len()) {
            return Err(newer(&store, owner, *version, name, steps.len()));
        }
    }
    Ok(())
}

/// The table in which a store keeps what has been applied.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS migrations (
    owner TEXT NOT NULL,
    version BIGINT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (owner, version)
)";

/// Refuses migrations that no store may apply.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) fn check(owner: &str, migrations: &[Migration]) -> Result<(), StoreError> {
    for (at, migration) in migrations.iter().enumerate() {
        let (version, name) = (migration.version, migration.name);
        if version as usize != at + 1 {
            return Err(StoreError::Unusable(format!(
                "the migrations of {owner} must count from 1 without gaps, and number {} is {version}",
                at + 1
            )));
        }
        if let Some(fault) = migration.fault() {
            return Err(StoreError::Unusable(format!(
                "migration {version} ({name}) of {owner} has {fault}, which no migration may have"
            )));
        }
    }
    Ok(())
}

/// The error where a newer program has been at the store.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) fn newer(
    store: &dyn std::fmt::Display,
    owner: &str,
    version: i64,
    name: &str,
    known: usize,
) -> StoreError {
    StoreError::Unusable(format!(
        "{store} was written by a newer program: its tables of {owner} are at version {version} ({name}), \
         and this program knows {known}. It is left as it is: start the newer program"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_counts_from_one_and_every_text_keeps_the_rules() {
        for (at, migration) in CORE.iter().enumerate() {
            assert_eq!(migration.version as usize, at + 1, "{}", migration.name);
            assert_eq!(migration.fault(), None, "{}", migration.name);
        }
    }

    #[test]
    fn every_file_is_in_the_list() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/migrations");
        let texts: Vec<_> = CORE.iter().flat_map(|m| [Some(m.sqlite), m.postgres]).flatten().collect();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "sql") {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(texts.contains(&text.as_str()), "{} is not in the list", path.display());
                let number: usize = path.file_name().unwrap().to_str().unwrap()[..4].parse().unwrap();
                let migration = &CORE[number - 1];
                assert!(
                    migration.sqlite == text || migration.postgres == Some(&text),
                    "{} stands at another number in the list",
                    path.display()
                );
            }
        }
    }
}

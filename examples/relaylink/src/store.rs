use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use relaylink_core::store::{
    Store, StoreError,
    sqlite::{Options, Sqlite},
    upkeep::{Source, Target},
};

use crate::{failure::Failure, home};

/// What the store is called in the folder of the data.
pub(crate) const FILE: &str = "relaylink.db";

/// Where a database is. A password may stand in it: it is never shown, so it has no `Debug`.
#[derive(Clone)]
pub(crate) struct StoreUrl {
    text: String,
    /// What told it.
    told: &'static str,
}

impl StoreUrl {
    /// Takes any text, since a refusal of the parser's would repeat it.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        NonEmptyStringValueParser::new().map(|text| Self { text, told: "--store or RELAYLINK_STORE" })
    }

    /// The address, unless it is so wrong that a part of the password could be taken for another part
    /// of it, and be shown as that.
    fn checked(&self) -> Result<&str, Failure> {
        let wrong = |why| {
            Failure::usage(format!("what {} says {why}", self.told)).hint(
                "Write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, and an @ within the password as %40.",
            )
        };
        if !self.text.starts_with("postgres://") && !self.text.starts_with("postgresql://") {
            return Err(wrong("does not begin with postgres://"));
        }
        if self.text.matches('@').count() > 1 {
            return Err(wrong("has more than one @"));
        }
        Ok(&self.text)
    }
}

/// Where a store is, in a database or a file. A password may stand in it, so it has no `Debug`.
#[derive(Clone)]
pub(crate) enum Place {
    Database(StoreUrl),
    File(PathBuf),
}

impl Place {
    /// Takes any text; `told` is what told it.
    pub(crate) fn parser(told: &'static str) -> impl TypedValueParser<Value = Self> {
        NonEmptyStringValueParser::new().map(move |text| Self::read(text, told))
    }

    /// A path with an ending is a file's, unless a folder is there.
    fn read(text: String, told: &'static str) -> Self {
        if is_meant_as_address(&text) {
            return Self::Database(StoreUrl { text, told });
        }
        let path = PathBuf::from(text);
        let is_file = path.is_file() || (path.extension().is_some() && !path.is_dir());
        Self::File(if is_file { path } else { path.join(FILE) })
    }

    /// The store of this folder, or the platform's own, unless it is in this database.
    pub(crate) fn of(folder: Option<PathBuf>, database: Option<StoreUrl>) -> Result<Self, Failure> {
        match database {
            Some(url) => Ok(Self::Database(url)),
            None => Ok(Self::File(home::folder(folder)?.join(FILE))),
        }
    }

    /// Opens it to be read as a whole.
    pub(crate) fn source(&self) -> Result<Source, Failure> {
        match self {
            Self::Database(url) => database::source(url),
            Self::File(file) => {
                Sqlite::source(file, Options::default()).map_err(|error| unopened(file, error))
            }
        }
    }

    /// Opens it to be filled. A folder of data is made where it is not there.
    pub(crate) fn target(&self) -> Result<Target, Failure> {
        match self {
            Self::Database(url) => database::target(url),
            Self::File(file) => {
                if let Some(folder) = file.parent().filter(|_| file.ends_with(FILE)) {
                    home::make(folder)?;
                }
                Sqlite::target(file, Options::default()).map_err(|error| unopened(file, error))
            }
        }
    }
}

/// Whether somebody could mean an address by it, well written or not. As a path it would be shown, with
/// the password.
fn is_meant_as_address(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let plain = plain.to_lowercase();
    ["postgres:", "postgresql:"].iter().any(|scheme| plain.starts_with(scheme))
        || ["://", "password=", "host="].iter().any(|part| plain.contains(part))
}

fn unopened(file: &Path, error: StoreError) -> Failure {
    match error {
        // It names the file, and says what to do with it.
        StoreError::Unusable(why) => Failure::new(why),
        error => Failure::new(format!("the store {} cannot be opened: {error}", file.display())),
    }
}

/// Opens the store in this file.
pub(crate) fn in_file(file: &Path) -> Result<Arc<dyn Store>, Failure> {
    let store = Sqlite::open(file).map_err(|error| {
        unopened(file, error).hint("To leave it as it is, give another data directory with --data DIR.")
    })?;
    Ok(Arc::new(store))
}

pub(crate) use database::open as in_database;

#[cfg(feature = "postgres")]
mod database {
    use relaylink_core::store::postgres::{Options, Postgres};

    use super::{Arc, Failure, Source, Store, StoreError, StoreUrl, Target};

    /// Opens the store in this database.
    pub(crate) fn open(url: &StoreUrl) -> Result<Arc<dyn Store>, Failure> {
        let store = Postgres::open(url.checked()?).map_err(|error| failed(url, error))?;
        Ok(Arc::new(store))
    }

    pub(super) fn source(url: &StoreUrl) -> Result<Source, Failure> {
        Postgres::source(url.checked()?, Options::default()).map_err(|error| failed(url, error))
    }

    pub(super) fn target(url: &StoreUrl) -> Result<Target, Failure> {
        Postgres::target(url.checked()?, Options::default()).map_err(|error| failed(url, error))
    }

    fn failed(url: &StoreUrl, error: StoreError) -> Failure {
        let told = url.told;
        match error {
            // It says what to do.
            StoreError::Unusable(why) => Failure::new(why),
            StoreError::Busy(why) => Failure::new(why).hint(format!(
                "See that it runs, and that it can be reached from here at the host and the port that {told} \
                 names. Where more is known of it, the log above has a warning, unless RELAYLINK_LOG keeps those out."
            )),
            StoreError::Engine(why) => Failure::new(format!("the database cannot be used: {why}"))
                .hint(format!("See the user, the password and the database that {told} names.")),
            error => error.into(),
        }
    }
}

/// Says that this program knows no database.
#[cfg(not(feature = "postgres"))]
mod database {
    use super::{Arc, Failure, Source, Store, StoreUrl, Target};

    pub(crate) fn open(url: &StoreUrl) -> Result<Arc<dyn Store>, Failure> {
        Err(none(url))
    }

    pub(super) fn source(url: &StoreUrl) -> Result<Source, Failure> {
        Err(none(url))
    }

    pub(super) fn target(url: &StoreUrl) -> Result<Target, Failure> {
        Err(none(url))
    }

    fn none(url: &StoreUrl) -> Failure {
        url.checked().err().unwrap_or_else(|| {
            Failure::usage("this program was built without PostgreSQL")
                .hint(format!("Build it with its feature postgres, or name no database with {}.", url.told))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> StoreUrl {
        StoreUrl { text: text.to_owned(), told: "--store" }
    }

    #[test]
    fn what_is_no_address_of_a_database_is_refused_without_a_part_of_it() {
        for wrong in [
            "hunter2",
            "relaylink.db",
            "https://ana:hunter2@db/relay",
            "postgres://ana:a@b?hunter2=x@db/relay",
        ] {
            let told = format!("{:?}", url(wrong).checked().err());
            assert!(told.contains("postgres://USER:PASSWORD@HOST:PORT/DATABASE"), "{told}");
            assert!(!told.contains("hunter2") && !told.contains("relaylink.db"), "{told}");
        }
        for right in ["postgres://ana:p%40ss@db:5432/relay", "postgresql:///relay?host=/run/postgresql"] {
            assert!(url(right).checked().is_ok_and(|url| url == right));
        }
    }

    #[test]
    fn a_store_is_told_by_an_address_a_folder_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &Path| match Place::read(path.to_str().unwrap().to_owned(), "--to") {
            Place::File(file) => file,
            Place::Database(_) => panic!("{} is a path", path.display()),
        };
        let [here, new, named, bare] = ["", "new", "copy.db", "bare"].map(|name| folder.path().join(name));
        std::fs::write(&bare, "").unwrap();
        assert_eq!(at(&here), here.join("relaylink.db"));
        assert_eq!(at(&new), new.join("relaylink.db"));
        assert_eq!((at(&named), at(&bare)), (named, bare));
        for address in [
            "postgres://ana@db/relay",
            "mysql://ana@db/relay",
            "host=db user=ana password=hunter2",
            "user=ana PASSWORD = hunter2",
            "postgres:/ana:hunter2@db/relay",
            "PostgreSQL:ana:hunter2@db/relay",
        ] {
            assert!(matches!(Place::read(address.to_owned(), "--to"), Place::Database(_)), "{address}");
        }
    }
}

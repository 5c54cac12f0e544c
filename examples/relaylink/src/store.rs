use std::{path::Path, sync::Arc};

use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use relaylink_core::store::{Store, StoreError, sqlite::Sqlite};

use crate::failure::Failure;

/// Where a database is. A password may stand in it: it is never shown, so it has no `Debug`.
#[derive(Clone)]
pub(crate) struct StoreUrl(String);

impl StoreUrl {
    /// Takes any text, since a refusal of the parser's would repeat it.
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        NonEmptyStringValueParser::new().map(Self)
    }

    /// The address, unless it is so wrong that a part of the password could be taken for another part
    /// of it, and be shown as that.
    fn checked(&self) -> Result<&str, Failure> {
        let wrong = |why| {
            Failure::usage(why).hint(
                "Write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, and an @ within the password as %40.",
            )
        };
        if !self.0.starts_with("postgres://") && !self.0.starts_with("postgresql://") {
            return Err(wrong("what --store or RELAYLINK_STORE says does not begin with postgres://"));
        }
        if self.0.matches('@').count() > 1 {
            return Err(wrong("what --store or RELAYLINK_STORE says has more than one @"));
        }
        Ok(&self.0)
    }
}

/// Opens the store in this file.
pub(crate) fn in_file(file: &Path) -> Result<Arc<dyn Store>, Failure> {
    let store = Sqlite::open(file).map_err(|error| {
        match error {
            // It names the file, and says what to do with it.
            StoreError::Unusable(why) => Failure::new(why),
            error => Failure::new(format!("the store {} cannot be opened: {error}", file.display())),
        }
        .hint("To leave it as it is, give another data directory with --data DIR.")
    })?;
    Ok(Arc::new(store))
}

/// Opens the store in this database.
#[cfg(feature = "postgres")]
pub(crate) fn in_database(url: &StoreUrl) -> Result<Arc<dyn Store>, Failure> {
    let store = relaylink_core::store::postgres::Postgres::open(url.checked()?).map_err(|error| {
        match error {
        // It says what to do.
        StoreError::Unusable(why) => Failure::new(why),
        StoreError::Busy(why) => Failure::new(why).hint(
            "See that it runs, and that it can be reached from here at the host and the port that --store or \
             RELAYLINK_STORE names. RELAYLINK_LOG=warn shows what went wrong.",
        ),
        StoreError::Engine(why) => Failure::new(format!("the database cannot be used: {why}"))
            .hint("See the user, the password and the database that --store or RELAYLINK_STORE names."),
        error => error.into(),
    }
    })?;
    Ok(Arc::new(store))
}

/// Says that this program knows no database.
#[cfg(not(feature = "postgres"))]
pub(crate) fn in_database(url: &StoreUrl) -> Result<Arc<dyn Store>, Failure> {
    url.checked()?;
    Err(Failure::usage("this program was built without PostgreSQL")
        .hint("Build it with its feature postgres, or leave out --store and RELAYLINK_STORE."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_of_a_database_is_refused_without_a_part_of_it() {
        for wrong in [
            "hunter2",
            "relaylink.db",
            "https://ana:hunter2@db/relay",
            "postgres://ana:a@b?hunter2=x@db/relay",
        ] {
            let told = format!("{:?}", StoreUrl(wrong.to_owned()).checked().err());
            assert!(told.contains("postgres://USER:PASSWORD@HOST:PORT/DATABASE"), "{told}");
            assert!(!told.contains("hunter2") && !told.contains("relaylink.db"), "{told}");
        }
        for right in ["postgres://ana:p%40ss@db:5432/relay", "postgresql:///relay?host=/run/postgresql"] {
            assert!(StoreUrl(right.to_owned()).checked().is_ok_and(|url| url == right));
        }
    }
}

//! The store that several processes have open.

use std::sync::Arc;

use relaylink_core::store::{Store, postgres::Postgres, sqlite::Sqlite};
use serde_json::Value as Json;

use crate::{database::server, place::Place};

pub(super) struct Ground(Place);

impl Ground {
    pub(super) fn file() -> Self {
        Self(Place::folder())
    }

    /// In PostgreSQL, where there is one.
    pub(super) fn database() -> Option<Self> {
        server().map(|_| Self(Place::database()))
    }

    pub(super) fn engine(&self) -> &'static str {
        match self.0 {
            Place::File(_) => "SQLite",
            Place::Database(_) => "PostgreSQL",
        }
    }

    /// What another process opens it by.
    pub(super) fn address(&self) -> String {
        match &self.0 {
            Place::File(_) => self.0.file().to_str().unwrap().to_owned(),
            Place::Database(database) => database.url(),
        }
    }

    /// The rows of a query with two columns of text, named `key` and `value`.
    pub(super) fn pairs(&self, query: &str) -> Vec<[String; 2]> {
        let text = |value: &Json| value.as_str().unwrap().to_owned();
        self.0.select(query).iter().map(|row| ["key", "value"].map(|name| text(&row[name]))).collect()
    }
}

/// A store over it, as each process has its own.
pub(super) fn open(address: &str) -> Arc<dyn Store> {
    if address.starts_with("postgres") {
        Arc::new(Postgres::open(address).unwrap())
    } else {
        Arc::new(Sqlite::open(address).unwrap())
    }
}

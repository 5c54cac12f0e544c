//! The engine refuses what a tool's effects do not cover, whatever the tool's code says.

mod attempts;
mod forged;
mod searchable;
mod within;

use std::sync::Arc;

use relaylink_core::{
    prelude::*,
    relay::Relay,
    store::{
        migrations::Migration,
        sqlite::{Options, Sqlite},
    },
    tool::audit::State,
};
use tempfile::TempDir;

use crate::{place::file, rows};

static TABLES: [Migration; 1] = [Migration::new(
    1,
    "engine",
    "CREATE TABLE engine_rows (id TEXT PRIMARY KEY, n BIGINT NOT NULL UNIQUE);
     CREATE TABLE engine_data (id TEXT PRIMARY KEY);
     CREATE VIRTUAL TABLE engine_terms USING fts5 (terms, tokenize = \"ascii tokenchars '~'\");
     CREATE VIRTUAL TABLE \"engine \"\"words\"\"\" USING fts5 (words, content = '');
     INSERT INTO engine_rows (id, n) VALUES ('a', 1), ('b', 2);
     INSERT INTO engine_data (id) VALUES ('a');
     INSERT INTO engine_terms (rowid, terms) VALUES (1, '1~a 1~b');
     INSERT INTO \"engine \"\"words\"\"\" (rowid, words) VALUES (1, 'a b');",
)];

#[derive(Serialize, JsonSchema)]
struct Done {}

fn open(folder: &TempDir) -> Relay {
    let store =
        Sqlite::open_with(file(folder.path()), Options::default().inline(1).migrations("engine", &TABLES))
            .unwrap();
    Relay::new(Arc::new(store)).unwrap()
}

/// Every row of every table, the index's and the schema among them, read from outside.
fn dump(folder: &TempDir) -> State {
    rows::of_everything(&rows::read(&file(folder.path())))
}

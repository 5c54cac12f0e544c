//! The suite itself is compiled without the embedded engine.
use relaylink_core::store::sqlite::Sqlite;

fn main() {}

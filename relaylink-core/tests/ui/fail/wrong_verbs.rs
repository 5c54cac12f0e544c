//! Every statement type with the verbs of the others.
use relaylink_core::prelude::*;

pub const SELECT_INSERTS: Select = Select::new("INSERT INTO t (a) VALUES (?1)");
pub const SELECT_UPDATES: Select = Select::new("UPDATE t SET a = ?1");
pub const SELECT_DELETES: Select = Select::new("DELETE FROM t WHERE a = ?1");
pub const SELECT_REPLACES: Select = Select::new("REPLACE INTO t (a) VALUES (?1)");
pub const SELECT_WITH_DELETE: Select =
    Select::new("WITH gone AS (DELETE FROM t RETURNING a) SELECT a FROM gone");
pub const SELECT_BEHIND_WITH: Select = Select::new("WITH x AS (SELECT 1) DELETE FROM t");
pub const SELECT_PRAGMA: Select = Select::new("PRAGMA user_version");

pub const WRITE_SELECTS: Write = Write::new("SELECT a FROM t");
pub const WRITE_DELETES: Write = Write::new("DELETE FROM t WHERE a = ?1");
pub const WRITE_REPLACES: Write = Write::new("REPLACE INTO t (a) VALUES (?1)");
pub const WRITE_INSERT_OR_REPLACE: Write = Write::new("INSERT OR REPLACE INTO t (a) VALUES (?1)");
pub const WRITE_UPDATE_OR_REPLACE: Write = Write::new("UPDATE OR REPLACE t SET a = ?1");
pub const WRITE_WITH_DELETE: Write =
    Write::new("WITH gone AS (DELETE FROM t RETURNING a) INSERT INTO u (a) SELECT a FROM gone");
pub const WRITE_MAILS: Write = Write::new("INSERT INTO outbox (id) VALUES (?1)");
pub const WRITE_MAILS_QUOTED: Write = Write::new("INSERT INTO \"OutBox\" (id) VALUES (?1)");
pub const WRITE_DROPS: Write = Write::new("DROP TABLE t");

pub const REMOVE_SELECTS: Remove = Remove::new("SELECT a FROM t");
pub const REMOVE_INSERTS: Remove = Remove::new("INSERT INTO t (a) VALUES (?1)");
pub const REMOVE_UPDATES: Remove = Remove::new("UPDATE t SET a = ?1");
pub const REMOVE_REPLACES: Remove = Remove::new("REPLACE INTO t (a) VALUES (?1)");
pub const REMOVE_WITH_UPDATE: Remove =
    Remove::new("WITH x AS (UPDATE t SET a = 1 RETURNING a) DELETE FROM u");
pub const REMOVE_MAILS: Remove = Remove::new("DELETE FROM outbox");

pub const TWO: Select = Select::new("SELECT 1; DELETE FROM t");
pub const COMMENT: Select = Select::new("SELECT 1 -- one");
pub const EMPTY: Select = Select::new(" ");
pub const SECOND_TEXT: Select = Select::new("SELECT 1").on_postgres("DELETE FROM t");

fn main() {}

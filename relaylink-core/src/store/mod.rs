//! Where rows are kept: a small trait that an embedder can put anything under.

mod access;
mod error;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod job;
#[cfg(all(test, feature = "sqlite"))]
pub(crate) mod plan;
mod statement;
mod transact;
mod value;
mod verify;

pub mod behaviour;
pub mod migrations;
#[doc = include_str!("../../STORAGE.md")]
pub mod operating {}
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub mod upkeep;

use std::sync::Arc;

use async_trait::async_trait;

pub use access::Access;
pub use error::StoreError;
pub use statement::{Dialect, Remove, Select, Statement, Write};
pub(crate) use statement::{OutboxRead, OutboxWrite};
pub(crate) use transact::transact;
pub(crate) use value::one;
pub use value::{FromValue, Row, Value};

/// Whether a work's transaction is to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Keep what it did.
    Commit,
    /// Undo what it did.
    Rollback,
}

/// What a transaction is asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// What it may do; the engine enforces it.
    pub access: Access,
    /// Whose data it is about. A store may spread its work by it: one over PostgreSQL can have an
    /// account's writes wait for each other instead of meeting; SQLite, which has one writer, does
    /// not look.
    pub account: Arc<str>,
}

impl Request {
    /// A request for this access to this account's data.
    pub fn new(access: Access, account: impl Into<Arc<str>>) -> Self {
        Self { access, account: account.into() }
    }
}

/// What is done in a transaction. It may be run again, from the start, on a fresh transaction:
/// it has no effect but through its session and what it overwrites at each run.
pub type Work = Box<dyn FnMut(&mut dyn Session) -> Verdict + Send>;

/// A store of rows with serializable transactions.
///
/// What an implementation promises, and `store::behaviour` tests:
/// - a work's statements all land or none does; [`Verdict::Rollback`] leaves nothing;
/// - concurrent works give a result that some order of them gives too;
/// - the first error of a session poisons it: every later call on it returns that error again,
///   and the transaction is rolled back whatever the verdict;
/// - a statement beyond [`Request::access`] is refused with [`StoreError::Denied`], whoever prepared it before;
/// - the answer is given after the commit is durable; a panic in the work is a rollback and
///   [`StoreError::Panicked`], and the store goes on;
/// - a caller that is gone (the future dropped) leaves all of its work or nothing.
#[async_trait]
pub trait Store: Send + Sync {
    /// Runs `work` in one transaction and says how it ended.
    async fn transact(&self, request: Request, work: Work) -> Result<Verdict, StoreError>;
}

/// One open transaction.
pub trait Session {
    /// Runs a statement and counts the rows it changed.
    fn execute(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, StoreError>;

    /// Runs a statement and collects the rows it answers.
    fn query(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, StoreError>;

    /// Holds what follows to `access` and tells what held before. Within a tool another one is run
    /// under its own access, and what held before is given back after it.
    fn restrict(&mut self, access: Access) -> Result<Access, StoreError>;
}

//! What rooms know of their tables that no catalog tells.

use crate::store::{OutboxRead, Row, Select, Statement, StoreError, Write};

/// What to do about rows that only damage can explain.
pub(super) const DAMAGED: &str = "Something other than RelayLink wrote to the store, or its disk failed: keep a \
    copy of it as it is, and restore a backup.";

/// What rooms know of their tables that no catalog tells. [`Rooms::relay`] has `RelayLink`'s own; add what
/// your tables need.
#[derive(Clone, Debug, Default)]
pub struct Rooms {
    pub(super) derived: Vec<Derived>,
    pub(super) questions: Vec<Question>,
}

/// A number, and its terms apart by spaces.
type Make = fn(Row) -> Result<(i64, String), StoreError>;

/// An index of text: a table made from the rows of another one, so that it is made again and not copied.
/// On `SQLite` it is an FTS5 table; on `PostgreSQL` a table of a number, its key, and a `tsvector`.
#[derive(Clone, Copy, Debug)]
pub struct Derived {
    pub(super) table: &'static str,
    pub(super) of: &'static str,
    pub(super) rows: &'static Statement,
    pub(super) make: Make,
    pub(super) insert: &'static Statement,
    pub(super) last: &'static Statement,
}

impl Derived {
    /// The index `table`, made from the rows of `of`. `rows` answers what an entry is made from, in the
    /// order of its number, for the numbers above ?1, at most ?2 of them; `make` makes the number and its
    /// terms of that; `insert` puts in the terms ?2 of the number ?1; `last` answers the largest number.
    pub const fn new(
        table: &'static str,
        of: &'static str,
        rows: &'static Select,
        make: Make,
        insert: &'static Write,
        last: &'static Select,
    ) -> Self {
        Self { table, of, rows: rows.statement(), make, insert: insert.statement(), last: last.statement() }
    }
}

/// How bad it is that a [`Question`] is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// It is damage.
    Fault,
    /// It is for a person to know.
    Note,
}

/// A statement that answers the rows with which something is wrong, each by one text.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    pub(super) about: &'static str,
    pub(super) says: &'static str,
    pub(super) advice: &'static str,
    pub(super) weight: Weight,
    pub(super) statement: &'static Statement,
    /// ?1 is the moment so many milliseconds ago.
    pub(super) ago: Option<i64>,
}

impl Question {
    /// What is wrong with the rows of `about` that the statement answers, as `drafts of no account`: damage,
    /// unless another advice is given.
    pub const fn new(about: &'static str, says: &'static str, statement: &'static Select) -> Self {
        Self::of(about, says, statement.statement())
    }

    /// The mail room's, of its own table.
    pub(crate) const fn of_mail(says: &'static str, statement: &'static OutboxRead) -> Self {
        Self::of("outbox", says, statement.statement())
    }

    const fn of(about: &'static str, says: &'static str, statement: &'static Statement) -> Self {
        Self { about, says, advice: DAMAGED, weight: Weight::Fault, statement, ago: None }
    }

    /// What to do about it.
    #[must_use]
    pub const fn advice(mut self, advice: &'static str) -> Self {
        self.advice = advice;
        self
    }

    /// It is for a person to know, and no damage.
    #[must_use]
    pub const fn note(mut self) -> Self {
        self.weight = Weight::Note;
        self
    }

    /// Asks with ?1 as the moment so many milliseconds ago.
    #[must_use]
    pub(crate) const fn since(mut self, ago: i64) -> Self {
        self.ago = Some(ago);
        self
    }
}

impl Rooms {
    /// Adds an index of text.
    #[must_use]
    pub fn derived(mut self, derived: Derived) -> Self {
        self.derived.push(derived);
        self
    }

    /// Adds a question that [`check`](super::check) asks.
    #[must_use]
    pub fn question(mut self, question: Question) -> Self {
        self.questions.push(question);
        self
    }
}

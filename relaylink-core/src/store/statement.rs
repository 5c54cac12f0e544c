use super::verify::{self, Kind};

/// The language of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// SQLite 3.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

/// One SQL statement with `?1`, `?2` … as its parameters, in the subset that all engines share;
/// a second text only where it must be. Made by [`Select`], [`Write`] and [`Remove`], as a const.
#[derive(Debug)]
pub struct Statement {
    text: &'static str,
    postgres: Option<&'static str>,
}

impl Statement {
    /// A statement of the core's own that is of another kind on each engine.
    pub(crate) const fn of_each(sqlite: &'static str, postgres: &'static str) -> Self {
        Self { text: sqlite, postgres: Some(postgres) }
    }

    /// A statement nobody checked: for tests of the engine's own refusals.
    #[cfg(feature = "unchecked")]
    pub const fn unchecked(text: &'static str) -> Self {
        Self { text, postgres: None }
    }

    /// Its text in this dialect, with `?N` parameters.
    pub const fn text(&self, dialect: Dialect) -> &'static str {
        match (dialect, self.postgres) {
            (Dialect::Postgres, Some(text)) => text,
            _ => self.text,
        }
    }
}

macro_rules! statement_types {
    ($($(#[$docs:meta])* $vis:vis $name:ident: $kind:ident;)*) => {$(
        $(#[$docs])*
        #[derive(Debug)]
        $vis struct $name(Statement);

        impl $name {
            /// Checks the text; in a const, a wrong one does not compile.
            ///
            /// # Panics
            /// On a text of another verb, with a REPLACE clause, a CTE that changes data, a second
            /// statement, a comment, or a table that belongs to the mail room.
            #[track_caller]
            $vis const fn new(text: &'static str) -> Self {
                verify::check(text, Kind::$kind);
                Self(Statement { text, postgres: None })
            }

            /// The text for PostgreSQL, where one text cannot serve both.
            #[allow(dead_code, reason = "not every type has a statement that needs it")]
            #[must_use]
            #[track_caller]
            $vis const fn on_postgres(mut self, text: &'static str) -> Self {
                verify::check(text, Kind::$kind);
                self.0.postgres = Some(text);
                self
            }

            /// The statement as a session takes it.
            $vis const fn statement(&self) -> &Statement {
                &self.0
            }
        }
    )*};
}

statement_types! {
    /// Reads rows.
    pub Select: Select;
    /// Inserts or updates rows; never replaces one.
    pub Write: Write;
    /// Deletes rows.
    pub Remove: Remove;
    /// Reads the outbox. The mail room's own.
    #[allow(dead_code, reason = "the postgres text comes with that engine")]
    pub(crate) OutboxRead: OutboxRead;
    /// Puts rows in the outbox and keeps their state. The mail room's own.
    #[allow(dead_code, reason = "the postgres text comes with that engine")]
    pub(crate) OutboxWrite: OutboxWrite;
}

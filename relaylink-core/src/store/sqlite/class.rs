//! What a statement does, noted while it is prepared.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering::Relaxed},
    },
};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use crate::store::{Access, StoreError, upkeep::MARKER, verify::is_mail};

/// What a statement does, or what a transaction may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(u8);

impl Class {
    pub(super) const READS: Self = Self(0);
    const WRITES: Self = Self(1);
    pub(super) const REMOVES: Self = Self(2);
    const MAILS: Self = Self(4);
    /// No transaction may: the schema, other files, settings, the transaction itself, REPLACE.
    pub(super) const REFUSED: Self = Self(8);

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn of(access: Access) -> Self {
        let mut class = Self::READS;
        if access.writes {
            class = class.and(Self::WRITES);
        }
        if access.removes {
            class = class.and(Self::REMOVES);
        }
        if access.mails {
            class = class.and(Self::MAILS);
        }
        class
    }

    /// Whether it changes rows.
    pub(super) const fn changes(self) -> bool {
        self.0 & !Self::REFUSED.0 != 0
    }

    /// An error unless all of it is within what may be done.
    pub(super) const fn within(self, allowed: Self) -> Result<(), StoreError> {
        let beyond = Self(self.0 & !allowed.0);
        if beyond.0 == 0 {
            return Ok(());
        }
        Err(StoreError::Denied(if beyond.0 & Self::REFUSED.0 != 0 {
            "does what no transaction may"
        } else if beyond.0 & Self::MAILS.0 != 0 {
            "changes the outbox"
        } else if beyond.0 & Self::REMOVES.0 != 0 {
            "deletes rows"
        } else {
            "inserts or updates rows"
        }))
    }
}

/// The notes of one connection. Its authorizer denies nothing: one that did would be asked only
/// when a statement is prepared, and not when the cached statement runs again for somebody else;
/// and it would break the full-text index, whose own deletes are prepared while a plain INSERT runs.
#[derive(Debug, Default)]
pub(super) struct Notes {
    noted: AtomicU8,
    /// A caller's statement is being prepared; otherwise one runs, and what is prepared is the engine's own.
    preparing: AtomicBool,
    /// The tables of the schema's full-text indexes, which are the engine's own.
    shadows: HashSet<String>,
}

impl Notes {
    pub(super) fn new(shadows: HashSet<String>) -> Arc<Self> {
        Arc::new(Self { shadows, ..Self::default() })
    }

    /// Notes what `prepare` does.
    pub(super) fn during<R>(&self, prepare: impl FnOnce() -> R) -> (R, Class) {
        self.preparing.store(true, Relaxed);
        self.noted.store(0, Relaxed);
        let result = prepare();
        self.preparing.store(false, Relaxed);
        (result, self.take())
    }

    /// What was noted since it was last asked.
    pub(super) fn take(&self) -> Class {
        Class(self.noted.swap(0, Relaxed))
    }

    pub(super) fn authorize(&self, context: AuthContext<'_>) -> Authorization {
        let class = self.classify(context.action);
        if class != Class::READS {
            self.noted.fetch_or(class.0, Relaxed);
        }
        Authorization::Allow
    }

    fn classify(&self, action: AuthAction<'_>) -> Class {
        match action {
            AuthAction::Insert { table_name } | AuthAction::Update { table_name, .. } => {
                self.change(table_name, Class::WRITES)
            }
            AuthAction::Delete { table_name } => self.change(table_name, Class::REMOVES),
            AuthAction::Function { function_name }
                if function_name.eq_ignore_ascii_case("load_extension") =>
            {
                Class::REFUSED
            }
            AuthAction::Read { .. }
            | AuthAction::Select
            | AuthAction::Recursive
            | AuthAction::Function { .. } => Class::READS,
            // The full-text index asks whether another connection has changed the file.
            AuthAction::Pragma { pragma_name: "data_version", .. } if !self.preparing.load(Relaxed) => {
                Class::READS
            }
            _ => Class::REFUSED,
        }
    }

    fn change(&self, table: &str, verb: Class) -> Class {
        if is_mail(table) {
            return if verb == Class::REMOVES { Class::MAILS.and(Class::REMOVES) } else { Class::MAILS };
        }
        // What the store keeps of itself is changed by itself alone, and not through a session.
        if ["migrations", MARKER].iter().any(|own| own.eq_ignore_ascii_case(table)) {
            return Class::REFUSED;
        }
        if self.shadows.contains(table) {
            // Named in a caller's own statement it is no business of theirs.
            return if self.preparing.load(Relaxed) { Class::REFUSED } else { Class::READS };
        }
        verb
    }
}

/// Whether the text is an INSERT that may be a command to a full-text index: one that names the
/// table among its own columns. Some of those empty the index.
pub(super) fn commands(text: &str, index: &str) -> bool {
    let (mut inserts, mut named) = (false, 0);
    for token in tokens(text) {
        match token {
            Token::Word(word) if word.eq_ignore_ascii_case(index) => named += 1,
            Token::Quoted(word) if word.eq_ignore_ascii_case(index) => named += 1,
            Token::Word(word) => inserts |= word.eq_ignore_ascii_case("insert"),
            _ => {}
        }
    }
    inserts && named > 1
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token<'t> {
    Word(&'t str),
    /// A name or a text in quotes of any kind, without them.
    Quoted(String),
    Other,
}

/// The parts of an SQL text, blanks and comments left out.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_ascii_start();
            rest = if let Some(comment) = rest.strip_prefix("--") {
                comment.split_once('\n').map_or("", |(_, after)| after)
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment.split_once("*/").map_or("", |(_, after)| after)
            } else {
                break;
            };
        }
        let first = *rest.as_bytes().first()?;
        let (token, after) = if let b'\'' | b'"' | b'`' | b'[' = first {
            let close = if first == b'[' { ']' } else { char::from(first) };
            let (inner, after) = quoted(&rest[1..], close);
            (Token::Quoted(inner), after)
        } else {
            let end = rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
            if end == 0 { (Token::Other, &rest[1..]) } else { (Token::Word(&rest[..end]), &rest[end..]) }
        };
        rest = after;
        Some(token)
    })
}

/// What stands up to the quote that closes, and what comes behind. A doubled quote stands for one; a `]` is
/// never doubled.
fn quoted(text: &str, close: char) -> (String, &str) {
    let doubled = format!("{close}{close}");
    let mut end = 0;
    while let Some(found) = text[end..].find(close) {
        end += found;
        if close == ']' || !text[end..].starts_with(&doubled) {
            return (text[..end].replace(&doubled, &doubled[1..]), &text[end + 1..]);
        }
        end += 2;
    }
    (text.to_owned(), "")
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn a_command_to_an_index_is_seen_however_it_is_written() {
        for text in [
            "INSERT INTO terms (terms) VALUES ('delete-all')",
            "insert into Terms(\"TERMS\", rowid, t) values ('delete', 1, 'x')",
            "INSERT INTO [terms](`terms`) VALUES ('rebuild')",
            "INSERT INTO 'terms'('terms') VALUES ('optimize')",
        ] {
            assert!(commands(text, "terms"), "{text}");
        }
        for text in [
            "INSERT INTO \"a\"\"'b\" (\"a\"\"'b\") VALUES ('delete-all')",
            "INSERT INTO 'a\"''b' ('A\"''B') VALUES ('delete-all')",
            "INSERT INTO [a\"'b] (`a\"'b`) VALUES ('delete-all')",
        ] {
            assert!(commands(text, "a\"'b"), "{text}");
        }
        for text in [
            "INSERT INTO terms (rowid, t) VALUES (?1, ?2)",
            "SELECT rowid FROM terms WHERE terms MATCH ?1",
            "DELETE FROM terms WHERE terms MATCH ?1",
        ] {
            assert!(!commands(text, "terms"), "{text}");
        }
    }
}

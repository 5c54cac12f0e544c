//! The check of a statement's text, at compile time: a scan of its words.

/// What a statement type takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Select,
    Write,
    Remove,
    OutboxRead,
    OutboxWrite,
}

/// What the scan found.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that was seen")]
struct Found {
    words: u32,
    starts_with_select: bool,
    starts_with_write: bool,
    starts_with_remove: bool,
    starts_with_cte: bool,
    top_inserts: bool,
    top_updates: bool,
    top_deletes: bool,
    nested_change: bool,
    replaces: bool,
    outbox: bool,
    /// What no statement may have, in words; what is behind it has not been read.
    fault: Option<&'static str>,
}

/// Panics unless the text is one statement of this kind; the compiler shows the panic where the
/// statement is made.
#[track_caller]
pub(super) const fn check(text: &str, kind: Kind) {
    let found = scan(text.as_bytes());
    if let Some(fault) = found.fault {
        panic!("{}", fault);
    }
    assert!(found.words > 0, "the statement is empty");
    assert!(
        !found.replaces,
        "REPLACE removes the row that was there without a word: use ON CONFLICT DO UPDATE, or a `Remove` and a `Write`"
    );
    assert!(!found.nested_change, "a part of this statement changes data: give it a statement of its own");
    let deletes = found.starts_with_remove || (found.starts_with_cte && found.top_deletes);
    let writes =
        found.starts_with_write || (found.starts_with_cte && (found.top_inserts || found.top_updates));
    match kind {
        Kind::Select | Kind::OutboxRead => {
            assert!(
                !deletes,
                "a `Select` reads, and this statement deletes: use `Remove`, and the effect `Removes`"
            );
            assert!(
                !writes,
                "a `Select` reads, and this statement writes: use `Write`, and the effect `Writes`"
            );
            assert!(
                found.starts_with_select || found.starts_with_cte,
                "a `Select` starts with SELECT, VALUES or WITH"
            );
        }
        Kind::Write | Kind::OutboxWrite => {
            assert!(
                !deletes,
                "a `Write` inserts or updates, and this statement deletes: use `Remove`, and the effect `Removes`"
            );
            assert!(writes, "a `Write` starts with INSERT or UPDATE");
        }
        Kind::Remove => {
            assert!(
                !writes,
                "a `Remove` deletes, and this statement writes: use `Write`, and the effect `Writes`"
            );
            assert!(deletes, "a `Remove` starts with DELETE");
        }
    }
    let mail = matches!(kind, Kind::OutboxRead | Kind::OutboxWrite);
    assert!(
        mail || !found.outbox,
        "the outbox belongs to the mail room: queue mail with `Tx::mail`, and the effect `ExternalMail`"
    );
}

/// Whether an engine takes the text at run time, whoever made it: one statement that reads or changes
/// rows, with no REPLACE clause and nothing behind which one could hide.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) const fn is_plain(text: &str) -> bool {
    let found = scan(text.as_bytes());
    let verb = found.starts_with_select
        || found.starts_with_write
        || found.starts_with_remove
        || found.starts_with_cte;
    found.fault.is_none() && verb && !found.replaces
}

/// Whether a table of this name is the mail room's.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) const fn is_mail(table: &str) -> bool {
    is_outbox(table.as_bytes(), 0)
}

const fn is_outbox(text: &[u8], at: usize) -> bool {
    starts_with(text, at, b"outbox")
}

const fn scan(text: &[u8]) -> Found {
    let mut found = Found {
        words: 0,
        starts_with_select: false,
        starts_with_write: false,
        starts_with_remove: false,
        starts_with_cte: false,
        top_inserts: false,
        top_updates: false,
        top_deletes: false,
        nested_change: false,
        replaces: false,
        outbox: false,
        fault: None,
    };
    if has_backslash(text) {
        found.fault = Some("no backslash in a statement: give such a text as a parameter");
    }
    let mut depth = 0_u32;
    let mut at = 0;
    let mut after_do = false;
    while at < text.len() && found.fault.is_none() {
        let byte = text[at];
        match byte {
            b'\'' | b'"' | b'`' | b'[' => {
                let end = after_quote(text, at, if byte == b'[' { b']' } else { byte });
                if end > text.len() {
                    found.fault = Some("a quote that does not close");
                }
                // SQLite takes a text in single quotes for a name, where a name is due.
                found.outbox |= is_outbox(text, at + 1);
                found.words += 1;
                after_do = false;
                at = end;
            }
            b'(' => {
                depth += 1;
                at += 1;
            }
            b')' if depth == 0 => found.fault = Some("a `)` without its `(`"),
            b')' => {
                depth -= 1;
                at += 1;
            }
            b'&' if at + 1 < text.len() && text[at + 1] == b'"' => {
                found.fault = Some("a name is written as it is, and not by the codes of its characters");
            }
            b';' => found.fault = Some("one statement at a time, and no `;`"),
            b'-' if at + 1 < text.len() && text[at + 1] == b'-' => found.fault = Some(COMMENT),
            b'/' if at + 1 < text.len() && text[at + 1] == b'*' => found.fault = Some(COMMENT),
            _ if begins_parameter(text, at) => found.fault = Some("parameters are written `?1`, `?2` …"),
            // Of PostgreSQL's cast no part begins a parameter.
            b':' if at + 1 < text.len() && text[at + 1] == b':' => at += 2,
            0 => found.fault = Some("a NUL in a statement"),
            _ if is_word(byte) => {
                let end = after_word(text, at);
                let first = found.words == 0;
                let inserts = is(text, at, end, b"insert");
                let updates = is(text, at, end, b"update");
                let deletes = is(text, at, end, b"delete");
                if first {
                    found.starts_with_select = is(text, at, end, b"select") || is(text, at, end, b"values");
                    found.starts_with_write = inserts || updates;
                    found.starts_with_remove = deletes;
                    found.starts_with_cte = is(text, at, end, b"with");
                } else if (inserts || deletes || (updates && !after_do))
                    && (depth > 0 || !found.starts_with_cte)
                {
                    found.nested_change = true;
                }
                if depth == 0 {
                    found.top_inserts |= inserts;
                    found.top_updates |= updates && !after_do;
                    found.top_deletes |= deletes;
                }
                // `SELECT … INTO` makes a table.
                if is(text, at, end, b"into") && !(found.top_inserts && depth == 0) {
                    found.nested_change = true;
                }
                if is(text, at, end, b"replace") && !calls(text, end) {
                    found.replaces = true;
                }
                found.outbox |= is_outbox(text, at);
                after_do = is(text, at, end, b"do");
                found.words += 1;
                at = end;
            }
            _ => at += 1,
        }
    }
    if depth != 0 && found.fault.is_none() {
        found.fault = Some("a `(` without its `)`");
    }
    found
}

/// Whether a parameter by name begins here, as SQLite reads it: `$a`, `@a`, `:a` or `#a`. Behind the name it
/// takes all up to a `)`, and so swallows a quote.
pub(super) const fn begins_parameter(text: &[u8], at: usize) -> bool {
    if !matches!(text[at], b'$' | b'@' | b':' | b'#') {
        return false;
    }
    let mut next = at + 1;
    while next + 1 < text.len() && text[next] == b':' && text[next + 1] == b':' {
        next += 2;
    }
    text[at] == b'$' || (next < text.len() && (is_word(text[next]) || text[next] == b'$'))
}

/// In some quotes of PostgreSQL's a backslash hides the quote behind it.
const fn has_backslash(text: &[u8]) -> bool {
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\\' {
            return true;
        }
        at += 1;
    }
    false
}

const COMMENT: &str = "no comments in a statement";

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

const fn after_word(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && is_word(text[at]) {
        at += 1;
    }
    at
}

/// The place behind the quoted text that starts at `at`; a doubled quote is a part of it. Beyond the
/// text's end where it does not close.
const fn after_quote(text: &[u8], mut at: usize, close: u8) -> usize {
    at += 1;
    while at < text.len() {
        if text[at] == close {
            if at + 1 < text.len() && text[at + 1] == close {
                at += 2;
                continue;
            }
            return at + 1;
        }
        at += 1;
    }
    text.len() + 1
}

/// Whether what follows is an opening parenthesis: `replace(…)` is a function, `OR REPLACE` is not.
const fn calls(text: &[u8], mut at: usize) -> bool {
    while at < text.len() && text[at].is_ascii_whitespace() {
        at += 1;
    }
    at < text.len() && text[at] == b'('
}

const fn is(text: &[u8], at: usize, end: usize, word: &[u8]) -> bool {
    end - at == word.len() && starts_with(text, at, word)
}

const fn starts_with(text: &[u8], at: usize, word: &[u8]) -> bool {
    let mut i = 0;
    while i < word.len() {
        if at + i >= text.len() || !text[at + i].eq_ignore_ascii_case(&word[i]) {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{Kind, check};

    fn refuses(kind: Kind, text: &'static str) -> bool {
        std::panic::catch_unwind(|| check(text, kind)).is_err()
    }

    #[test]
    fn each_kind_takes_its_own_verb() {
        for (kind, text) in [
            (Kind::Select, "SELECT a FROM t WHERE b = 'DELETE; outbox'"),
            (Kind::Select, "WITH x AS (SELECT 1) SELECT replace(a, 'b', 'c') FROM x"),
            (Kind::Select, "VALUES (1)"),
            (Kind::Select, "SELECT a::TEXT, b @> c, @ d, e #> f FROM t WHERE a = ':x' OR a = '$x'"),
            (Kind::Write, "INSERT INTO t (a) VALUES (?1) ON CONFLICT (a) DO UPDATE SET a = ?1 RETURNING a"),
            (Kind::Write, "update t set a = 1"),
            (Kind::Write, "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x"),
            (Kind::Remove, "DELETE FROM t WHERE a = ?1"),
            (Kind::Remove, "WITH x AS (SELECT 1) DELETE FROM t"),
            (Kind::OutboxRead, "SELECT 1 FROM outbox"),
            (Kind::OutboxWrite, "INSERT INTO outbox (id) VALUES (?1)"),
        ] {
            assert!(!refuses(kind, text), "{text}");
        }
    }

    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    #[test]
    fn at_run_time_only_rows_are_read_and_changed() {
        for text in [
            "SELECT replace(a, 'b', 'c') FROM t",
            "WITH x AS (SELECT 1) DELETE FROM t",
            "INSERT INTO outbox (id) VALUES (?1)",
        ] {
            assert!(super::is_plain(text), "{text}");
        }
        for text in [
            "",
            "COMMIT",
            "SET LOCAL ROLE \"postgres\"",
            "SELECT 1; SELECT 2",
            "SELECT 1 -- x",
            "SELECT 'a",
            "REPLACE INTO t VALUES (1)",
            "UPDATE OR REPLACE t SET a = 1",
            "TRUNCATE t",
        ] {
            assert!(!super::is_plain(text), "{text}");
        }
    }

    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    #[test]
    fn the_outbox_is_known_in_any_case() {
        assert!(super::is_mail("outbox") && super::is_mail("OutBox_x"));
        assert!(!super::is_mail("inbox") && !super::is_mail("out") && !super::is_mail("öutbox"));
    }

    #[test]
    fn each_kind_refuses_the_others() {
        for (kind, text) in [
            (Kind::Select, "DELETE FROM t"),
            (Kind::Select, "INSERT INTO t VALUES (1)"),
            (Kind::Select, "WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x"),
            (Kind::Select, "WITH x AS (SELECT 1) DELETE FROM t"),
            (Kind::Select, "PRAGMA user_version"),
            (Kind::Select, "SELECT 1; DELETE FROM t"),
            (Kind::Select, "SELECT 1 FROM \"outbox\""),
            (Kind::Select, "SELECT 1 FROM 'outbox'"),
            (Kind::Write, "UPDATE 'Outbox' SET state = 'sent'"),
            (Kind::Select, "SELECT a INTO u FROM t"),
            (Kind::Select, "SELECT 1 FROM U&\"\\006futbox\""),
            (Kind::Select, "SELECT E'\\' FROM outbox, \\''"),
            (Kind::Select, "SELECT $a('), '; outbox', $a(')"),
            (Kind::Select, "SELECT :a(') FROM outbox WHERE :a(')"),
            (Kind::Select, "SELECT @::a(') FROM outbox WHERE @::a(')"),
            (Kind::Select, "SELECT :::a(') FROM outbox WHERE :::a(')"),
            (Kind::Write, "UPDATE t SET a = #a('); DELETE FROM t WHERE a = #a(')"),
            (Kind::Select, "SELECT 1 -- x"),
            (Kind::Select, "SELECT 1 /* x */"),
            (Kind::Select, ""),
            (Kind::Write, "DELETE FROM t"),
            (Kind::Write, "REPLACE INTO t VALUES (1)"),
            (Kind::Write, "INSERT OR REPLACE INTO t VALUES (1)"),
            (Kind::Write, "UPDATE OR REPLACE t SET a = 1"),
            (Kind::Write, "WITH x AS (DELETE FROM t RETURNING a) INSERT INTO u SELECT * FROM x"),
            (Kind::Write, "INSERT INTO outbox (id) VALUES (1)"),
            (Kind::Write, "INSERT INTO [OutBox] (id) VALUES (1)"),
            (Kind::Write, "ATTACH 'x' AS y"),
            (Kind::Write, "DROP TABLE t"),
            (Kind::Remove, "UPDATE t SET a = 1"),
            (Kind::Remove, "SELECT 1"),
            (Kind::Remove, "DELETE FROM outbox"),
            (Kind::Remove, "WITH x AS (UPDATE t SET a = 1 RETURNING a) DELETE FROM t"),
            (Kind::OutboxWrite, "DELETE FROM outbox"),
        ] {
            assert!(refuses(kind, text), "{text}");
        }
    }
}

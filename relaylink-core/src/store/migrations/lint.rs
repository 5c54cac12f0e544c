//! What a migration may not have: found by its words, quoted text and comments left out.

use crate::store::{Dialect, verify::begins_parameter};

/// The words of an SQL text, in lower case, as the engine of this dialect reads it: where the two differ in
/// what ends a quote or a comment, a word could hide from the one in what the other leaves out. A quoted name
/// counts as a word with its quotes off and a `"` before it, so that it equals no keyword.
fn words(text: &str, dialect: Dialect) -> Result<Vec<String>, String> {
    let postgres = dialect == Dialect::Postgres;
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (word, length) = match first {
            '\'' | '"' | '`' => quoted(rest, first, false),
            '[' if !postgres => quoted(rest, ']', false),
            'e' | 'E' if postgres && rest[1..].starts_with('\'') => {
                let (word, length) = quoted(&rest[1..], '\'', true);
                (word, 1 + length)
            }
            '-' if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (None, comment(rest, postgres)),
            '$' if postgres => match dollars(rest) {
                Some(length) => (Some("\"".to_owned()), length),
                None => return Err(parameter(first)),
            },
            '?' | '$' | '@' | ':' | '#'
                if !postgres && (first == '?' || begins_parameter(rest.as_bytes(), 0)) =>
            {
                return Err(parameter(first));
            }
            ';' | '(' => (Some(first.to_string()), 1),
            _ if is_word(first) => {
                // Behind a number a `$` begins something else.
                let more = |c| is_word(c) || (c == '$' && !first.is_numeric());
                let length = rest.find(|c| !more(c)).unwrap_or(rest.len());
                (Some(rest[..length].to_lowercase()), length)
            }
            _ => (None, first.len_utf8()),
        };
        words.extend(word);
        rest = &rest[length..];
    }
    Ok(words)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn parameter(sign: char) -> String {
    format!("a parameter (`{sign}` outside a quoted text)")
}

/// What stands in the quotes that a text begins with, and how long it is with them. A doubled quote is a part
/// of it; a `]` is never doubled.
fn quoted(text: &str, close: char, escapes: bool) -> (Option<String>, usize) {
    let mut word = String::from('"');
    let mut rest = text.char_indices().skip(1).peekable();
    while let Some((at, inner)) = rest.next() {
        if inner == close && (close == ']' || rest.next_if(|&(_, next)| next == close).is_none()) {
            return (Some(word), at + 1);
        }
        word.push(inner);
        if escapes && inner == '\\' {
            word.extend(rest.next().map(|(_, escaped)| escaped));
        }
    }
    (Some(word), text.len())
}

/// How long the comment is that a text begins with. PostgreSQL's hold comments.
fn comment(text: &str, nested: bool) -> usize {
    let (mut depth, mut at) = (1, 2);
    while depth > 0 && at < text.len() {
        let rest = &text.as_bytes()[at..];
        let sign = if rest.starts_with(b"*/") {
            depth -= 1;
            true
        } else {
            let opens = nested && rest.starts_with(b"/*");
            depth += usize::from(opens);
            opens
        };
        at += if sign { 2 } else { 1 };
    }
    at.min(text.len())
}

/// How long the text in dollar quotes is that a text begins with, if it does: `$$…$$` or `$tag$…$tag$`.
fn dollars(text: &str) -> Option<usize> {
    let tag = &text[..text[1..].find('$')? + 2];
    let name = &tag[1..tag.len() - 1];
    let is_tag = !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_word);
    if is_tag { Some(tag.len() + text[tag.len()..].find(tag)? + tag.len()) } else { None }
}

/// The first rule the text breaks.
pub(super) fn fault(text: &str, dialect: Dialect) -> Option<String> {
    let words = match words(text, dialect) {
        Ok(words) => words,
        Err(fault) => return Some(fault),
    };
    let is = |at: usize, word: &str| words.get(at).is_some_and(|w| w == word);
    let mut first = true;
    let mut conflict_target = false;
    for (at, word) in words.iter().map(String::as_str).enumerate() {
        if word == ";" {
            first = true;
            continue;
        }
        if std::mem::take(&mut first) {
            if !matches!(word, "create" | "alter" | "insert" | "update") {
                return Some(format!("a statement that starts with `{word}`"));
            }
            conflict_target = word == "insert";
        }
        let found = match word {
            "trigger" => "a trigger",
            "replace" if !is(at + 1, "(") => "REPLACE",
            "on" if is(at + 1, "delete") || is(at + 1, "update") => "an ON DELETE or ON UPDATE action",
            "on" if is(at + 1, "conflict") && !conflict_target => "an ON CONFLICT clause of a table",
            "deferrable" | "deferred" => "a deferred key",
            "strict" => "STRICT",
            "drop" => "DROP",
            "temp" | "temporary" => "a temporary table",
            _ => continue,
        };
        return Some(found.to_owned());
    }
    None
}

/// The tables that the text makes.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) fn tables(text: &str, dialect: Dialect) -> Vec<String> {
    let words = words(text, dialect).unwrap_or_default();
    let made = words.windows(3).filter(|words| words[0] == "create" && words[1] == "table");
    made.map(|words| words[2].trim_start_matches('"').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Dialect, fault, tables};

    #[test]
    fn each_rule_is_seen_and_quoted_text_is_not() {
        for (text, expected) in [
            ("CREATE TABLE t (a TEXT); CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END", "trigger"),
            ("CREATE TABLE t (a TEXT UNIQUE ON CONFLICT REPLACE)", "ON CONFLICT"),
            ("CREATE TABLE t (a TEXT UNIQUE ON /* x */ conflict IGNORE)", "ON CONFLICT"),
            ("INSERT OR REPLACE INTO t VALUES (1)", "REPLACE"),
            ("CREATE TABLE t (a TEXT REFERENCES u (a) ON DELETE CASCADE)", "ON DELETE"),
            ("CREATE TABLE t (a TEXT REFERENCES u (a) DEFERRABLE INITIALLY DEFERRED)", "deferred"),
            ("CREATE TABLE t (a TEXT) STRICT", "STRICT"),
            ("PRAGMA user_version = 3", "pragma"),
            ("CREATE TABLE t (a TEXT); -- x\nCOMMIT", "commit"),
            ("DELETE FROM t", "delete"),
            ("ALTER TABLE t DROP COLUMN a", "DROP"),
        ] {
            for dialect in [Dialect::Sqlite, Dialect::Postgres] {
                let found = fault(text, dialect).unwrap_or_else(|| panic!("{text}"));
                assert!(found.contains(expected), "{text}: {found}");
            }
        }
        for text in [
            "CREATE TABLE \"trigger\" (a TEXT DEFAULT 'ON DELETE', b TEXT CHECK (replace (b, 'x', '') <> ''));",
            "-- a trigger, said in passing\nCREATE INDEX i ON t (a) WHERE b IS NULL;\n",
            "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO NOTHING; UPDATE t SET a = 1",
            "CREATE VIRTUAL TABLE f USING fts5 (a, tokenize = \"ascii tokenchars '~'\")",
        ] {
            assert_eq!(fault(text, Dialect::Sqlite), None, "{text}");
            assert_eq!(fault(text, Dialect::Postgres), None, "{text}");
        }
    }

    #[test]
    fn nothing_hides_in_a_quote_that_one_engine_alone_reads() {
        use Dialect::{Postgres, Sqlite};
        for (dialect, text, expected) in [
            (Sqlite, "INSERT INTO x VALUES ($a(')); DROP TABLE t; UPDATE x SET a = $a(')", "`$`"),
            (Sqlite, "INSERT INTO x VALUES (1$a(')); DROP TABLE t; UPDATE x SET a = $a(')", "`$`"),
            (Sqlite, "INSERT INTO x VALUES (@a(')); DROP TABLE t; UPDATE x SET a = @a(')", "`@`"),
            (Sqlite, "INSERT INTO x VALUES (:::a(')); DROP TABLE t; UPDATE x SET a = :::a(')", "`:`"),
            (Sqlite, "INSERT INTO x VALUES (#a(')); DROP TABLE t; UPDATE x SET a = #a(')", "`#`"),
            (Sqlite, "INSERT INTO x VALUES (?1)", "`?`"),
            (Sqlite, "INSERT INTO x VALUES ([']); DROP TABLE t; UPDATE x SET a = [']", "drop"),
            (Postgres, "INSERT INTO x VALUES ($1)", "`$`"),
            (Postgres, "INSERT INTO x VALUES ($$'$$); DROP TABLE t; UPDATE x SET a = $$'$$", "drop"),
            (Postgres, "INSERT INTO x VALUES ($é$'$$$é$); DROP TABLE t; UPDATE x SET a = $$'$$", "drop"),
            (Postgres, "INSERT INTO x VALUES (E'\\''); DROP TABLE t; UPDATE x SET a = E'\\''", "drop"),
            (Postgres, "UPDATE x SET a = ARRAY[']']; DROP TABLE t; UPDATE x SET a = ARRAY['[']", "drop"),
            (Postgres, "UPDATE x SET a = 1 /* /* */ ' */; DROP TABLE t /* ' */", "drop"),
        ] {
            let found = fault(text, dialect).unwrap_or_else(|| panic!("{text}")).to_lowercase();
            assert!(found.contains(expected), "{text}: {found}");
        }
        for (dialect, text) in [
            (Sqlite, "CREATE TABLE t (a$b TEXT DEFAULT 'it''s $a', b TEXT CHECK (b <> '?'))"),
            (Sqlite, "CREATE TABLE [drop] (\"on delete\" TEXT)"),
            (Postgres, "CREATE TABLE t (a TEXT DEFAULT $$drop$$, b TEXT DEFAULT $x$ $$ on delete $x$)"),
            (Postgres, "UPDATE t SET a = b::TEXT, c = E'drop \\' table', d = e @> f, g = h[1:2]"),
            (Postgres, "UPDATE t SET a = 1 /* drop /* table */ t */"),
        ] {
            assert_eq!(fault(text, dialect), None, "{text}");
        }
    }

    #[test]
    fn a_tables_name_is_read_out_of_its_quotes() {
        let text = "CREATE TABLE \"a\"\"b\" (a TEXT); CREATE TABLE c (a TEXT)";
        assert_eq!(tables(text, Dialect::Sqlite), ["a\"b", "c"]);
        assert_eq!(tables(text, Dialect::Postgres), ["a\"b", "c"]);
    }
}

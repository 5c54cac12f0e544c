//! What a text may not name, since it reaches beyond the tables: a function that runs another text, a
//! setting or a lock that stays on the connection, what a transaction that only reads may still change.
//!
//! The narrow roles hold a transaction to its tables, and PostgreSQL lets every role call most functions.

/// The functions and types of PostgreSQL's whose names begin with `pg_` and that a statement may name:
/// those of the order of commits.
const HARMLESS: [&str; 6] = [
    "pg_current_snapshot",
    "pg_current_xact_id",
    "pg_snapshot",
    "pg_snapshot_xmax",
    "pg_snapshot_xmin",
    "pg_visible_in_snapshot",
];
/// How names begin: the catalogues, advisory locks and whatever else looks after the server; large objects;
/// and, of the extensions that come with the server, what runs a text as SQL or asks another server.
const BEGINNINGS: [&str; 8] =
    ["pg_", "lo_", "currtid", "dblink", "postgres_fdw", "crosstab", "connectby", "xpath_table"];
/// Whole names: what runs a text as SQL, large objects, and what stays on the connection.
const NAMES: [&str; 6] = ["ts_stat", "ts_rewrite", "loread", "lowrite", "setseed", "set_limit"];
/// What stands somewhere in such a name.
const PARTS: [&str; 2] = ["set_config", "_to_xml"];

/// Whether the text reaches beyond the tables. A name within a quoted text counts as well: where quotes
/// end is not what this rests on.
pub(super) fn is_beyond(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.split(|c| !is_word(c)).any(names_beyond) || writes_codes(&text) || makes_a_table(&text)
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

fn names_beyond(word: &str) -> bool {
    !HARMLESS.contains(&word)
        && (NAMES.contains(&word)
            || BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
            || PARTS.iter().any(|part| word.contains(part)))
}

/// Whether a name or a text may be written by the codes of its characters.
fn writes_codes(text: &str) -> bool {
    text.contains("u&'") || text.contains("u&\"")
}

/// Whether the text is no INSERT and has an INTO, which makes a table: a temporary one would stay on the
/// connection and hide another of its name. In a WITH the verb is what comes after the list; a column or a
/// part of the list may be called `insert`, too.
fn makes_a_table(text: &str) -> bool {
    let (words, closed) = words(text);
    let insert = match words.first() {
        Some(first) if first.text == "with" => words
            .iter()
            .position(|word| word.depth == 0 && word.closes && word.text != "as")
            .filter(|&at| words[at].text == "insert"),
        Some(first) if first.text == "insert" => Some(0),
        _ => None,
    };
    words
        .iter()
        .enumerate()
        .any(|(at, word)| word.text == "into" && insert.map(|insert| insert + 1) != Some(at))
        || !closed
}

struct Word<'t> {
    text: &'t str,
    /// How many parentheses are open before it.
    depth: usize,
    /// Whether it comes right after one that closes: what ends the list of a WITH does.
    closes: bool,
}

/// The words outside quotes, and whether each quote closes.
fn words(text: &str) -> (Vec<Word<'_>>, bool) {
    let (mut words, mut depth, mut closes) = (Vec::new(), 0_usize, false);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '\'' || first == '"' {
            let Some(end) = rest[1..].find(first) else { return (words, false) };
            end + 2
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (part, after) = rest.split_at(length);
        match first {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if is_word(first) => words.push(Word { text: part, depth, closes }),
            _ => {}
        }
        closes = first == ')' || (closes && first.is_whitespace());
        rest = after;
    }
    (words, true)
}

#[cfg(test)]
mod tests {
    use super::is_beyond;

    #[test]
    fn what_reaches_beyond_the_tables_is_known_however_it_is_written() {
        for text in [
            "SELECT set_config('role', 'none', true)",
            "SELECT \"Pg_Catalog\".SET_CONFIG('role', 'none', true)",
            "SELECT U&\"set!005fconfig\"('role', 'none', true) UESCAPE '!'",
            "SELECT u&'x'",
            "SELECT word FROM ts_stat('SELECT 1')",
            "SELECT ts_rewrite('a', 'SELECT 1')",
            "SELECT query_to_xml('SELECT 1', true, false, '')",
            "SELECT cursor_to_xmlschema('c', true, true, '')",
            "SELECT database_to_xml_and_xmlschema(true, true, '')",
            "UPDATE pg_settings SET setting = 'x' WHERE name = 'search_path'",
            "UPDATE \"pg_settings\" SET setting = 'x'",
            "SELECT PG_ADVISORY_LOCK(1)",
            "SELECT pg_notify('a', 'b')",
            "SELECT 1 FROM pg_sleep(1)",
            "SELECT pg_snapshot_xmin2(1)",
            "SELECT lo_create(0)",
            "SELECT loread(1, 1)",
            "SELECT lowrite(1, 'x')",
            "SELECT currtid2('t', '(0,1)')",
            "SELECT setseed(0)",
            "SELECT dblink_exec('x')",
            "SELECT * INTO TEMP accounts FROM accounts",
            "SELECT ')' AS \"insert\" INTO t FROM u",
            "WITH x AS (SELECT 1) SELECT (1) insert INTO TEMP t FROM u",
            "WITH insert AS (SELECT 1) SELECT * INTO TEMP t FROM insert",
            "WITH x (a) AS (SELECT ')') SELECT * INTO TEMP t FROM x",
            "WITH RECURSIVE x AS (SELECT 1) SEARCH DEPTH FIRST BY a SET b SELECT (1) insert INTO t",
            "WITH x AS (SELECT 1) INSERT INTO t SELECT 1 INTO u",
            "INSERT INTO t SELECT 1 INTO u",
            "VALUES (1) INTO t",
            "SELECT 'a",
        ] {
            assert!(is_beyond(text), "{text}");
        }
    }

    #[test]
    fn what_stays_with_the_tables_is_not_beyond() {
        for text in [
            "SELECT pg_snapshot_xmax(CAST(CAST(?1 AS TEXT) AS pg_snapshot)) <= pg_snapshot_xmax(pg_current_snapshot())",
            "SELECT 1 WHERE NOT pg_visible_in_snapshot(CAST('1' AS xid8), ?1)",
            "SELECT CAST(pg_current_xact_id() AS TEXT)",
            "SELECT 'put into, it''s' AS \"into\" FROM t",
            "SELECT id, lower(a), ts_status, current_setting('search_path') FROM allo_t",
            "insert into t (a) values (?1) ON CONFLICT (a) DO UPDATE SET a = ?1",
            "WITH x (a) AS (SELECT ')'), y AS MATERIALIZED (SELECT 1) INSERT INTO t SELECT * FROM x",
            "WITH x AS (SELECT 1) SELECT replace(a, 'b', 'c') FROM x",
            "DELETE FROM t WHERE a = 'ü&'",
        ] {
            assert!(!is_beyond(text), "{text}");
        }
    }
}

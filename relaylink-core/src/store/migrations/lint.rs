//! What a migration may not have: found by its words, quoted text and comments left out.

/// The words of an SQL text, in lower case. A quoted name counts as a word with its quotes off and
/// a `"` before it, so that it equals no keyword.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        let next = rest.peek().map(|&(_, next)| next);
        match character {
            '\'' | '"' | '`' | '[' => {
                let close = if character == '[' { ']' } else { character };
                let mut quoted = String::from('"');
                for (_, inner) in rest.by_ref() {
                    if inner == close {
                        break;
                    }
                    quoted.push(inner);
                }
                words.push(quoted);
            }
            '-' if next == Some('-') => {
                let _ = rest.by_ref().find(|&(_, inner)| inner == '\n');
            }
            '/' if next == Some('*') => {
                let end = text[at + 2..].find("*/").map_or(text.len(), |end| at + 2 + end + 2);
                while rest.next_if(|&(inner, _)| inner < end).is_some() {}
            }
            ';' | '(' => words.push(character.to_string()),
            _ if character.is_alphanumeric() || character == '_' => {
                let mut word = character.to_lowercase().to_string();
                while let Some((_, inner)) = rest.next_if(|&(_, c)| c.is_alphanumeric() || c == '_') {
                    word.extend(inner.to_lowercase());
                }
                words.push(word);
            }
            _ => {}
        }
    }
    words
}

/// The first rule the text breaks.
pub(super) fn fault(text: &str) -> Option<String> {
    let words = words(text);
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
pub(super) fn tables(text: &str) -> Vec<String> {
    let words = words(text);
    let made = words.windows(3).filter(|words| words[0] == "create" && words[1] == "table");
    made.map(|words| words[2].trim_start_matches('"').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::fault;

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
            let found = fault(text).unwrap_or_else(|| panic!("{text}"));
            assert!(found.contains(expected), "{text}: {found}");
        }
        for text in [
            "CREATE TABLE \"trigger\" (a TEXT DEFAULT 'ON DELETE', b TEXT CHECK (replace (b, 'x', '') <> ''));",
            "-- a trigger, said in passing\nCREATE INDEX i ON t (a) WHERE b IS NULL;\n",
            "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO NOTHING; UPDATE t SET a = 1",
            "CREATE VIRTUAL TABLE f USING fts5 (a, tokenize = \"ascii tokenchars '~'\")",
        ] {
            assert_eq!(fault(text), None, "{text}");
        }
    }
}

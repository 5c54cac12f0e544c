//! Names: from a type to a tool, and what a name may be.

/// Clients put `mcp__relaylink__` before it and refuse what is then longer than 64; some refuse
/// from 60 on what follows `relaylink` and one more character.
pub(crate) const LONGEST_TOOL_NAME: usize = 48;

/// Model interfaces refuse longer ones, and with them every tool of the session.
pub(crate) const LONGEST_PROPERTY_NAME: usize = 64;

/// `ListAPIKeys` → `list_api_keys`.
pub(crate) fn snake_case(name: &str) -> String {
    let name: Vec<char> = name.trim_start_matches("r#").chars().collect();
    let mut snake = String::new();
    for (at, &letter) in name.iter().enumerate() {
        if letter.is_uppercase() && at > 0 && starts_word(&name, at) && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Whether the capital at `at` starts a word: behind a small letter or a digit, or as the last of
/// several before a small letter, but for the `s` of a plural (`ListAPIs`).
fn starts_word(name: &[char], at: usize) -> bool {
    let before = name[at - 1];
    if !before.is_uppercase() {
        return before != '_';
    }
    let plural = name.get(at + 1) == Some(&'s') && name.get(at + 2).is_none_or(|after| after.is_uppercase());
    !plural && name.get(at + 1).is_some_and(|after| after.is_lowercase())
}

/// What is wrong with a tool's name, if anything.
pub(crate) fn wrong_tool_name(name: &str) -> Option<String> {
    let sound = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if !sound {
        return Some(
            "has to start with a small letter a to z and hold only those, digits and `_`".to_owned(),
        );
    }
    (name.len() > LONGEST_TOOL_NAME).then(|| {
        format!("is {} characters long, and clients refuse more than {LONGEST_TOOL_NAME}", name.len())
    })
}

/// The first character that has no place in a single line that a person is shown: a control character, the
/// end of a line or a paragraph, or one that turns the direction of what follows.
pub(crate) fn hidden(line: &str) -> Option<char> {
    line.chars().find(|c| {
        c.is_control()
            || matches!(c,
                '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    })
}

/// What is wrong with an argument's name, if anything.
pub(crate) fn wrong_property_name(name: &str) -> Option<String> {
    let sound = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !sound {
        return Some("has to start with a letter a to z or `_` and hold only those and digits".to_owned());
    }
    (name.len() > LONGEST_PROPERTY_NAME).then(|| {
        format!("is {} characters long, and clients refuse more than {LONGEST_PROPERTY_NAME}", name.len())
    })
}

/// The one of `words` that was probably meant.
pub(crate) fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = plainly(word);
    words
        .into_iter()
        .map(|known| (strsim::osa_distance(&plain, &plainly(known)), known))
        .filter(|(distance, known)| *distance <= known.len() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Whether two words are the same but for one slip of a letter.
pub(crate) fn one_slip(word: &str, known: &str) -> bool {
    strsim::osa_distance(&plainly(word), &plainly(known)) <= 1
}

/// Without what people write differently: `readOnlyHint` → `readonly`.
pub(crate) fn plainly(word: &str) -> String {
    let mut plain = word.replace('_', "").to_lowercase();
    if let Some(stem) = plain.strip_suffix("hint").filter(|stem| !stem.is_empty()) {
        plain.truncate(stem.len());
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_named_after_its_type() {
        for (name, tool) in [
            ("MemoryForget", "memory_forget"),
            ("Whoami", "whoami"),
            ("ListAPIKeys", "list_api_keys"),
            ("HTTPServer", "http_server"),
            ("ListAPIs", "list_apis"),
            ("ListAPIsNow", "list_apis_now"),
            ("ThisIsIt", "this_is_it"),
            ("GetHTTP", "get_http"),
            ("Sha256Sum", "sha256_sum"),
            ("Get2Things", "get2_things"),
            ("V2List", "v2_list"),
            ("ABTest", "ab_test"),
            ("A", "a"),
            ("r#Move", "move"),
            ("Foo_Bar", "foo_bar"),
            ("already_snake", "already_snake"),
            ("", ""),
        ] {
            assert_eq!(snake_case(name), tool, "{name}");
        }
    }

    #[test]
    fn names_have_a_shape_and_a_length() {
        assert_eq!(wrong_tool_name("memory_forget"), None);
        assert_eq!(wrong_tool_name(&"a".repeat(48)), None);
        assert!(wrong_tool_name(&"a".repeat(49)).is_some_and(|wrong| wrong.contains("49")));
        for name in ["", "_a", "2a", "aB", "a-b", "ä", "a b"] {
            assert!(wrong_tool_name(name).is_some(), "{name}");
        }
        for name in ["a", "_a", "aB2_", &"a".repeat(64)] {
            assert_eq!(wrong_property_name(name), None, "{name}");
        }
        for name in ["", "2a", "a-b", "ä", "a.b", &"a".repeat(65)] {
            assert!(wrong_property_name(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_nearest_word() {
        let words = ["read_only", "additive", "idempotent", "closed_world"];
        for (word, meant) in [
            ("readonly", Some("read_only")),
            ("readOnlyHint", Some("read_only")),
            ("aditive", Some("additive")),
            ("idempotnet", Some("idempotent")),
            ("close_world", Some("closed_world")),
            ("hint", None),
            ("banana", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, words), meant, "{word}");
        }
    }
}

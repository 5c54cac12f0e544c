//! The derive alone describes a tool and lists its effects. A hand-written impl could lie, so there
//! is none in the tree.

use std::{
    fs,
    path::{Path, PathBuf},
};

const DERIVED: [&str; 4] = ["Tool", "May", "Within", "Lists"];

/// The one place where such an impl may stand: a tool may do what it lists.
const BLANKET: &str = "impl<T: Tool + Lists<E>, E> May<E> for T {}";

#[test]
fn no_tool_is_described_by_hand() {
    let root = root();
    let mut files = Vec::new();
    for directory in ["relaylink-core/src", "relaylink-mcp/src", "examples", "benches"] {
        rust_files(&root.join(directory), &mut files);
    }
    assert!(files.len() > 20, "{files:?}");
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code = code(&text);
        let forbidden = impls(&code).filter(|head| *head != BLANKET.trim_end_matches(" {}"));
        found.extend(forbidden.map(|head| format!("{}: {head}", file.display())));
    }
    assert_eq!(found, Vec::<String>::new(), "derive these: `#[derive(Tool)]`");
}

#[test]
fn a_hand_written_impl_is_found() {
    for text in [
        "impl Tool for X { }",
        "impl relaylink_core::tool::Tool for X{}",
        "impl<T> ::relaylink_core::tool::May<Removes>\n    for X<T> {}",
        "impl May< Removes > for X {}",
        "unsafe impl Within<Y> for X {}",
        "impl crate::__private::Lists<Writes> for X {}",
        "mod a { impl Tool for $type { } }",
    ] {
        assert_eq!(impls(&code(text)).count(), 1, "{text}");
    }
    for text in [
        "impl Run for X {}",
        "fn f(tx: &mut Tx<'_, impl May<Writes>>) { for x in y {} }",
        "// impl Tool for X {}",
        "/// ```\n/// impl Tool for X {}\n/// ```",
        "impl<T: Tool> Tx<'_, T> {}",
        "impl<T: Run + May<Writes>> Handle<Relay> for T {}",
        "impl Toolset { fn f() { for a in b {} } }",
    ] {
        assert_eq!(impls(&code(text)).count(), 0, "{text}");
    }
}

/// The text without its comments, all on one line.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// The heads of impls of the derived traits: from `impl` to what stands before the body.
fn impls(code: &str) -> impl Iterator<Item = &str> {
    code.match_indices("impl").filter_map(|(at, _)| {
        let word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if word(code.as_bytes().get(at.wrapping_sub(1))) || word(code.as_bytes().get(at + 4)) {
            return None;
        }
        let head = code[at..].split(['{', ';', ')']).next()?.trim_end();
        let (implemented, _) = head.split_once(" for ")?;
        let implemented = without_parameters(implemented.strip_prefix("impl")?);
        let name = implemented.split('<').next()?.rsplit("::").next()?.trim();
        DERIVED.contains(&name).then_some(head)
    })
}

/// Behind the `<…>` at the start, if there is one.
fn without_parameters(text: &str) -> &str {
    let text = text.trim_start();
    let mut depth = 0_u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if !text[..at].ends_with('-') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return if letter == '>' { &text[at + 1..] } else { text };
        }
    }
    text
}

/// The project's own directory.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// What is in a directory, in order.
pub(crate) fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn rust_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in entries(directory) {
        if entry.is_dir() {
            rust_files(&entry, files);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
}

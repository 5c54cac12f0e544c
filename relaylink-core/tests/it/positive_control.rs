//! Lies told in a copy of the real sources, one kind at a time over all tools: the compiler must
//! name each of them, and nothing else. The lies are made from the tools' own descriptors.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use relaylink_core::{
    relay::Relay,
    store::{Request, Store, StoreError, Verdict, Work},
    tool::Descriptor,
};
use serde_json::Value as Json;

/// A store that is never asked: the tools are only listed.
struct Unasked;

#[async_trait::async_trait]
impl Store for Unasked {
    async fn transact(&self, _: Request, _: Work) -> Result<Verdict, StoreError> {
        Err(StoreError::Closed)
    }
}

/// A tool's file, the tool, and the hint or effect that is wrong in it.
type Lie = (String, String, String);

/// Copies of the two crates, alone in a workspace.
struct Copy {
    root: tempfile::TempDir,
}

impl Copy {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for part in ["relaylink-core/src", "relaylink-macros/src"] {
            copy_tree(&from.join(part), &root.path().join(part));
        }
        for file in ["relaylink-core/Cargo.toml", "relaylink-macros/Cargo.toml", "Cargo.lock", "Cargo.toml"] {
            std::fs::copy(from.join(file), root.path().join(file)).unwrap();
        }
        let manifest = root.path().join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).unwrap();
        let members = text.find("members = [").unwrap();
        let end = members + text[members..].find(']').unwrap();
        let two = r#"members = ["relaylink-core", "relaylink-macros""#;
        std::fs::write(manifest, format!("{}{two}{}", &text[..members], &text[end..])).unwrap();
        Self { root }
    }

    /// The file of the tool of this name, from the workspace's root: a tool's file bears its name.
    fn file(&self, tool: &str) -> String {
        let source = self.root.path().join("relaylink-core/src");
        let rooms = std::fs::read_dir(&source).unwrap().map(|room| room.unwrap().path());
        let files: Vec<_> =
            rooms.map(|room| room.join(format!("{tool}.rs"))).filter(|file| file.exists()).collect();
        assert_eq!(files.len(), 1, "one file is named after `{tool}`");
        files[0].strip_prefix(self.root.path()).unwrap().to_str().unwrap().to_owned()
    }

    /// Checks the copy and collects what the compiler calls a lie. Anything else it says is a failure.
    fn check(&self) -> BTreeSet<Lie> {
        let output = Command::new(env!("CARGO"))
            .args(["check", "--offline", "-q", "-p", "relaylink-core", "--lib", "--message-format=json"])
            .current_dir(self.root.path())
            .env("CARGO_TARGET_DIR", target_dir())
            .env_remove("RUSTFLAGS")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let messages = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        messages.filter_map(|message| lie(&message["message"])).collect()
    }
}

/// What one message of the compiler says.
fn lie(message: &Json) -> Option<Lie> {
    if message["level"] != "error" {
        return None;
    }
    let text = message["message"].as_str()?;
    if text.starts_with("aborting due to") {
        return None;
    }
    let file = message["spans"][0]["file_name"].as_str().unwrap_or_default().to_owned();
    let quoted: Vec<_> = text.split('`').skip(1).step_by(2).collect();
    let (tool, wrong) = if text.contains("hints `") {
        (quoted[0], quoted[1])
    } else if text.contains("may not do this") {
        (quoted[0], quoted[1])
    } else {
        panic!("the compiler says something else: {}", message["rendered"].as_str().unwrap_or(text));
    };
    let last = |path: &str| path.rsplit("::").next().unwrap_or(path).to_owned();
    Some((file, snake(&last(tool)), last(wrong)))
}

/// `MemoryForget` → `memory_forget`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The target directory this test was built in.
fn target_dir() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    exe.ancestors().find(|dir| dir.join("CACHEDIR.TAG").exists()).unwrap().to_owned()
}

/// The words in `word(…)` of a tool's attribute, and the attribute without that part.
fn cut(attribute: &str, word: &str) -> (Vec<String>, String) {
    let Some(at) = attribute.find(&format!("{word}(")) else {
        return (Vec::new(), attribute.to_owned());
    };
    let open = at + word.len();
    let close = open + closing(&attribute[open..]);
    let words = attribute[open + 1..close].split(',').map(str::trim).filter(|w| !w.is_empty());
    let rest = format!("{}{}", &attribute[..at], attribute[close + 1..].trim_start_matches([',', ' ', '\n']));
    (words.map(str::to_owned).collect(), rest)
}

/// The place of the parenthesis that closes the one at the start; quoted text is passed over.
fn closing(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    panic!("a parenthesis that does not close: {text}");
}

/// Rewrites the effects and hints of a tool where it stands; its declines go, since a lie may contradict them.
fn tell(copy: &Copy, descriptor: &Descriptor, change: impl Fn(&mut Vec<String>, &mut Vec<String>)) -> String {
    let file = copy.file(descriptor.name);
    let path = copy.root.path().join(&file);
    let source = std::fs::read_to_string(&path).unwrap();
    let open = source.find("#[tool").unwrap() + "#[tool".len();
    let close = open + closing(&source[open..]);
    let attribute = &source[open + 1..close];
    let (mut effects, attribute) = cut(attribute, "effects");
    let (mut hints, attribute) = cut(&attribute, "hints");
    let (_, attribute) = cut(&attribute, "declines");
    change(&mut effects, &mut hints);
    let mut parts = vec![format!("effects({})", effects.join(", ")), format!("hints({})", hints.join(", "))];
    let rest = attribute.trim().trim_matches(',').trim();
    if !rest.is_empty() {
        parts.push(rest.to_owned());
    }
    std::fs::write(&path, format!("{}({}{}", &source[..open], parts.join(", "), &source[close..])).unwrap();
    file
}

#[test]
fn every_lie_told_in_the_real_tools_is_a_compile_error_that_names_it() {
    let toolset = Relay::new(Arc::new(Unasked)).unwrap().toolset();
    let tools: Vec<_> = toolset.list().collect();
    assert!(!tools.is_empty());
    let refuted = |d: &Descriptor, hint: &str| match hint {
        "read_only" => d.effects.iter().any(|effect| effect.changes || effect.removes),
        "additive" => d.effects.iter().any(|effect| effect.removes),
        _ => d.effects.iter().any(|effect| effect.reaches_out),
    };
    for hint in ["read_only", "additive", "closed_world"] {
        let copy = Copy::new();
        let mut told = BTreeSet::new();
        for descriptor in tools.iter().filter(|descriptor| refuted(descriptor, hint)) {
            let file = tell(&copy, descriptor, |_, hints| {
                if hint == "read_only" {
                    hints.retain(|word| word == "closed_world");
                }
                hints.push(hint.into());
            });
            told.insert((file, descriptor.name.to_owned(), hint.to_owned()));
        }
        assert!(!told.is_empty(), "no tool could lie by `{hint}`");
        assert_eq!(copy.check(), told, "the hint `{hint}` added");
    }
    let mut effects: Vec<_> = tools.iter().flat_map(|d| d.effects.iter().map(|effect| effect.name)).collect();
    effects.sort_unstable();
    effects.dedup();
    for effect in effects {
        let copy = Copy::new();
        let mut told = BTreeSet::new();
        for descriptor in tools.iter().filter(|d| d.effects.iter().any(|e| e.name == effect)) {
            let file = tell(&copy, descriptor, |effects, _| effects.retain(|word| word != effect));
            told.insert((file, descriptor.name.to_owned(), effect.to_owned()));
        }
        assert_eq!(copy.check(), told, "the effect `{effect}` taken away");
    }
}

#[test]
fn the_sources_as_they_are_hold_no_lie() {
    assert_eq!(Copy::new().check(), BTreeSet::new());
}

//! Lies told in a copy of the real sources, one kind at a time over all tools: the compiler must
//! name each of them, and nothing else. The lies are made from the tools' own descriptors.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
};

use relaylink_core::tool::Descriptor;
use serde_json::Value as Json;

use crate::cases::tools;

/// A tool's file, the tool, and the hint or effect that is wrong in it.
type Lie = (String, String, String);

/// Copies of the two crates, alone in a workspace, with a target directory of their own: what is
/// built of a lie must not be taken for the truth. Both are kept between runs, for their dependencies.
struct Copy {
    root: PathBuf,
    /// Files with a lie in them, and what they say by right.
    lies: RefCell<BTreeMap<PathBuf, String>>,
}

impl Copy {
    fn new() -> Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut hash = DefaultHasher::new();
        from.hash(&mut hash);
        let root = target_dir().join("positive-control").join(format!("{:016x}", hash.finish()));
        std::fs::create_dir_all(&root).unwrap();
        for part in ["relaylink-core/src", "relaylink-macros/src"] {
            let _ = std::fs::remove_dir_all(root.join(part));
            copy_tree(&from.join(part), &root.join(part));
        }
        let manifests =
            ["relaylink-core/Cargo.toml", "relaylink-macros/Cargo.toml", "Cargo.lock", "Cargo.toml"];
        for file in manifests.into_iter().chain(["relaylink-core/STORAGE.md"]) {
            std::fs::copy(from.join(file), root.join(file)).unwrap();
        }
        let manifest = root.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).unwrap();
        let members = text.find("members = [").unwrap();
        let end = members + text[members..].find(']').unwrap();
        let two = r#"members = ["relaylink-core", "relaylink-macros""#;
        std::fs::write(manifest, format!("{}{two}{}", &text[..members], &text[end..])).unwrap();
        Self { root, lies: RefCell::default() }
    }

    /// Writes a lie into a file.
    fn lie(&self, path: PathBuf, source: String, lie: &str) {
        std::fs::write(&path, lie).unwrap();
        self.lies.borrow_mut().entry(path).or_insert(source);
    }

    /// Puts every file right again.
    fn right(&self) {
        for (path, source) in self.lies.take() {
            std::fs::write(path, source).unwrap();
        }
    }

    /// The file of the tool of this name, from the workspace's root: a tool's file bears its name.
    fn file(&self, tool: &str) -> String {
        let source = self.root.join("relaylink-core/src");
        let rooms = std::fs::read_dir(&source).unwrap().map(|room| room.unwrap().path());
        let files: Vec<_> =
            rooms.map(|room| room.join(format!("{tool}.rs"))).filter(|file| file.exists()).collect();
        assert_eq!(files.len(), 1, "one file is named after `{tool}`");
        files[0].strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned()
    }

    /// Checks the copy and collects what the compiler calls a lie. Anything else it says is a failure.
    fn check(&self) -> BTreeSet<Lie> {
        let output = Command::new(env!("CARGO"))
            .args(["check", "--offline", "-q", "-p", "relaylink-core", "--lib", "--no-default-features"])
            .arg("--message-format=json")
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env_remove("RUSTFLAGS")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let messages = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        let lies: BTreeSet<_> = messages.filter_map(|message| lie(&message["message"])).collect();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), lies.is_empty(), "cargo says something else: {stderr}");
        lies
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
    let mut spans = message["spans"].as_array().into_iter().flatten();
    let span = spans.find(|span| span["is_primary"] == true)?;
    let file = span["file_name"].as_str().unwrap_or_default().to_owned();
    let quoted: Vec<_> = text.split('`').skip(1).step_by(2).collect();
    let ours = text.contains("hints `") || text.contains("may not do this");
    assert!(ours, "the compiler says something else: {}", message["rendered"].as_str().unwrap_or(text));
    let (tool, wrong) = (quoted[0], quoted[1]);
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
    let path = copy.root.join(&file);
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
    let lie = format!("{}({}{}", &source[..open], parts.join(", "), &source[close..]);
    copy.lie(path, source, &lie);
    file
}

#[test]
fn every_lie_told_in_the_real_tools_is_a_compile_error_that_names_it() {
    let toolset = tools();
    let tools: Vec<_> = toolset.list().collect();
    assert!(!tools.is_empty());
    let refuted = |d: &Descriptor, hint: &str| match hint {
        "read_only" => d.effects.iter().any(|effect| effect.changes || effect.removes),
        "additive" => d.effects.iter().any(|effect| effect.removes),
        _ => d.effects.iter().any(|effect| effect.reaches_out),
    };
    let copy = Copy::new();
    assert_eq!(copy.check(), BTreeSet::new(), "the sources as they are");
    for hint in ["read_only", "additive", "closed_world"] {
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
        copy.right();
    }
    let mut effects: Vec<_> = tools.iter().flat_map(|d| d.effects.iter().map(|effect| effect.name)).collect();
    effects.sort_unstable();
    effects.dedup();
    for effect in effects {
        let mut told = BTreeSet::new();
        for descriptor in tools.iter().filter(|d| d.effects.iter().any(|e| e.name == effect)) {
            let file = tell(&copy, descriptor, |effects, _| effects.retain(|word| word != effect));
            told.insert((file, descriptor.name.to_owned(), effect.to_owned()));
        }
        assert_eq!(copy.check(), told, "the effect `{effect}` taken away");
        copy.right();
    }
}

//! Faults that users of comparable software met, and what holds each of them off here: `cases.tsv`
//! names a test for every row, or the tool or engine that the row waits for.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use syn::{Attribute, Item, ItemMod};

/// The rows there are.
const ROWS: [u32; 92] = [
    1, 3, 5, 6, 7, 8, 10, 11, 13, 14, 16, 18, 19, 20, 21, 23, 25, 27, 29, 31, 32, 33, 34, 35, 37, 38, 40, 41,
    42, 43, 44, 47, 49, 51, 52, 53, 54, 55, 56, 58, 60, 61, 63, 65, 67, 69, 71, 73, 74, 75, 77, 78, 79, 81,
    83, 85, 86, 88, 90, 91, 93, 94, 95, 97, 98, 100, 102, 103, 104, 106, 107, 109, 110, 111, 112, 114, 116,
    118, 120, 121, 122, 123, 124, 126, 127, 129, 131, 133, 135, 136, 138, 139,
];

/// The tools that are still to come. One that has come leaves this list, and its rows name tests.
const AWAITED: [&str; 53] = [
    "attachment_create_text",
    "attachment_list",
    "attachment_manage",
    "attachment_read",
    "attachment_upload_link",
    "confirm_intent",
    "create_group",
    "get_thread",
    "leave_group",
    "list_forwarded",
    "list_groups",
    "list_tags",
    "list_threads",
    "notebook_context",
    "notebook_fidelity_check",
    "notebook_find",
    "notebook_handoffs",
    "notebook_open",
    "notebook_organize",
    "notebook_run_routine",
    "notebook_save",
    "notebook_share",
    "notebook_share_fact",
    "notebook_update",
    "open_support_request",
    "project_brief",
    "project_draft",
    "project_list",
    "project_open",
    "project_work_find",
    "project_work_open",
    "project_work_update",
    "read_forwarded",
    "remind_me",
    "rename_contact",
    "reply_to_support",
    "resolve_item",
    "resume_handoff",
    "save_handoff",
    "search_messages",
    "send_feedback",
    "set_my_name",
    "set_preferences",
    "sign_out_everywhere",
    "support_status",
    "tag_contact",
    "tag_thread",
    "thread_ledger",
    "track_item",
    "unblock_contact",
    "update_group",
    "usage_status",
    "whats_new",
];

/// The engines that are still to come: features of this crate once they are here.
const ENGINES: [&str; 1] = ["smtp"];

/// Where the tests of a package's target begin.
const TARGETS: [(&str, &str); 11] = [
    ("relaylink-core lib", "relaylink-core/src/lib.rs"),
    ("relaylink-core it", "relaylink-core/tests/it/main.rs"),
    ("relaylink-macros lib", "relaylink-macros/src/lib.rs"),
    ("relaylink-macros suite", "relaylink-macros/tests/suite/main.rs"),
    ("relaylink-mcp lib", "relaylink-mcp/src/lib.rs"),
    ("relaylink-mcp it", "relaylink-mcp/tests/it/main.rs"),
    ("relaylink-mcp memory", "relaylink-mcp/tests/it/memory.rs"),
    ("relaylink bin", "examples/relaylink/src/main.rs"),
    ("relaylink it", "examples/relaylink/tests/it/main.rs"),
    ("own-tools stdio", "examples/own-tools/tests/stdio.rs"),
    ("embed app", "examples/embed/tests/app.rs"),
];

/// What the suite of programs that must not compile, and of crates that must, is run by.
const UI: &str = "relaylink-core/tests/ui";

struct Row<'a> {
    number: u32,
    about: &'a str,
    held: Vec<&'a str>,
}

fn rows(table: &str) -> Vec<Row<'_>> {
    let row = |line| {
        let columns: Vec<_> = str::split(line, '\t').collect();
        let [number, about, held] = columns[..] else { panic!("three columns: {line}") };
        let number = number.parse().unwrap_or_else(|_| panic!("a row's number: {line}"));
        Row { number, about, held: held.split("; ").collect() }
    };
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("row\tabout\theld by"));
    lines.map(row).collect()
}

#[test]
fn every_row_is_held_by_a_test_or_waits_for_a_tool() {
    let rows = rows(include_str!("cases.tsv"));
    assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), ROWS);
    let here = Here::found();
    let mut wrong = Vec::new();
    for row in &rows {
        if row.about.trim().is_empty() {
            wrong.push(format!("{}: what is it about?", row.number));
        }
        wrong.extend(row.held.iter().filter_map(|entry| {
            let what = here.complaint(entry)?;
            Some(format!("{} {entry}: {what}", row.number))
        }));
    }
    assert_eq!(wrong, [""; 0], "\n{}", wrong.join("\n"));
}

#[test]
fn what_does_not_exist_is_seen() {
    let here = Here::found();
    for sound in [
        "relaylink-core it cases_table::what_does_not_exist_is_seen",
        "relaylink-core lib tool::arguments::tests::absent_null_and_nothing_are_the_same",
        "relaylink-core ui fail/words.rs",
        "relaylink-core ui pass/shadowed",
        "ci clippy",
        "waits: get_thread list_threads",
    ] {
        assert_eq!(here.complaint(sound), None, "{sound}");
    }
    for unsound in [
        "",
        "relaylink-core it cases_table::nothing",
        "relaylink-core it cases_table::rows",
        "relaylink-core it what_does_not_exist_is_seen",
        // What tests run in processes of their own.
        "relaylink-core it kill::child",
        "relaylink-core lib store::sqlite::migrate::tests::opens_in_a_process_of_its_own",
        "relaylink-core lib cases_table::what_does_not_exist_is_seen",
        "relaylink-core ui fail/nothing.rs",
        "relaylink-core ui fail",
        "relaylink-core ui",
        "ci nothing",
        "waits: whoami",
        "waits: ",
        "waits: something",
    ] {
        assert!(here.complaint(unsound).is_some(), "{unsound}");
    }
}

#[test]
fn a_test_that_may_not_run_is_none() {
    let runs = |text: &str| runs(&syn::parse_str::<syn::ItemFn>(text).unwrap().attrs);
    for test in
        ["#[test] fn t() {}", "/// It runs.\n#[tokio::test(flavor = \"multi_thread\")] async fn t() {}"]
    {
        assert!(runs(test), "{test}");
    }
    for none in [
        "fn t() {}",
        "#[test] #[ignore] fn t() {}",
        "#[cfg(windows)] #[test] fn t() {}",
        "#[test] #[cfg(feature = \"slow\")] fn t() {}",
        "#[cfg_attr(windows, ignore)] #[test] fn t() {}",
        "/// Not a test: a part of one.\n#[test] fn t() {}",
    ] {
        assert!(!runs(none), "{none}");
    }
    assert_eq!(runs("#[cfg(unix)] #[test] fn t() {}"), cfg!(unix));
}

/// What an entry of the table may name.
struct Here {
    root: PathBuf,
    tests: BTreeSet<String>,
    tools: BTreeSet<&'static str>,
    features: BTreeSet<String>,
    steps: BTreeSet<String>,
}

impl Here {
    fn found() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
        let mut tests = BTreeSet::new();
        for (target, file) in TARGETS {
            let before = tests.len();
            within_file(&root.join(file), &mut |name| {
                tests.insert(format!("{target} {name}"));
            });
            let needed = !["relaylink-mcp lib"].contains(&target);
            assert!(tests.len() > before || !needed, "{target} has no tests");
        }
        let quoted = |text: &str, start: &str, end: char| -> BTreeSet<_> {
            let lines = text.lines().filter_map(|line| line.strip_prefix(start));
            lines.filter_map(|line| Some(line.split_once(end)?.0.trim().to_owned())).collect()
        };
        let manifest = fs::read_to_string(root.join("relaylink-core/Cargo.toml")).unwrap();
        let features = manifest.split_once("[features]").unwrap().1.split("\n[").next().unwrap().to_owned();
        Self {
            tests,
            tools: crate::cases::tools().list().map(|tool| tool.name).collect(),
            features: quoted(&features, "", '='),
            steps: quoted(&fs::read_to_string(root.join(".ci/run")).unwrap(), "step '", '\''),
            root,
        }
    }

    /// What is wrong with an entry.
    fn complaint(&self, entry: &str) -> Option<String> {
        if let Some(awaited) = entry.strip_prefix("waits: ") {
            return awaited.split(' ').find_map(|name| self.has_come(name));
        }
        if let Some(step) = entry.strip_prefix("ci ") {
            return (!self.steps.contains(step)).then(|| "no such step in .ci/run".to_owned());
        }
        if let Some(program) = entry.strip_prefix("relaylink-core ui ") {
            let is_one = program.split_once('/').is_some_and(|(_, name)| !name.is_empty())
                && self.root.join(UI).join(program).exists();
            return (!is_one).then(|| format!("no such program in {UI}"));
        }
        (!self.tests.contains(entry)).then(|| "no such test".to_owned())
    }

    fn has_come(&self, name: &str) -> Option<String> {
        if !AWAITED.contains(&name) && !ENGINES.contains(&name) {
            return Some(format!("`{name}` is neither a tool nor an engine to come"));
        }
        let here = self.tools.contains(name) || self.features.contains(name);
        here.then(|| format!("{name} is here: name the test that holds the row now"))
    }
}

#[test]
fn none_of_those_to_come_is_here() {
    let here = Here::found();
    for name in AWAITED.iter().chain(&ENGINES) {
        assert_eq!(here.has_come(name), None);
    }
    assert_eq!(here.tools.len() + AWAITED.len(), 72);
}

/// Tells the name of every test in a crate whose root is this file.
fn within_file(root: &Path, tell: &mut dyn FnMut(String)) {
    within(&parsed(root).items, root.parent().unwrap(), "", tell);
}

fn parsed(file: &Path) -> syn::File {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// `folder` is where the files of the modules in `items` are.
fn within(items: &[Item], folder: &Path, module: &str, tell: &mut dyn FnMut(String)) {
    for item in items {
        match item {
            Item::Fn(function) if runs(&function.attrs) => tell(format!("{module}{}", function.sig.ident)),
            Item::Mod(inner) => {
                let module = format!("{module}{}::", inner.ident);
                let (items, folder) = opened(inner, folder);
                within(&items, &folder, &module, tell);
            }
            _ => {}
        }
    }
}

/// What is in a module, and where the files of its own modules are.
fn opened(module: &ItemMod, folder: &Path) -> (Vec<Item>, PathBuf) {
    let name = module.ident.to_string();
    if let Some((_, items)) = &module.content {
        return (items.clone(), folder.join(name));
    }
    let elsewhere = module.attrs.iter().find(|attribute| attribute.path().is_ident("path"));
    let file = match elsewhere.map(|attribute| &attribute.meta) {
        Some(syn::Meta::NameValue(syn::MetaNameValue {
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(file), .. }),
            ..
        })) => {
            // Beside the file that names it; that of a whole crate is in the folder of its modules.
            let places = [folder.parent().unwrap(), folder].map(|place| place.join(file.value()));
            places.into_iter().find(|place| place.exists()).unwrap()
        }
        _ => folder.join(format!("{name}.rs")),
    };
    let file = if file.exists() { file } else { folder.join(&name).join("mod.rs") };
    (parsed(&file).items, folder.join(name))
}

/// Whether it is a test that runs where this one does. One that is ignored, that may be left out, or
/// that is only a part of another, with which its doc comment then begins, holds nothing.
fn runs(attributes: &[Attribute]) -> bool {
    let is_test =
        |attribute: &Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "test");
    let holds_nothing = |attribute: &Attribute| {
        let is = |word| attribute.path().is_ident(word);
        let here = cfg!(unix) && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("unix"));
        is("ignore")
            || is("cfg_attr")
            || (is("cfg") && !here)
            || doc(attribute).is_some_and(|text| text.trim_start().starts_with("Not a test:"))
    };
    attributes.iter().any(is_test) && !attributes.iter().any(holds_nothing)
}

/// A line of a doc comment.
fn doc(attribute: &Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return None };
    attribute.path().is_ident("doc").then(|| text.value())
}

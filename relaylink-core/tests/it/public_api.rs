//! Nothing of another crate is in what this one publishes, so that no version of another crate is:
//! a bump of one breaks no user. serde and schemars are the exception, since a tool's own file derives
//! their traits, and `serde_json`, since arguments and replies are its values.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use quote::ToTokens;
use syn::{ImplItem, Item, TraitItem, UseTree, Visibility};

/// What users name in their own manifests, too.
const SHARED: [&str; 3] = ["schemars", "serde", "serde_json"];

/// The crates this one depends on, written as code writes them.
fn dependencies() -> BTreeSet<String> {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let section = manifest.split_once("\n[dependencies]\n").unwrap().1.split("\n[").next().unwrap();
    let names = section.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    let names = names.map(|name| name.replace('-', "_")).filter(|name| !name.is_empty());
    names.filter(|name| !name.starts_with("relaylink_") && !SHARED.contains(&name.as_str())).collect()
}

/// The words in what a file publishes that come from one of these crates.
fn foreign(file: &syn::File, crates: &BTreeSet<String>) -> Vec<String> {
    let mut words = crates.clone();
    names_of(&file.items, crates, &mut words);
    let mut signatures = Vec::new();
    published(&file.items, &mut signatures);
    let mut found = Vec::new();
    for signature in signatures {
        let bad =
            signature.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| words.contains(*word));
        found.extend(bad.map(|word| format!("{word} in {signature:.120}")));
    }
    found
}

/// The names that `use` brings in from these crates.
fn names_of(items: &[Item], crates: &BTreeSet<String>, names: &mut BTreeSet<String>) {
    for item in items {
        if let Item::Use(used) = item {
            brought(&used.tree, "", false, crates, names);
        }
    }
}

/// `within` is the module that the tree stands in.
fn brought(
    tree: &UseTree,
    within: &str,
    foreign: bool,
    crates: &BTreeSet<String>,
    names: &mut BTreeSet<String>,
) {
    match tree {
        UseTree::Path(path) => {
            let module = path.ident.to_string();
            let foreign = foreign || crates.contains(&module);
            brought(&path.tree, &module, foreign, crates, names);
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| brought(tree, within, foreign, crates, names));
        }
        UseTree::Name(name) if foreign && name.ident == "self" => {
            names.insert(within.to_owned());
        }
        UseTree::Name(name) if foreign => {
            names.insert(name.ident.to_string());
        }
        UseTree::Rename(name) if foreign => {
            names.insert(name.rename.to_string());
        }
        _ => {}
    }
}

/// What is `pub`, without its bodies. The lint `unreachable_pub` sees to it that such is published.
fn published(items: &[Item], signatures: &mut Vec<String>) {
    let types: BTreeSet<_> = items.iter().filter_map(public_type).collect();
    let mut told = Vec::new();
    let mut tell = |tokens: &dyn ToTokens| told.push(tokens.to_token_stream().to_string());
    let mut inner_modules = Vec::new();
    for item in items {
        match item {
            Item::Fn(item) if is_public(&item.vis) => tell(&item.sig),
            Item::Const(item) if is_public(&item.vis) => tell(&item.ty),
            Item::Static(item) if is_public(&item.vis) => tell(&item.ty),
            Item::Type(item) if is_public(&item.vis) => tell(&item.ty),
            Item::Use(item) if is_public(&item.vis) => tell(item),
            Item::Enum(item) if is_public(&item.vis) => {
                tell(&item.generics);
                item.variants.iter().flat_map(|variant| &variant.fields).for_each(|field| tell(&field.ty));
            }
            Item::Struct(item) if is_public(&item.vis) => {
                tell(&item.generics);
                item.fields.iter().filter(|field| is_public(&field.vis)).for_each(|field| tell(&field.ty));
            }
            Item::Trait(item) if is_public(&item.vis) => {
                tell(&item.generics);
                tell(&item.supertraits);
                for inner in &item.items {
                    match inner {
                        TraitItem::Fn(inner) => tell(&inner.sig),
                        other => tell(other),
                    }
                }
            }
            Item::Impl(item) => {
                if let Some((of, _)) = &item.trait_
                    && types.contains(&type_name(&item.self_ty))
                {
                    tell(of);
                }
                for inner in &item.items {
                    match inner {
                        ImplItem::Fn(inner) if is_public(&inner.vis) => tell(&inner.sig),
                        ImplItem::Const(inner) if is_public(&inner.vis) => tell(&inner.ty),
                        _ => {}
                    }
                }
            }
            Item::Mod(item) if is_public(&item.vis) => {
                inner_modules.extend(item.content.as_ref().map(|(_, items)| items));
            }
            _ => {}
        }
    }
    signatures.append(&mut told);
    for items in inner_modules {
        published(items, signatures);
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn public_type(item: &Item) -> Option<String> {
    match item {
        Item::Struct(item) if is_public(&item.vis) => Some(item.ident.to_string()),
        Item::Enum(item) if is_public(&item.vis) => Some(item.ident.to_string()),
        _ => None,
    }
}

fn type_name(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Path(path) => {
            path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn no_type_of_another_crate_is_published() {
    let crates = dependencies();
    for there in ["rusqlite", "lettre", "tokio", "jiff", "uuid"] {
        assert!(crates.contains(there), "{crates:?}");
    }
    let mut files = Vec::new();
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 50, "{files:?}");
    let mut found = Vec::new();
    for file in files {
        let parsed = syn::parse_file(&fs::read_to_string(&file).unwrap()).unwrap();
        found.extend(foreign(&parsed, &crates).into_iter().map(|what| format!("{}: {what}", file.display())));
    }
    assert_eq!(found, [""; 0], "\n{}", found.join("\n"));
}

#[test]
fn a_published_type_of_another_crate_is_seen() {
    let crates = ["rusqlite", "tokio"].map(str::to_owned).into();
    for text in [
        "use rusqlite::Connection; pub fn f(c: &Connection) {}",
        "use rusqlite::{types::Value as V, Row}; pub struct S { pub v: V }",
        "use tokio::{io::{self, Sink}}; pub fn f(e: io::Error) {}",
        "pub enum E { A(rusqlite::Error) }",
        "pub struct S; impl From<rusqlite::Error> for S { }",
        "pub struct S; impl S { pub fn f(&self) -> tokio::task::JoinHandle<()> { loop {} } }",
        "pub trait T: tokio::io::AsyncRead {}",
        "pub trait T { fn f(&self, c: rusqlite::Row<'_>); }",
        "pub use rusqlite::Connection;",
        "pub type C = rusqlite::Connection;",
        "pub mod m { pub const C: Option<tokio::time::Instant> = None; }",
    ] {
        assert!(!foreign(&syn::parse_file(text).unwrap(), &crates).is_empty(), "{text}");
    }
    for text in [
        "use rusqlite::Connection; fn f(c: &Connection) {} pub struct S { c: Connection }",
        "pub(crate) fn f(c: rusqlite::Connection) {}",
        "struct S; impl From<rusqlite::Error> for S { }",
        "pub fn f() { rusqlite::Connection::open_in_memory(); }",
    ] {
        assert_eq!(foreign(&syn::parse_file(text).unwrap(), &crates), [""; 0], "{text}");
    }
}

#[test]
fn the_versions_of_the_embedded_engine_are_told_as_they_are() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let locked = fs::read_to_string(core.parent().unwrap().join("Cargo.lock")).unwrap();
    let docs = fs::read_to_string(core.join("src/store/sqlite/mod.rs")).unwrap();
    for name in ["rusqlite", "libsqlite3-sys"] {
        let (_, version) = locked.split_once(&format!("name = \"{name}\"\nversion = \"")).unwrap();
        let parts: Vec<_> = version.split('.').take(2).collect();
        let told = format!("{name} {}", parts.join("."));
        assert!(docs.contains(&told), "the documents do not say {told}");
    }
}

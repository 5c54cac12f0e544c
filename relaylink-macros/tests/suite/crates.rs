//! Real crates with manifests of their own, in a workspace put together for them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::by_hand::{entries, root};

#[test]
fn crates_of_every_kind_compile() {
    let workspace = Workspace::of("pass");
    assert!(workspace.crates.len() >= 7, "{:?}", workspace.crates);
    for arguments in [&["--workspace"][..], &["--package", "switched", "--features", "on"]] {
        let output = workspace.check(arguments);
        assert!(output.status.success(), "{arguments:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// For what trybuild cannot show: a manifest of its own, or an error that also lists types, which
/// change with every tool there is. `told.txt` has what has to stand in the errors, line by line.
#[test]
fn crates_are_refused_in_words() {
    let workspace = Workspace::of("refused");
    assert!(workspace.crates.len() >= 3, "{:?}", workspace.crates);
    for name in &workspace.crates {
        let output = workspace.check(&["--package", name]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{name} compiles");
        let told = fs::read_to_string(workspace.source.join(name).join("told.txt")).unwrap();
        for line in told.lines() {
            assert!(errors.contains(line), "{name}: {line}\nis not in\n{errors}");
        }
        let expected = told.lines().filter(|line| line.starts_with("error[")).count();
        assert_eq!(
            errors.matches("\nerror[").count() + usize::from(errors.starts_with("error[")),
            expected,
            "{errors}"
        );
    }
}

struct Workspace {
    crates: Vec<String>,
    source: PathBuf,
    place: PathBuf,
}

impl Workspace {
    /// Copies the crates of relaylink-core/tests/ui/KIND into a workspace. Files that have not
    /// changed are left alone, so that cargo has nothing to do for them.
    fn of(kind: &str) -> Self {
        let core = root().join("relaylink-core");
        let source = core.join("tests/ui").join(kind);
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(kind);
        let mut crates = Vec::new();
        for directory in entries(&source) {
            let name = name(&directory);
            for file in entries(&directory) {
                let text = fs::read_to_string(&file).unwrap();
                if file.ends_with("manifest.toml") {
                    // Quoted as TOML quotes, whatever is in the path.
                    let path = format!("{:?}", core.to_str().unwrap());
                    write(&place.join(&name).join("Cargo.toml"), &text.replace("\"{core}\"", &path));
                } else {
                    write(&place.join(&name).join("src").join(self::name(&file)), &text);
                }
            }
            crates.push(name);
        }
        write(&place.join("Cargo.toml"), &format!("[workspace]\nresolver = \"3\"\nmembers = {crates:?}\n"));
        // The versions that the project itself is built with; cargo takes out what is not needed.
        fs::copy(root().join("Cargo.lock"), place.join("Cargo.lock")).unwrap();
        Self { crates, source, place }
    }

    fn check(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO"))
            .args(["check", "--quiet", "--offline"])
            .args(arguments)
            .current_dir(&self.place)
            // One for all workspaces: what they depend on is compiled once.
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("crates"))
            .env_remove("RUSTFLAGS")
            .output()
            .unwrap()
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

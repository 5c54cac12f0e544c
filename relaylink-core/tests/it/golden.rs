//! Golden files: what clients see, kept as text in `tests/it/golden` and read in review.
//! `RELAYLINK_BLESS=1` writes them anew.

mod callers;
mod ids;
mod wire;

use std::{fmt::Write as _, path::PathBuf};

/// Whether what is kept is to be written anew.
pub(crate) fn blesses() -> bool {
    std::env::var_os("RELAYLINK_BLESS").is_some_and(|value| value == "1")
}

/// Compares with the golden file of this name, or writes it.
#[track_caller]
fn compare(name: &str, now: &str) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "it", "golden", name].iter().collect();
    if blesses() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, now).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        kept == now,
        "golden/{name} says something else:\n{}If this is meant: RELAYLINK_BLESS=1 cargo test -p relaylink-core --test it golden, and read the difference.",
        difference(&kept, now)
    );
}

/// The lines that went and that came, each with its number.
fn difference(kept: &str, now: &str) -> String {
    let (kept, now): (Vec<_>, Vec<_>) = (kept.lines().collect(), now.lines().collect());
    // The longest common subsequence, from the end.
    let mut common = vec![vec![0_usize; now.len() + 1]; kept.len() + 1];
    for i in (0..kept.len()).rev() {
        for j in (0..now.len()).rev() {
            common[i][j] = if kept[i] == now[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut text) = (0, 0, String::new());
    while i < kept.len() || j < now.len() {
        if i < kept.len() && j < now.len() && kept[i] == now[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == now.len() || (i < kept.len() && common[i + 1][j] >= common[i][j + 1]) {
            writeln!(text, "-{:<4} {}", i + 1, kept[i]).unwrap();
            i += 1;
        } else {
            writeln!(text, "+{:<4} {}", j + 1, now[j]).unwrap();
            j += 1;
        }
    }
    text
}

#[test]
fn a_difference_shows_the_lines_that_went_and_came() {
    assert_eq!(difference("a\nb\nc\n", "a\nx\nc\nd\n"), "-2    b\n+2    x\n+4    d\n");
    assert_eq!(difference("a\n", "a\n"), "");
}

//! Doc comments of every kind.
#![deny(warnings)]

use relaylink_core::prelude::*;

/// Look a word up.
///
/// Give it one of:
/// - a "word" in quotes, or a \ backslash
///   - and a line below it
/// - a {pattern} with braces
///
/// ```json
/// { "word": "…" }
///     indented
/// ```
///
#[derive(Tool)]
#[doc(alias = "find")]
pub struct Lines {}

/**
 * Look a word up,
 * with stars.
 */
#[derive(Tool)]
pub struct Stars {}

/** Look a word up. */
#[derive(Tool)]
pub struct Block {}

#[derive(Tool)]
#[doc = "In an attribute."]
#[doc = " And another."]
pub struct Attributes {}

#[doc = include_str!("words.md")]
#[derive(Tool)]
pub struct File {}

/// Before.
#[doc = include_str!("words.md")]
/// After,
/// in two lines.
#[doc = concat!("Put", " together.")]
#[derive(Tool)]
pub struct Mixed {}

const _: () = {
    same(
        Lines::DESCRIPTION,
        "Look a word up.\n\nGive it one of:\n- a \"word\" in quotes, or a \\ backslash\n  - and a line below it\n- a {pattern} with braces\n\n```json\n{ \"word\": \"…\" }\n    indented\n```",
    );
    same(Stars::DESCRIPTION, "Look a word up,\nwith stars.");
    same(Block::DESCRIPTION, "Look a word up.");
    same(Attributes::DESCRIPTION, "In an attribute.\nAnd another.");
    same(File::DESCRIPTION, "From a file.\n\n- with a list");
    same(Mixed::DESCRIPTION, "Before.\n\nFrom a file.\n\n- with a list\n\n\nAfter,\nin two lines.\nPut together.");
};

const fn same(one: &str, other: &str) {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() {
        assert!(one[at] == other[at]);
        at += 1;
    }
    assert!(one.len() == other.len());
}

//! What `#[derive(Tool)]` emits. Not for use by hand: it may change at any time.

/// The tool lists the effect `E`. See [`May`](crate::tool::May).
pub trait Lists<E> {}

/// Does not compile where the hint does not hold, and says why at the hint's own word.
#[track_caller]
pub const fn hold(contradicted: bool, message: &'static str) {
    assert!(!contradicted, "{}", message);
}

/// A description that only the compiler could read, such as a file's text.
pub const fn description(text: &'static str) -> &'static str {
    text.trim_ascii()
}

//! What `#[derive(Tool)]` calls. Not for use by hand: it may change at any time.

/// Does not compile where the hint does not hold, and says why at the hint's own word.
#[track_caller]
pub const fn hold(contradicted: bool, message: &'static str) {
    if contradicted {
        panic!("{}", message);
    }
}

/// A description that only the compiler could read, such as a file's text.
#[track_caller]
pub const fn description(text: &'static str) -> &'static str {
    let text = text.trim_ascii();
    if text.is_empty() {
        panic!("this tool's description is blank: write what it does, which is what models read");
    }
    text
}

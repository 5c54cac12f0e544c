//! What `#[derive(Tool)]` emits. Not for use by hand: it may change at any time.

/// The core, by the name that the derive gives it. A macro, since rustc goes on where it cannot find one,
/// and ends at a trait that it cannot find: one wrong `crate = …` would hide the mistakes of all other tools.
#[doc(hidden)]
#[macro_export]
macro_rules! __tool {
    ($($items:tt)*) => {
        use $crate as __relaylink;
        $($items)*
    };
}

pub use crate::tool::hint::Hint;

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

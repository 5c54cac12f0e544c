//! What a tool is, once its attribute is understood.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Generics, Path};

use crate::description::Description;

/// A hint's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    ReadOnly,
    Additive,
    Idempotent,
    ClosedWorld,
}

impl Hint {
    pub(crate) const ALL: [Self; 4] = [Self::ReadOnly, Self::Additive, Self::Idempotent, Self::ClosedWorld];

    /// As it is written in `hints(…)`.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Additive => "additive",
            Self::Idempotent => "idempotent",
            Self::ClosedWorld => "closed_world",
        }
    }

    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hint| hint.word() == word)
    }

    /// Its variant in the core's own `Hint`, which knows the effects that contradict it.
    pub(crate) const fn variant(self) -> &'static str {
        match self {
            Self::ReadOnly => "ReadOnly",
            Self::Additive => "Additive",
            Self::Idempotent => "Idempotent",
            Self::ClosedWorld => "ClosedWorld",
        }
    }

    /// What an effect does that contradicts it, in words. No effect contradicts `idempotent` as far as the
    /// compiler can see.
    pub(crate) const fn contradiction(self) -> Option<&'static str> {
        match self {
            Self::ReadOnly => Some("changes something"),
            Self::Additive => Some("takes something away"),
            Self::ClosedWorld => Some("reaches outside the server"),
            Self::Idempotent => None,
        }
    }

    /// Whether a tool that hints this hints `other` as well.
    pub(crate) fn implies(self, other: Self) -> bool {
        self == other || (self == Self::ReadOnly && matches!(other, Self::Additive | Self::Idempotent))
    }
}

/// One of the tool's effects.
pub(crate) struct Effect {
    pub(crate) path: Path,
    /// The last segment of the path, which messages use.
    pub(crate) word: Ident,
}

/// A hint that is claimed, and the word that does it.
pub(crate) struct Claim {
    pub(crate) hint: Hint,
    pub(crate) word: Ident,
}

/// A hint that is declined, the word that does it, and why.
pub(crate) struct Decline {
    pub(crate) hint: Hint,
    pub(crate) word: Ident,
    pub(crate) reason: String,
}

/// A tool to be expanded. Where there were mistakes it holds what could be understood.
pub(crate) struct Tool {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Description,
    pub(crate) effects: Vec<Effect>,
    pub(crate) hints: Vec<Claim>,
    pub(crate) declines: Vec<Decline>,
    pub(crate) always_ask: bool,
    /// Where `relaylink_core` is found.
    pub(crate) core: TokenStream,
    /// Where that is said.
    pub(crate) core_span: Span,
}

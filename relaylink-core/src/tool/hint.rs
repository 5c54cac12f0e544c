use serde::Serialize;

use super::EffectInfo;

/// What a tool claims about itself. Each hint narrows: without it the tool is read at its worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are the protocol's four")]
pub struct Hints {
    /// It changes nothing. Implies [`additive`](Self::additive) and [`idempotent`](Self::idempotent).
    pub read_only: bool,
    /// It takes nothing away and overwrites nothing.
    pub additive: bool,
    /// The same call again changes nothing more.
    pub idempotent: bool,
    /// It touches nothing outside the server's own data.
    pub closed_world: bool,
}

impl Hints {
    /// Those that are claimed.
    pub(super) fn claims(self) -> impl Iterator<Item = Hint> {
        let Self { read_only, additive, idempotent, closed_world } = self;
        let claimed = [read_only, additive, idempotent, closed_world];
        Hint::ALL.into_iter().zip(claimed).filter_map(|(hint, claimed)| claimed.then_some(hint))
    }
}

/// One of the hints, by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// See [`Hints::read_only`].
    ReadOnly,
    /// See [`Hints::additive`].
    Additive,
    /// See [`Hints::idempotent`].
    Idempotent,
    /// See [`Hints::closed_world`].
    ClosedWorld,
}

impl Hint {
    const ALL: [Self; 4] = [Self::ReadOnly, Self::Additive, Self::Idempotent, Self::ClosedWorld];

    /// As it is written in `hints(…)`.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Additive => "additive",
            Self::Idempotent => "idempotent",
            Self::ClosedWorld => "closed_world",
        }
    }

    /// The hint of this word.
    pub(super) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hint| hint.word() == word)
    }

    /// Whether no tool with this effect can claim it: the one rule, by which `#[derive(Tool)]` proves a
    /// tool's hints and by which each tool is looked at when it is added. No effect contradicts
    /// `idempotent`; that is for the replay audit.
    pub const fn contradicted_by(self, effect: EffectInfo) -> bool {
        match self {
            Self::ReadOnly => effect.changes || effect.removes,
            Self::Additive => effect.removes,
            Self::Idempotent => false,
            Self::ClosedWorld => effect.reaches_out,
        }
    }
}

/// A hint that could be claimed and is not, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Decline {
    /// The hint's word.
    pub hint: &'static str,
    /// Why it is not claimed.
    pub reason: &'static str,
}

/// The hints as MCP writes them, all four written out.
///
/// They are claims by which a client may spare a person a question, and no security control:
/// nothing stops a hostile server from stamping `readOnlyHint` on a tool that deletes everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "they are the protocol's four")]
pub struct Annotations {
    /// Shown to the person who is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'static str>,
    /// See [`Hints::read_only`].
    pub read_only_hint: bool,
    /// The opposite of [`Hints::additive`].
    pub destructive_hint: bool,
    /// See [`Hints::idempotent`].
    pub idempotent_hint: bool,
    /// The opposite of [`Hints::closed_world`].
    pub open_world_hint: bool,
}

impl Annotations {
    /// The annotations of a tool with these hints and this title.
    pub const fn new(hints: Hints, title: Option<&'static str>) -> Self {
        Self {
            title,
            read_only_hint: hints.read_only,
            destructive_hint: !(hints.additive || hints.read_only),
            idempotent_hint: hints.idempotent || hints.read_only,
            open_world_hint: !hints.closed_world,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_contradicts_the_hints_that_deny_what_it_does() {
        let effect = |changes, removes, reaches_out| EffectInfo { name: "E", changes, removes, reaches_out };
        for (effect, contradicted) in [
            (effect(false, false, false), [false, false, false, false]),
            (effect(true, false, false), [true, false, false, false]),
            (effect(false, true, false), [true, true, false, false]),
            (effect(false, false, true), [false, false, false, true]),
        ] {
            assert_eq!(Hint::ALL.map(|hint| hint.contradicted_by(effect)), contradicted, "{effect:?}");
        }
    }

    #[test]
    fn a_hint_is_known_by_its_word_and_by_its_flag() {
        for hint in Hint::ALL {
            assert_eq!(Hint::named(hint.word()), Some(hint));
        }
        assert_eq!(Hint::named("destructive"), None);
        let two = Hints { additive: true, closed_world: true, ..Hints::default() };
        assert_eq!(two.claims().collect::<Vec<_>>(), [Hint::Additive, Hint::ClosedWorld]);
    }
}

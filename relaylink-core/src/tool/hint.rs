use serde::Serialize;

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

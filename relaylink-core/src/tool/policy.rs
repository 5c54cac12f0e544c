//! For people who write clients: whether a call runs or is put to a person first, and whether one that
//! timed out may be repeated.
//!
//! The hints a server gives are claims, not a security control: they may not describe what a tool
//! does, and nothing stops a hostile server from stamping `readOnlyHint` on a tool that deletes
//! everything. So [`Trust::Untrusted`] is the default, under which every hint is read as unstated.
//!
//! The rules, in order:
//! 1. stated read-only and stated destructive contradict each other: ask;
//! 2. read-only and idempotent: run;
//! 3. read-only, not idempotent: it runs where [`Deployment::read_only`] says so, or where it is stated
//!    not destructive and [`Deployment::additive`] says so;
//! 4. not read-only, destructive stated false: as [`Deployment::additive`] says;
//! 5. all else: ask.
//!
//! What is unstated is read at its worst, so that a server which says less is never asked about less.
//!
//! ```
//! use relaylink_core::tool::policy::{Decision, Deployment, Stated, Trust, decide, may_retry};
//!
//! let wire = r#"{ "title": "Send package (irreversible)", "destructiveHint": true }"#;
//! let stated: Stated = serde_json::from_str(wire)?;
//! let decision = decide(&stated, None, "confirm_send", Trust::Trusted, Deployment::default());
//! let shown = Decision::Ask { title: "Send package (irreversible)", name: "confirm_send" };
//! assert_eq!(decision, shown);
//! assert!(!may_retry(&stated, Trust::Trusted));
//! # Ok::<(), serde_json::Error>(())
//! ```

use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

use super::Annotations;

/// What a tool's `annotations` state. Read from the wire, a hint that is no boolean is as good as
/// unstated, and so is everything where there is no object at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// Shown to the person who is asked; never blank.
    pub title: Option<String>,
    /// `readOnlyHint`: it changes nothing.
    pub read_only: Option<bool>,
    /// `destructiveHint`: it may take away or overwrite what was there.
    pub destructive: Option<bool>,
    /// `idempotentHint`: the same call again changes nothing more.
    pub idempotent: Option<bool>,
    /// `openWorldHint`: it reaches what the server does not control.
    pub open_world: Option<bool>,
}

impl Stated {
    /// What this `annotations` value states.
    pub fn of(annotations: &Json) -> Self {
        let hint = |name: &str| annotations.get(name).and_then(Json::as_bool);
        Self {
            title: annotations.get("title").and_then(Json::as_str).and_then(written).map(str::to_owned),
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        }
    }
}

impl<'de> Deserialize<'de> for Stated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Json::deserialize(deserializer).map(|annotations| Self::of(&annotations))
    }
}

impl From<&Annotations> for Stated {
    fn from(annotations: &Annotations) -> Self {
        Self {
            title: annotations.title.map(str::to_owned),
            read_only: Some(annotations.read_only_hint),
            destructive: Some(annotations.destructive_hint),
            idempotent: Some(annotations.idempotent_hint),
            open_world: Some(annotations.open_world_hint),
        }
    }
}

/// The four hints with the defaults of the specification in the place of what is unstated: each
/// default is the worst case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are the specification's four")]
pub struct Resolved {
    /// False where unstated.
    pub read_only: bool,
    /// True where unstated.
    pub destructive: bool,
    /// False where unstated.
    pub idempotent: bool,
    /// True where unstated.
    pub open_world: bool,
}

/// The four hints, the unstated at their defaults.
pub fn resolve(stated: &Stated) -> Resolved {
    Resolved {
        read_only: stated.read_only.unwrap_or(false),
        destructive: stated.destructive.unwrap_or(true),
        idempotent: stated.idempotent.unwrap_or(false),
        open_world: stated.open_world.unwrap_or(true),
    }
}

/// Whether a server's hints count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// They are read as unstated.
    #[default]
    Untrusted,
    /// They are taken at their word. For servers whose operator you know.
    Trusted,
}

/// What a deployment does with calls that the hints leave open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// A person is asked.
    #[default]
    Ask,
    /// It runs.
    Run,
}

/// A deployment's own settings; by default it asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deployment {
    /// Calls that change something and take nothing away.
    pub additive: Choice,
    /// Calls that change nothing and are not said to be repeatable. Where [`additive`](Self::additive)
    /// calls run, these run too if they are stated to take nothing away: they do less.
    pub read_only: Choice,
}

/// What a client does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<'a> {
    /// It runs, and its result is shown.
    Run,
    /// A person is asked first.
    Ask {
        /// What the person is shown: the annotations' title, else the tool's, else its name.
        title: &'a str,
        /// The tool's name, to be shown beside the title: a title may say anything.
        name: &'a str,
    },
}

/// Whether a call of the tool with these annotations, this top-level `title` and this name runs, or
/// is put to a person first.
pub fn decide<'a>(
    stated: &'a Stated,
    title: Option<&'a str>,
    name: &'a str,
    trust: Trust,
    deployment: Deployment,
) -> Decision<'a> {
    if trust == Trust::Trusted && runs(stated, deployment) {
        return Decision::Run;
    }
    let title = stated.title.as_deref().and_then(written).or(title.and_then(written)).unwrap_or(name);
    Decision::Ask { title, name }
}

fn runs(stated: &Stated, deployment: Deployment) -> bool {
    let Resolved { read_only, idempotent, .. } = resolve(stated);
    match (read_only, stated.destructive) {
        (true, Some(true)) => false,
        (true, _) if idempotent || deployment.read_only == Choice::Run => true,
        (_, Some(false)) => deployment.additive == Choice::Run,
        _ => false,
    }
}

/// Whether a call that timed out may be repeated without asking: only where the tool is stated to be
/// idempotent, by a server that is trusted, and whatever else it states.
pub fn may_retry(stated: &Stated, trust: Trust) -> bool {
    trust == Trust::Trusted && resolve(stated).idempotent
}

/// The text, unless it is blank.
fn written(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;

//! What anybody's tools are made of: effects, hints, descriptors, toolsets, arguments, schemas.
//! Knows no room and no engine.

mod caller;
mod descriptor;
mod effect;
mod handle;
pub(crate) mod hint;
mod limits;
mod refusal;

pub mod arguments;
pub mod audit;
pub mod policy;
pub mod schema;
pub mod toolset;

pub use caller::{Caller, Ceiling, Grade};
pub use descriptor::Descriptor;
pub(crate) use descriptor::Place;
pub use effect::{Effect, EffectInfo, ExternalMail, May, Removes, SharedWork, Within, Writes};
pub use handle::{Cx, Grant, Handle};
pub use hint::{Annotations, Decline, Hints};
pub use refusal::{Code, Refusal, Stop};
pub use relaylink_macros::Tool;
pub use toolset::Toolset;

/// A tool: a type that holds its arguments, made by `#[derive(Tool)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "derive it: `#[derive(Tool, Deserialize, JsonSchema)]` with `#[tool(effects(…), hints(…))]`"
)]
pub trait Tool: Sized + Send + Sync + 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// The title that a person is shown when asked, where one is written.
    const TITLE: Option<&'static str>;
    /// The doc comment.
    const DESCRIPTION: &'static str;
    /// What it claims.
    const HINTS: Hints;
    /// What it may do.
    const EFFECTS: &'static [EffectInfo];
    /// What it could claim and does not.
    const DECLINES: &'static [Decline];
    /// Whether every call is to be put to a person.
    const ALWAYS_ASK: bool;
}

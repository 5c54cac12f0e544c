//! The replay audit: what the compiler cannot see of a hint is seen by running the tool.
//!
//! Each case of a tool is called twice in a fresh [`World`]; the state is taken before, between
//! and after, from the tables themselves and not from what the tool says it ran. [`Audit::judge`]
//! then compares what happened with what the tool claims. A hint stays a claim by its server and
//! is no security control; the audit is how the authors of a server keep their own claims true.
//!
//! ```
//! # use relaylink_core::tool::audit::{Audit, Case, World, replay};
//! # async fn example(fresh_world: impl Fn() -> Box<dyn World>, cases: Vec<Case>) {
//! let mut trials = Vec::new();
//! for case in &cases {
//!     trials.push(replay(&*fresh_world(), case).await);
//! }
//! let toolset = fresh_world().toolset();
//! for descriptor in toolset.list() {
//!     let findings = Audit::default().judge(descriptor, &trials);
//!     assert!(findings.is_empty(), "{findings:?}");
//! }
//! # }
//! ```

mod judge;
mod state;

use async_trait::async_trait;
use serde_json::{Map, Value as Json};

pub use judge::{Audit, Finding, Rule};
pub use state::{Changes, State};

use super::{Caller, Refusal, Toolset, toolset::CallError};

/// A state of its own for one case, and the tools over it.
#[async_trait]
pub trait World: Send + Sync {
    /// The tools.
    fn toolset(&self) -> Toolset;

    /// All of the state as it is now, bookkeeping of the layer that authenticates left out.
    async fn state(&self) -> State;
}

/// One way to call a tool so that it succeeds in the world it is replayed in.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the case shows, for the findings.
    pub name: String,
    /// Who calls.
    pub caller: Caller,
    /// The tool's name.
    pub tool: String,
    /// The arguments, alike both times.
    pub arguments: Map<String, Json>,
}

/// One call and the state on either side of it.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it changed.
    pub changes: Changes,
    /// What it answered.
    pub answer: Result<Json, Refusal>,
    /// The state it left.
    pub after: State,
}

/// A case that was called twice.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The tool's name.
    pub tool: String,
    /// The case's name.
    pub case: String,
    /// The arguments.
    pub arguments: Map<String, Json>,
    /// The first call.
    pub first: Step,
    /// The same call again.
    pub second: Step,
}

/// Calls a case twice in this world, which should be fresh.
pub async fn replay(world: &dyn World, case: &Case) -> Trial {
    let before = world.state().await;
    let first = step(world, case, &before).await;
    let second = step(world, case, &first.after).await;
    Trial {
        tool: case.tool.clone(),
        case: case.name.clone(),
        arguments: case.arguments.clone(),
        first,
        second,
    }
}

async fn step(world: &dyn World, case: &Case, before: &State) -> Step {
    let answer = world.toolset().call(&case.caller, &case.tool, case.arguments.clone()).await;
    let after = world.state().await;
    let answer = answer.map_err(|error| match error {
        CallError::Stopped(stop) => stop.into_refusal(),
        error @ CallError::UnknownTool { .. } => Refusal::new(super::Code::NotFound, error.to_string()),
    });
    Step { changes: before.changes_to(&after), answer, after }
}

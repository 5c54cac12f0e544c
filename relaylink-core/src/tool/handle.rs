use std::{future::Future, marker::PhantomData, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Caller, Effect, May, Stop, Tool};

/// A tool over the state `S`. Write it as `async fn handle(self, cx: Cx<'_, Self, S>) -> Result<…, Stop>`.
#[diagnostic::on_unimplemented(
    message = "the tool `{Self}` does not say what it does over `{S}`",
    label = "no `Handle<{S}>`",
    note = "implement `Handle<{S}>` for it; over RelayLink's own storage implement `Run`"
)]
pub trait Handle<S>: Tool {
    /// What it answers.
    type Reply: Serialize + JsonSchema + Send + 'static;

    /// Does it.
    fn handle(self, cx: Cx<'_, Self, S>) -> impl Future<Output = Result<Self::Reply, Stop>> + Send;
}

/// What a tool is given for one call.
pub struct Cx<'a, T, S> {
    /// The state the toolset was made over.
    pub state: &'a Arc<S>,
    /// Who calls, who may do here no more than what the tool lists.
    pub caller: &'a Caller,
    tool: PhantomData<fn() -> T>,
}

impl<'a, T: Tool, S> Cx<'a, T, S> {
    pub(crate) fn new(state: &'a Arc<S>, caller: &'a Caller) -> Self {
        Self { state, caller, tool: PhantomData }
    }

    /// Leave to do `E`, for this call: only a tool that lists `E` can ask for it.
    pub fn grant<E: Effect>(&self) -> Grant<'_, E>
    where
        T: May<E>,
    {
        Grant(PhantomData)
    }
}

/// Leave to do `E` for the length of one call. A client of a world of yours asks for one in the
/// signature of each act; it is neither `Copy` nor `Clone` and cannot be kept beyond the call.
#[expect(clippy::type_complexity, reason = "it is only a marker of both")]
pub struct Grant<'cx, E: Effect>(PhantomData<(&'cx (), fn() -> E)>);

//! A table of tools to list and to call by name.

use std::{collections::HashMap, marker::PhantomData, panic::AssertUnwindSafe, sync::Arc};

use futures_util::{FutureExt, future::BoxFuture};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::{
    Caller, Code, Cx, Descriptor, EffectInfo, Grade, Handle, Refusal, Stop, arguments, schema::SchemaError,
};

/// Runs one tool: the caller and the arguments in, the reply out.
pub(crate) type Dispatch =
    Arc<dyn Fn(&Caller, Map<String, Json>) -> BoxFuture<'static, Result<Json, Stop>> + Send + Sync>;

/// A toolset could not be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsetError {
    /// Two tools bear one name.
    #[error("two tools are named `{0}`: name one of them otherwise, with `#[tool(name = \"…\")]`")]
    SameName(&'static str),
    /// A schema cannot be published.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A room that no tool belongs to.
    #[error("there is no toolset `{name}`; there are {known}")]
    UnknownRoom {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A tool that is not there.
    #[error("there is no tool `{name}`{}", nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    UnknownTool {
        /// The name given.
        name: String,
        /// The nearest there is.
        nearest: Option<String>,
    },
}

/// Why a call by name gave no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No tool of that name is offered.
    #[error("unknown tool: {name}")]
    UnknownTool {
        /// The name given.
        name: String,
    },
    /// The tool stopped.
    #[error(transparent)]
    Stopped(#[from] Stop),
}

impl CallError {
    pub(crate) fn unknown(name: &str) -> Self {
        Self::UnknownTool { name: name.to_owned() }
    }
}

#[derive(Clone)]
struct Entry {
    descriptor: Arc<Descriptor>,
    dispatch: Dispatch,
}

/// Tools to list and to call. Not generic: the state went in with each tool, so toolsets over
/// different states merge into one. Cheap to clone.
#[derive(Clone, Default)]
pub struct Toolset {
    entries: Arc<[Entry]>,
    index: Arc<HashMap<&'static str, usize>>,
}

/// Adds tools over the state `S`.
pub struct Builder<S> {
    state: Arc<S>,
    room: Option<&'static str>,
    entries: Vec<Entry>,
    error: Option<ToolsetError>,
    over: PhantomData<fn(S)>,
}

impl<S: Send + Sync + 'static> Builder<S> {
    /// What is added from here on is listed under this name.
    #[must_use]
    pub fn room(mut self, name: &'static str) -> Self {
        self.room = Some(name);
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool<T: Handle<S> + DeserializeOwned + JsonSchema>(mut self) -> Self {
        match Descriptor::of::<T, T::Reply>(self.room) {
            Ok(descriptor) => {
                let descriptor = Arc::new(descriptor);
                let state = Arc::clone(&self.state);
                let published = Arc::clone(&descriptor);
                let dispatch: Dispatch = Arc::new(move |caller, arguments| {
                    let (state, caller, published) =
                        (Arc::clone(&state), caller.clone(), Arc::clone(&published));
                    Box::pin(async move {
                        admit(&caller, published.name, published.effects)?;
                        let tool: T = arguments::read(&published, arguments)?;
                        arguments::write(&tool.handle(Cx::new(&state, &caller)).await?)
                    })
                });
                self.entries.push(Entry { descriptor, dispatch });
            }
            Err(error) => {
                self.error.get_or_insert(error.into());
            }
        }
        self
    }

    /// The toolset; an error where two tools bear one name or a schema cannot be published.
    pub fn build(self) -> Result<Toolset, ToolsetError> {
        match self.error {
            Some(error) => Err(error),
            None => Toolset::checked(self.entries),
        }
    }
}

impl Toolset {
    /// Starts a toolset over this state.
    pub fn over<S: Send + Sync + 'static>(state: Arc<S>) -> Builder<S> {
        Builder { state, room: None, entries: Vec::new(), error: None, over: PhantomData }
    }

    /// A toolset of entries whose names are known to differ.
    pub(crate) fn from_entries(entries: impl Iterator<Item = (Arc<Descriptor>, Dispatch)>) -> Self {
        Self::indexed(entries.map(|(descriptor, dispatch)| Entry { descriptor, dispatch }).collect())
    }

    fn checked(entries: Vec<Entry>) -> Result<Self, ToolsetError> {
        let toolset = Self::indexed(entries);
        let twice = toolset
            .entries
            .iter()
            .enumerate()
            .find(|(at, entry)| toolset.index[entry.descriptor.name] != *at);
        match twice {
            Some((_, entry)) => Err(ToolsetError::SameName(entry.descriptor.name)),
            None => Ok(toolset),
        }
    }

    fn indexed(entries: Vec<Entry>) -> Self {
        let index = entries.iter().enumerate().map(|(at, entry)| (entry.descriptor.name, at)).collect();
        Self { entries: entries.into(), index: Arc::new(index) }
    }

    /// This toolset and that one together; an error where both have a tool of one name.
    pub fn merge(&self, other: &Self) -> Result<Self, ToolsetError> {
        Self::checked(self.entries.iter().chain(other.entries.iter()).cloned().collect())
    }

    fn filtered(&self, keep: impl Fn(&Descriptor) -> bool) -> Self {
        Self::indexed(self.entries.iter().filter(|entry| keep(&entry.descriptor)).cloned().collect())
    }

    /// Only the tools that hint `read_only`.
    #[must_use]
    pub fn read_only(&self) -> Self {
        self.filtered(|descriptor| descriptor.annotations.read_only_hint)
    }

    /// Only the tools of these rooms.
    pub fn rooms<N: AsRef<str>>(&self, names: &[N]) -> Result<Self, ToolsetError> {
        for name in names {
            if !self.list().any(|descriptor| descriptor.room == Some(name.as_ref())) {
                let mut known: Vec<_> = self.list().filter_map(|descriptor| descriptor.room).collect();
                known.dedup();
                return Err(ToolsetError::UnknownRoom {
                    name: name.as_ref().to_owned(),
                    known: known.join(", "),
                });
            }
        }
        Ok(self.filtered(|descriptor| names.iter().any(|name| descriptor.room == Some(name.as_ref()))))
    }

    /// All but the tools of these names.
    pub fn without<N: AsRef<str>>(&self, names: &[N]) -> Result<Self, ToolsetError> {
        for name in names {
            if self.get(name.as_ref()).is_none() {
                let nearest =
                    arguments::nearest(name.as_ref(), self.list().map(|descriptor| descriptor.name));
                return Err(ToolsetError::UnknownTool { name: name.as_ref().to_owned(), nearest });
            }
        }
        Ok(self.filtered(|descriptor| !names.iter().any(|name| descriptor.name == name.as_ref())))
    }

    /// All tools, in the order they were added.
    pub fn list(&self) -> impl Iterator<Item = &Descriptor> {
        self.entries.iter().map(|entry| &*entry.descriptor)
    }

    /// The tools within this caller's ceiling.
    pub fn list_for(&self, caller: &Caller) -> impl Iterator<Item = &Descriptor> {
        self.list().filter(|descriptor| caller.ceiling.grade(descriptor.effects) != Grade::Refuse)
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Descriptor> {
        self.index.get(name).map(|&at| &*self.entries[at].descriptor)
    }

    /// Calls the tool of this name. A panic in it is an `unavailable` refusal.
    pub async fn call(
        &self,
        caller: &Caller,
        name: &str,
        arguments: Map<String, Json>,
    ) -> Result<Json, CallError> {
        let Some(&at) = self.index.get(name) else {
            return Err(CallError::unknown(name));
        };
        let reply = AssertUnwindSafe((self.entries[at].dispatch)(caller, arguments)).catch_unwind().await;
        reply
            .unwrap_or_else(|_| Err(Stop::refuse(Code::Unavailable, "The tool failed.")))
            .map_err(CallError::from)
    }
}

/// Refuses a tool beyond the caller's ceiling, before it starts.
pub(crate) fn admit(caller: &Caller, name: &str, effects: &[EffectInfo]) -> Result<(), Stop> {
    let message = match caller.ceiling.grade(effects) {
        Grade::Allow => return Ok(()),
        Grade::Stage => format!("This key may only prepare `{name}`; a person confirms it."),
        Grade::Refuse => format!("This key may not run `{name}`."),
    };
    Err(Refusal::new(Code::NotPermitted, message).hint("Ask the account's owner for a key that may.").into())
}

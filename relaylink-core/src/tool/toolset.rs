//! A table of tools to list and to call by name.

use std::{collections::HashMap, panic::AssertUnwindSafe, sync::Arc};

use futures_util::{FutureExt, future::BoxFuture};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::{
    Caller, Code, Cx, Descriptor, EffectInfo, Grade, Handle, Place, Refusal, Stop, arguments,
    schema::SchemaError,
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
    /// A tool hints what its effects contradict.
    #[error(
        "the tool `{tool}` hints `{hint}`, but its effect `{effect}` contradicts that: drop the hint or the effect"
    )]
    Hint {
        /// The tool's name.
        tool: &'static str,
        /// The hint's word.
        hint: &'static str,
        /// The effect's name.
        effect: &'static str,
    },
    /// A tool declines what its effects contradict.
    #[error(
        "the tool `{tool}` declines `{hint}`, but its effect `{effect}` contradicts that, so it could not be hinted: leave out the decline"
    )]
    Decline {
        /// The tool's name.
        tool: &'static str,
        /// The hint's word.
        hint: &'static str,
        /// The effect's name.
        effect: &'static str,
    },
    /// A schema cannot be published.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A toolset that no tool belongs to.
    #[error("there is no toolset `{name}`; there are {known}")]
    UnknownToolset {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A tool that is not there.
    #[error("there is no tool `{name}`; {}", match nearest { Some(nearest) => format!("did you mean `{nearest}`?"), None => format!("there are {known}") })]
    UnknownTool {
        /// The name given.
        name: String,
        /// The nearest there is.
        nearest: Option<String>,
        /// The names there are.
        known: String,
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
    /// All there were before it was narrowed, so that each narrowing knows the names whatever the order.
    known: Arc<[Arc<Descriptor>]>,
}

/// Adds tools over the state `S`.
pub struct Builder<S> {
    state: Arc<S>,
    place: Place,
    entries: Vec<Entry>,
    error: Option<ToolsetError>,
}

impl<S: Send + Sync + 'static> Builder<S> {
    /// What is added from here on belongs to this room, and to no other set.
    #[must_use]
    pub fn room(mut self, name: &'static str) -> Self {
        self.place = Place::room(name);
        self
    }

    /// What is added from here on, in this room, is in these sets too; none ends that.
    #[must_use]
    pub fn also(mut self, sets: &'static [&'static str]) -> Self {
        self.place.sets = sets;
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool<T: Handle<S> + DeserializeOwned + JsonSchema>(mut self) -> Self {
        match Descriptor::of::<T, T::Reply>(self.place) {
            Ok(descriptor) => {
                let descriptor = Arc::new(descriptor);
                let state = Arc::clone(&self.state);
                let published = Arc::clone(&descriptor);
                let dispatch: Dispatch = Arc::new(move |caller, arguments| {
                    let (state, caller, published) =
                        (Arc::clone(&state), caller.clone(), Arc::clone(&published));
                    Box::pin(async move {
                        admit(&caller, published.name, published.effects, published.why)?;
                        // What the tool calls in the caller's name, in a Relay of its state's too, is held
                        // to what it listed.
                        let caller = caller.within(published.effects);
                        let tool: T = arguments::read(&published, arguments)?;
                        arguments::write(&tool.handle(Cx::new(&state, &caller)).await?)
                    })
                });
                self.entries.push(Entry { descriptor, dispatch });
            }
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
        self
    }

    /// The toolset; an error where two tools bear one name, a tool's hints do not hold, or a schema
    /// cannot be published.
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
        Builder { state, place: Place::default(), entries: Vec::new(), error: None }
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
        let known = entries.iter().map(|entry| Arc::clone(&entry.descriptor)).collect();
        Self { entries: entries.into(), index: Arc::new(index), known }
    }

    /// This toolset and that one together; an error where both have a tool of one name.
    pub fn merge(&self, other: &Self) -> Result<Self, ToolsetError> {
        let merged = Self::checked(self.entries.iter().chain(other.entries.iter()).cloned().collect())?;
        let known = self.known.iter().chain(other.known.iter()).cloned().collect();
        Ok(Self { known, ..merged })
    }

    fn filtered(&self, keep: impl Fn(&Descriptor) -> bool) -> Self {
        let kept = self.entries.iter().filter(|entry| keep(&entry.descriptor)).cloned().collect();
        Self { known: Arc::clone(&self.known), ..Self::indexed(kept) }
    }

    /// Only the tools that hint `read_only`. Narrowings only take away, so this one holds whatever
    /// else is asked, before or after.
    #[must_use]
    pub fn read_only(&self) -> Self {
        self.filtered(|descriptor| descriptor.annotations.read_only_hint)
    }

    /// Only the tools of these toolsets: rooms, or sets across the rooms. No name at all leaves no tool.
    pub fn only<N: AsRef<str>>(&self, names: &[N]) -> Result<Self, ToolsetError> {
        for name in names.iter().map(AsRef::as_ref) {
            if !self.known.iter().any(|descriptor| descriptor.is_in(name)) {
                let known: Vec<_> = self.toolsets().collect();
                return Err(ToolsetError::UnknownToolset { name: name.to_owned(), known: known.join(", ") });
            }
        }
        Ok(self.filtered(|descriptor| names.iter().any(|name| descriptor.is_in(name.as_ref()))))
    }

    /// All but the tools of these names.
    pub fn without<N: AsRef<str>>(&self, names: &[N]) -> Result<Self, ToolsetError> {
        for name in names.iter().map(AsRef::as_ref) {
            if !self.known.iter().any(|descriptor| descriptor.name == name) {
                let known: Vec<_> = self.known.iter().map(|descriptor| descriptor.name).collect();
                let nearest = arguments::nearest(name, known.iter().copied());
                return Err(ToolsetError::UnknownTool {
                    name: name.to_owned(),
                    nearest,
                    known: known.join(", "),
                });
            }
        }
        Ok(self.filtered(|descriptor| !names.iter().any(|name| descriptor.name == name.as_ref())))
    }

    /// The names of the toolsets there are, each once: rooms as they were added, each followed by the
    /// sets that begin in it. A narrowed toolset knows those it was narrowed from.
    pub fn toolsets(&self) -> impl Iterator<Item = &'static str> {
        let mut names = Vec::new();
        for name in self.known.iter().flat_map(|descriptor| descriptor.toolsets()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.into_iter()
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

    /// Calls the tool of this name: one beyond the caller's ceiling is refused before its arguments
    /// are read, one that is not in this toolset is unknown. A panic in it is an `unavailable` refusal
    /// without the panic's text.
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
        Ok(reply.unwrap_or_else(|_| Err(panicked(name)))?)
    }
}

/// What a panic in a tool is answered with. What it did before is not known here: a tool over a store
/// of transactions is stopped by the store, which knows that nothing was kept.
fn panicked(tool: &str) -> Stop {
    tracing::error!(tool, "a tool panicked");
    Refusal::new(Code::Unavailable, format!("{tool} failed, and it is not known how far it came."))
        .hint("Look at what is there before you repeat it.")
        .into()
}

/// Refuses a tool beyond the caller's ceiling, before it starts.
pub(crate) fn admit(
    caller: &Caller,
    name: &str,
    effects: &[EffectInfo],
    why: Option<&str>,
) -> Result<(), Stop> {
    let message = match caller.ceiling.grade(effects) {
        Grade::Allow => return Ok(()),
        Grade::Stage => format!("This key may only prepare `{name}`; a person confirms it."),
        Grade::Refuse => {
            let lacks = effects.iter().map(|effect| effect.name);
            let lacks = lacks.filter(|effect| caller.ceiling.grade_of(effect) == Grade::Refuse);
            let lacks = lacks.collect::<Vec<_>>().join(" and ");
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            format!("This key may not run `{name}`: it is not allowed {lacks}{why}.")
        }
    };
    Err(Refusal::new(Code::NotPermitted, message).hint("Ask the account's owner for a key that may.").into())
}

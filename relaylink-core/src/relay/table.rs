use std::collections::HashMap;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::{Call, Relay, Run, Tx, tx::Frame};
use crate::{
    store::Session,
    tool::{
        Caller, Descriptor, Place, Stop, arguments,
        toolset::{ToolsetError, admit},
    },
};

type Arguments = Map<String, Json>;
type InTransaction = fn(&Descriptor, &mut dyn Session, &Call, &mut Frame, Arguments) -> Result<Json, Stop>;
type AsCall =
    for<'c> fn(&'c Relay, &'c Descriptor, &'c Caller, Arguments) -> BoxFuture<'c, Result<Json, Stop>>;

/// A `Run` tool as plain functions, without state: so that a Relay does not hold itself.
pub(crate) struct RunEntry {
    pub(crate) descriptor: std::sync::Arc<Descriptor>,
    /// Runs it within an open transaction.
    pub(crate) within: InTransaction,
    /// Runs it as a call of its own.
    pub(crate) outside: AsCall,
}

/// The tools a Relay knows, each room's added by that room.
#[derive(Default)]
pub(crate) struct Table {
    entries: Vec<RunEntry>,
    index: HashMap<&'static str, usize>,
    place: Place,
    error: Option<ToolsetError>,
}

impl Table {
    /// What is added from here on belongs to this room, and to no other set.
    #[must_use]
    pub(crate) fn room(mut self, name: &'static str) -> Self {
        self.place = Place::room(name);
        self
    }

    /// What is added from here on belongs to no room.
    #[must_use]
    pub(crate) fn outside(mut self) -> Self {
        self.place = Place::default();
        self
    }

    /// What is added from here on, in this room, is in these sets too.
    #[must_use]
    pub(crate) fn also(mut self, sets: &'static [&'static str]) -> Self {
        self.place.sets = sets;
        self
    }

    /// Adds a tool.
    #[must_use]
    pub(crate) fn tool<T: Run + DeserializeOwned + JsonSchema>(mut self) -> Self {
        match Descriptor::of::<T, T::Reply>(self.place) {
            Ok(descriptor) => {
                if self.index.insert(T::NAME, self.entries.len()).is_some() {
                    self.error.get_or_insert(ToolsetError::SameName(T::NAME));
                }
                self.entries.push(RunEntry {
                    descriptor: std::sync::Arc::new(descriptor),
                    within: |descriptor, session, call, frame, arguments| {
                        let tool: T = arguments::read(descriptor, arguments)?;
                        let reply = tool.run(&mut Tx::new(session, call, frame))?;
                        arguments::write(&reply)
                    },
                    outside: |relay, descriptor, caller, arguments| {
                        Box::pin(async move {
                            admit(caller, T::NAME, T::EFFECTS, descriptor.why)?;
                            let tool: T = arguments::read(descriptor, arguments)?;
                            arguments::write(&relay.admitted(caller, tool).await?)
                        })
                    },
                });
            }
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
        self
    }

    /// Says why the tool added last does what its purpose does not tell.
    #[must_use]
    pub(crate) fn why(mut self, clause: &'static str) -> Self {
        if let Some(entry) = self.entries.last_mut() {
            std::sync::Arc::make_mut(&mut entry.descriptor).why = Some(clause);
        }
        self
    }

    /// The table, unless a tool could not be added.
    pub(crate) fn checked(self) -> Result<Self, ToolsetError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&RunEntry> {
        self.index.get(name).map(|&at| &self.entries[at])
    }

    pub(crate) fn entries(&self) -> &[RunEntry] {
        &self.entries
    }
}

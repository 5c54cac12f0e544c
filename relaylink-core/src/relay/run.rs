use std::{marker::PhantomData, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value as Json};

use super::{
    Call, Clock, Seeds, SystemClock, SystemSeeds, Table, Timestamp, Tx, key_use::KeyUse, keys, tx::Frame,
};
use crate::{
    mail::Post,
    store::{self, Access, Request, Session, Store},
    tool::{
        Caller, Cx, Handle, Refusal, Stop, Tool, Toolset,
        toolset::{CallError, ToolsetError, admit},
    },
};

/// A tool over RelayLink's own storage, done in one transaction.
#[diagnostic::on_unimplemented(
    message = "the tool `{Self}` does not say what it does in a transaction",
    note = "implement `Run` for it: `fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Self::Reply, Stop>`"
)]
pub trait Run: Tool {
    /// What it answers.
    type Reply: Serialize + JsonSchema + Send + 'static;

    /// Does it. It may be run again from the start, on a fresh transaction, with the same clock and ids.
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Self::Reply, Stop>;
}

/// Over a Relay a tool is a [`Run`] and nothing else: one that were handed the Relay itself could do all that
/// any caller may, whatever its effects say. Since this crate alone may say what `ByRun` of a type is, an
/// impl of `Handle<Relay>` by hand overlaps with this one.
impl<T: Tool> Handle<Relay> for T
where
    ByRun<T>: Runs<Tool = T>,
{
    type Reply = <ByRun<T> as Runs>::Reply;

    async fn handle(self, cx: Cx<'_, Self, Relay>) -> Result<Self::Reply, Stop> {
        <ByRun<T> as Runs>::run(self, cx.state, cx.caller).await
    }
}

/// A tool as what it does in a transaction.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "there is none of it")]
pub struct ByRun<T>(PhantomData<T>);

/// See the impl of [`Handle`] for [`Relay`].
#[doc(hidden)]
pub trait Runs {
    type Tool;
    type Reply: Serialize + JsonSchema + Send + 'static;
    fn run(
        tool: Self::Tool,
        relay: &Relay,
        caller: &Caller,
    ) -> impl Future<Output = Result<Self::Reply, Stop>> + Send;
}

impl<T: Run> Runs for ByRun<T> {
    type Tool = T;
    type Reply = T::Reply;

    async fn run(tool: T, relay: &Relay, caller: &Caller) -> Result<T::Reply, Stop> {
        relay.admitted(caller, tool).await
    }
}

/// RelayLink over a store. Cheap to clone.
#[derive(Clone)]
pub struct Relay(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    seeds: Arc<dyn Seeds>,
    post: Post,
    tools: Arc<Table>,
    key_use: KeyUse,
}

/// Puts a [`Relay`] together.
pub struct RelayBuilder {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    seeds: Arc<dyn Seeds>,
    post: Post,
    tools: Table,
}

impl RelayBuilder {
    /// Another clock than the machine's.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Another source of randomness than the machine's.
    #[must_use]
    pub fn seeds(mut self, seeds: impl Seeds) -> Self {
        self.seeds = Arc::new(seeds);
        self
    }

    /// Whom its mail is from, and the courier to wake when there is some.
    #[must_use]
    pub fn post(mut self, post: Post) -> Self {
        self.post = post;
        self
    }

    /// Adds a tool of yours that runs over the same storage.
    #[must_use]
    pub fn tool<T: Run + DeserializeOwned + JsonSchema>(mut self) -> Self {
        self.tools = self.tools.tool::<T>();
        self
    }

    /// The Relay; an error where two tools bear one name, a tool's hints do not hold, or a schema cannot be
    /// published.
    pub fn build(self) -> Result<Relay, ToolsetError> {
        Ok(Relay(Arc::new(Inner {
            store: self.store,
            clock: self.clock,
            seeds: self.seeds,
            post: self.post,
            tools: Arc::new(self.tools.checked()?),
            key_use: KeyUse::default(),
        })))
    }
}

impl Relay {
    /// RelayLink over this store, with all its tools.
    pub fn builder(store: Arc<dyn Store>) -> RelayBuilder {
        RelayBuilder {
            store,
            clock: Arc::new(SystemClock),
            seeds: Arc::new(SystemSeeds),
            post: Post::default(),
            tools: crate::rooms(Table::default()).outside(),
        }
    }

    /// RelayLink over this store, with the machine's clock and randomness.
    pub fn new(store: Arc<dyn Store>) -> Result<Self, ToolsetError> {
        Self::builder(store).build()
    }

    /// All its tools, as a client is offered them.
    pub fn toolset(&self) -> Toolset {
        let entries = self.0.tools.entries().iter().enumerate().map(|(at, entry)| {
            let relay = self.clone();
            let dispatch: crate::tool::toolset::Dispatch = Arc::new(move |caller, arguments| {
                let relay = relay.clone();
                let caller = caller.clone();
                Box::pin(async move {
                    let entry = &relay.0.tools.entries()[at];
                    (entry.outside)(&relay, &entry.descriptor, &caller, arguments).await
                })
            });
            (Arc::clone(&entry.descriptor), dispatch)
        });
        Toolset::from_entries(entries)
    }

    /// Runs a tool as `caller`.
    pub async fn run<T: Run>(&self, caller: &Caller, tool: T) -> Result<T::Reply, Stop> {
        let why = self.0.tools.get(T::NAME).and_then(|entry| entry.descriptor.why);
        admit(caller, T::NAME, T::EFFECTS, why)?;
        self.admitted(caller, tool).await
    }

    /// Runs a tool that is within the ceiling of `caller`.
    pub(super) async fn admitted<T: Run>(&self, caller: &Caller, tool: T) -> Result<T::Reply, Stop> {
        self.transact(caller, Access::of(T::EFFECTS), move |session, call, frame| {
            tool.run(&mut Tx::new(session, call, frame))
        })
        .await
    }

    /// Runs the tool of this name as `caller`.
    pub async fn call(
        &self,
        caller: &Caller,
        name: &str,
        arguments: Map<String, Json>,
    ) -> Result<Json, CallError> {
        let Some(entry) = self.0.tools.get(name) else {
            return Err(CallError::unknown(name));
        };
        Ok((entry.outside)(self, &entry.descriptor, caller, arguments).await?)
    }

    /// One call's transaction: the key's row first, then `run`; commits unless it refuses or fails.
    /// Where a tool within it stopped, nothing stays, whatever the outer one says.
    pub(crate) async fn transact<R: Send + 'static>(
        &self,
        caller: &Caller,
        access: Access,
        run: impl Fn(&mut dyn Session, &Call, &mut Frame) -> Result<R, Stop> + Send + 'static,
    ) -> Result<R, Stop> {
        let call = Call {
            caller: caller.clone(),
            now: self.now(),
            seed: self.seed(),
            post: self.0.post.clone(),
            tools: Arc::clone(&self.0.tools),
        };
        let now = call.now;
        let request = Request::new(access, Arc::clone(&caller.account));
        let once = move |session: &mut dyn Session| {
            let mut frame = Frame::default();
            let result = keys::admit(session, &call).and_then(|()| run(session, &call, &mut frame));
            match (result, frame.stopped()) {
                (Ok(_), Some(stop)) | (Err(stop), Some(_)) => Err(undone(stop)),
                (result, None) => result,
            }
        };
        let result = store::transact(self.store(), request, once, stays).await;
        if access.mails && stays(&result) {
            self.0.post.ring();
        }
        if result.is_ok() {
            self.0.key_use.note(caller, now);
        }
        result
    }

    /// What everything is kept in.
    pub(super) fn store(&self) -> &dyn Store {
        &*self.0.store
    }

    /// The present moment, by this Relay's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Sixteen fresh bytes, from this Relay's randomness.
    pub(crate) fn seed(&self) -> [u8; 16] {
        self.0.seeds.seed()
    }

    /// When the keys were last used, as far as it is not in the store yet.
    pub(super) fn key_use(&self) -> &KeyUse {
        &self.0.key_use
    }
}

/// The stop of a call that is not to stay.
fn undone(stop: Stop) -> Stop {
    match stop {
        Stop::Refused(refusal) => Refusal { keep: false, ..refusal }.into(),
        stop => stop,
    }
}

/// Whether what a call did is to stay.
fn stays<R>(result: &Result<R, Stop>) -> bool {
    matches!(result, Ok(_) | Err(Stop::Refused(Refusal { keep: true, .. })))
}

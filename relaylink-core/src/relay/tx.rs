use std::{marker::PhantomData, sync::Arc};

use super::{Id, Reading, Run, Since, Table, Timestamp, ids, since};
use crate::{
    mail::{self, Letter, Post},
    store::{Access, Remove, Row, Select, Session, StoreError, Value, Write},
    tool::{Caller, Code, EffectInfo, ExternalMail, Grade, May, Removes, Stop, Tool, Within, Writes},
};
use serde_json::{Map, Value as Json};

/// What is fixed for a call before its first run.
pub(crate) struct Call {
    /// Who calls.
    pub(crate) caller: Caller,
    /// When.
    pub(crate) now: Timestamp,
    pub(crate) seed: [u8; 16],
    pub(crate) post: Post,
    pub(crate) tools: Arc<Table>,
}

/// What happens in one run of a call.
#[derive(Default)]
pub(crate) struct Frame {
    /// Ids given out so far.
    minted: u32,
    /// Its place in the order of commits, once asked for.
    stamp: Option<i64>,
    /// Why a tool within this one stopped: the whole does not stay, whatever becomes of it.
    stopped: Option<Stop>,
    /// The tools within this one that have begun and not ended.
    open: u32,
}

impl Frame {
    /// Why a tool within this one stopped, if one did; one that never ended has panicked.
    pub(crate) fn stopped(self) -> Option<Stop> {
        self.stopped.or_else(|| (self.open > 0).then(|| StoreError::Panicked.into()))
    }

    /// A new id for this call.
    pub(crate) fn new_id<I: Id>(&mut self, call: &Call) -> I {
        let id = ids::mint(I::PREFIX, call.now, call.seed, self.minted);
        self.minted += 1;
        I::from_minted(id)
    }
}

/// An open transaction in the hands of the tool `T`. What it can do follows from the tool's effects.
pub struct Tx<'a, T> {
    session: &'a mut dyn Session,
    call: &'a Call,
    frame: &'a mut Frame,
    tool: PhantomData<fn() -> T>,
}

impl<'a, T: Tool> Tx<'a, T> {
    pub(crate) fn new(session: &'a mut dyn Session, call: &'a Call, frame: &'a mut Frame) -> Self {
        Self { session, call, frame, tool: PhantomData }
    }

    /// Who calls, who may do no more than what the tool lists, wherever the tool takes it.
    pub fn caller(&self) -> Caller {
        self.call.caller.within(T::EFFECTS)
    }

    /// Who calls, with all that may be done by the credential: for telling it, never for a call.
    pub(crate) fn whole_caller(&self) -> &'a Caller {
        &self.call.caller
    }

    /// The caller's account, as its id is written.
    pub fn account(&self) -> &'a str {
        &self.call.caller.account
    }

    /// When the call was made. The same at every run.
    pub fn now(&self) -> Timestamp {
        self.call.now
    }

    /// A new id; those of one call sort in the order they were made. The same at every run.
    pub fn new_id<I: Id>(&mut self) -> I {
        self.frame.new_id(self.call)
    }

    /// Reads rows.
    pub fn select(&mut self, statement: &'static Select, parameters: &[Value]) -> Result<Vec<Row>, Stop> {
        Ok(self.session.query(statement.statement(), parameters)?)
    }

    /// Inserts or updates rows and counts them.
    pub fn write(&mut self, statement: &'static Write, parameters: &[Value]) -> Result<u64, Stop>
    where
        T: May<Writes>,
    {
        Ok(self.session.execute(statement.statement(), parameters)?)
    }

    /// Inserts or updates rows and collects what RETURNING answers.
    pub fn write_returning(
        &mut self,
        statement: &'static Write,
        parameters: &[Value],
    ) -> Result<Vec<Row>, Stop>
    where
        T: May<Writes>,
    {
        Ok(self.session.query(statement.statement(), parameters)?)
    }

    /// Deletes rows and counts them.
    pub fn remove(&mut self, statement: &'static Remove, parameters: &[Value]) -> Result<u64, Stop>
    where
        T: May<Removes>,
    {
        Ok(self.session.execute(statement.statement(), parameters)?)
    }

    /// Deletes rows and collects what RETURNING answers.
    pub fn remove_returning(
        &mut self,
        statement: &'static Remove,
        parameters: &[Value],
    ) -> Result<Vec<Row>, Stop>
    where
        T: May<Removes>,
    {
        Ok(self.session.query(statement.statement(), parameters)?)
    }

    /// This call's place in the order of commits, to be kept beside what it changes: see [`Since`].
    pub fn stamp(&mut self) -> Result<i64, Stop>
    where
        T: May<Writes>,
    {
        if let Some(stamp) = self.frame.stamp {
            return Ok(stamp);
        }
        let stamp = since::stamp(self.session)?;
        self.frame.stamp = Some(stamp);
        Ok(stamp)
    }

    /// The cursor behind all that this call sees: see [`Since`].
    pub fn since(&mut self) -> Result<Since, Stop> {
        since::now(self.session, self.frame.stamp)
    }

    /// A cursor as the parameter of a statement that asks for what is behind it. One of another store,
    /// or of this one before it was restored, is refused as stale.
    pub fn behind(&mut self, since: &Since) -> Result<Value, Stop> {
        since::place(self.session, since)
    }

    /// Puts a letter in the outbox; the courier takes it out after the commit.
    pub fn mail(&mut self, letter: Letter) -> Result<(), Stop>
    where
        T: May<ExternalMail>,
    {
        let id = self.new_id();
        mail::queue(self.session, self.call, &id, letter)
    }

    /// Runs another tool within this one, held to that tool's own effects. Compiles where this
    /// one's effects cover them. Whatever stops the inner tool undoes the whole
    /// call, and is its answer where this tool gives none.
    pub fn perform<U: Run + Within<T>>(&mut self, inner: &U) -> Result<U::Reply, Stop> {
        let access = Access::of(U::EFFECTS);
        self.within(access, |session, call, frame| inner.run(&mut Tx::new(session, call, frame)))
    }

    /// Runs the tool of this name within this one, as [`perform`](Self::perform) does; what the
    /// compiler checks there is checked here when it runs, and the caller's ceiling with it.
    pub fn perform_named(&mut self, name: &str, arguments: Map<String, Json>) -> Result<Json, Stop> {
        let table = Arc::clone(&self.call.tools);
        let Some(entry) = table.get(name) else {
            return Err(Stop::refuse(Code::NotFound, format!("There is no tool `{name}` to run.")));
        };
        let effects = entry.descriptor.effects;
        if !covers(T::EFFECTS, effects) || self.call.caller.ceiling.grade(effects) != Grade::Allow {
            return Err(Stop::refuse(
                Code::NotPermitted,
                format!("`{name}` goes beyond what may be done here."),
            ));
        }
        self.within(Access::of(effects), |session, call, frame| {
            (entry.within)(&entry.descriptor, session, call, frame, arguments)
        })
    }

    fn within<R>(
        &mut self,
        access: Access,
        run: impl FnOnce(&mut dyn Session, &Call, &mut Frame) -> Result<R, Stop>,
    ) -> Result<R, Stop> {
        let before = self.session.restrict(access)?;
        self.frame.open += 1;
        let result = run(self.session, self.call, self.frame);
        self.frame.open -= 1;
        if let Err(stop) = &result {
            self.frame.stopped.get_or_insert_with(|| stop.clone());
        }
        self.session.restrict(before)?;
        result
    }

    /// The session itself, for tests of the engine's own refusals.
    #[cfg(feature = "unchecked")]
    pub fn session(&mut self) -> &mut dyn Session {
        self.session
    }

    /// The transaction for reading alone: for rooms that read also where no tool runs.
    pub(crate) fn reading(&mut self) -> Reading<'_> {
        Reading::over(self.session)
    }
}

/// Whether every inner effect is among the outer ones.
pub(crate) fn covers(outer: &[EffectInfo], inner: &[EffectInfo]) -> bool {
    inner.iter().all(|effect| outer.contains(effect))
}

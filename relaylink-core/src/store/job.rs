//! A work on its way to a thread of a store's.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use tokio::sync::oneshot;

use super::{Access, StoreError, Verdict, Work};

/// A work and who waits for it.
pub(super) struct Job {
    pub(super) access: Access,
    pub(super) work: Work,
    /// When it was handed over.
    pub(super) since: Instant,
    answer: oneshot::Sender<Result<Verdict, StoreError>>,
}

impl Job {
    /// A job, and where its answer will come.
    pub(super) fn new(access: Access, work: Work) -> (Self, oneshot::Receiver<Result<Verdict, StoreError>>) {
        let (answer, answered) = oneshot::channel();
        (Self { access, work, since: Instant::now(), answer }, answered)
    }

    /// Whether nobody waits any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    /// Tells how it ended.
    pub(super) fn answer(self, result: Result<Verdict, StoreError>) {
        let answer = self.discard();
        // Whoever stopped waiting needs no answer.
        let _ = answer.send(result);
    }

    /// Drops the work, whose own drop may panic.
    pub(super) fn discard(self) -> oneshot::Sender<Result<Verdict, StoreError>> {
        let Self { work, answer, .. } = self;
        let _ = catch_unwind(AssertUnwindSafe(move || drop(work)));
        answer
    }
}

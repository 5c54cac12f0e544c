//! Works that wait for a thread.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::store::{StoreError, job::Job};

/// A queue between callers and threads.
pub(super) struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
    bound: usize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    closed: bool,
    waiting: usize,
}

impl Queue {
    pub(super) fn new(bound: usize) -> Self {
        Self { state: Mutex::default(), arrived: Condvar::new(), bound }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job, unless it is full or closed.
    pub(super) fn push(&self, job: Job) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.closed {
            return Err(StoreError::Closed);
        }
        let mut gone = VecDeque::new();
        if state.jobs.len() >= self.bound {
            (gone, state.jobs) = std::mem::take(&mut state.jobs).into_iter().partition(Job::is_abandoned);
        }
        if state.jobs.len() >= self.bound {
            return Err(StoreError::Busy("too many calls wait"));
        }
        state.jobs.push_back(job);
        let wake = state.waiting > 0;
        drop(state);
        if wake {
            self.arrived.notify_one();
        }
        for job in gone {
            job.discard();
        }
        Ok(())
    }

    /// The next job that somebody waits for, if one is there.
    pub(super) fn try_pop(&self) -> Option<Job> {
        loop {
            // An abandoned one is dropped after the lock: it may hold the last handle of the store.
            let job = self.lock().jobs.pop_front()?;
            if !job.is_abandoned() {
                return Some(job);
            }
            job.discard();
        }
    }

    /// Waits for a job.
    pub(super) fn pop(&self, timeout: Option<Duration>) -> Popped {
        loop {
            if let Some(job) = self.try_pop() {
                return Popped::Job(job);
            }
            let mut state = self.lock();
            if !state.jobs.is_empty() {
                continue;
            }
            if state.closed {
                return Popped::Closed;
            }
            state.waiting += 1;
            let timed_out;
            (state, timed_out) = match timeout {
                Some(timeout) => {
                    let (state, result) =
                        self.arrived.wait_timeout(state, timeout).unwrap_or_else(PoisonError::into_inner);
                    (state, result.timed_out())
                }
                None => (self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner), false),
            };
            state.waiting -= 1;
            if timed_out && state.jobs.is_empty() && !state.closed {
                return Popped::Nothing;
            }
        }
    }

    /// Takes out the jobs that have waited this long.
    pub(super) fn expired(&self, limit: Duration) -> Vec<Job> {
        let mut state = self.lock();
        let (old, young) =
            std::mem::take(&mut state.jobs).into_iter().partition(|job| job.since.elapsed() >= limit);
        state.jobs = young;
        Vec::from(old)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Takes no more jobs; those that are in it are still done.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    /// Takes no more jobs and drops those that are in it.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.closed = true;
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        for job in jobs {
            job.discard();
        }
        self.arrived.notify_all();
    }
}

/// What came of waiting for a job.
pub(super) enum Popped {
    Job(Job),
    /// None came in time.
    Nothing,
    /// None will come.
    Closed,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Access, Verdict};

    struct PanicsWhenDropped;

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "dropped");
        }
    }

    #[test]
    fn a_work_that_panics_when_it_is_dropped_harms_no_other() {
        let queue = Queue::new(2);
        let answers: Vec<_> = (0..2)
            .map(|_| {
                let held = PanicsWhenDropped;
                let (job, answer) = Job::new(
                    Access::READ,
                    Box::new(move |_| {
                        let _ = &held;
                        Verdict::Commit
                    }),
                );
                queue.push(job).unwrap();
                answer
            })
            .collect();
        queue.abandon();
        assert!(answers.into_iter().all(|mut answer| answer.try_recv().is_err()));
        assert!(matches!(queue.pop(None), Popped::Closed));
    }
}

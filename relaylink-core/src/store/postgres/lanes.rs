//! Works that wait for a connection: reads as they came, and an account's writes one after another,
//! since two at once would only undo each other.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::store::{StoreError, job::Job};

pub(super) struct Lanes {
    state: Mutex<State>,
    arrived: Condvar,
    bound: usize,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Ready>,
    /// The accounts of which a write waits or is being done. One that is being done is not in here.
    lanes: HashMap<Arc<str>, VecDeque<Job>>,
    waiting: usize,
    closed: bool,
}

enum Ready {
    Read(Job),
    Lane(Arc<str>),
}

/// A job in a worker's hands. Dropped, it lets the next of its account go.
pub(super) struct Taken<'l> {
    lanes: &'l Lanes,
    lane: Option<Arc<str>>,
    job: Option<Job>,
}

impl Lanes {
    pub(super) fn new(bound: usize) -> Self {
        Self { state: Mutex::default(), arrived: Condvar::new(), bound }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job of this account, unless too many wait or it is closed.
    pub(super) fn push(&self, account: &Arc<str>, job: Job) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.closed {
            return Err(StoreError::Closed);
        }
        if state.waiting >= self.bound {
            return Err(StoreError::Busy("too many calls wait"));
        }
        state.waiting += 1;
        if job.access.is_read() {
            state.ready.push_back(Ready::Read(job));
        } else {
            match state.lanes.entry(Arc::clone(account)) {
                Entry::Occupied(mut lane) => {
                    lane.get_mut().push_back(job);
                    return Ok(());
                }
                Entry::Vacant(lane) => {
                    lane.insert(VecDeque::from([job]));
                    state.ready.push_back(Ready::Lane(Arc::clone(account)));
                }
            }
        }
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Waits for a job that may be done now; none once it is closed and empty.
    pub(super) fn pop(&self) -> Option<Taken<'_>> {
        let mut state = self.lock();
        loop {
            let (job, lane) = match state.ready.pop_front() {
                Some(Ready::Read(job)) => (Some(job), None),
                Some(Ready::Lane(lane)) => {
                    (state.lanes.get_mut(&lane).and_then(VecDeque::pop_front), Some(lane))
                }
                None if state.closed && state.waiting == 0 => return None,
                None => {
                    state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
            };
            state.waiting -= usize::from(job.is_some());
            return Some(Taken { lanes: self, lane, job });
        }
    }

    /// Takes no more jobs; those that wait are still done.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }
}

impl Taken<'_> {
    /// The job itself; its account's next one waits until this is dropped.
    pub(super) fn job(&mut self) -> Option<Job> {
        self.job.take()
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let Some(lane) = self.lane.take() else { return };
        let mut state = self.lanes.lock();
        match state.lanes.entry(lane) {
            Entry::Occupied(waiting) if waiting.get().is_empty() => drop(waiting.remove()),
            Entry::Occupied(waiting) => {
                let lane = Arc::clone(waiting.key());
                state.ready.push_back(Ready::Lane(lane));
            }
            Entry::Vacant(_) => {}
        }
        let closing = state.closed;
        drop(state);
        if closing { self.lanes.arrived.notify_all() } else { self.lanes.arrived.notify_one() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Access, Verdict};

    fn job(access: Access) -> Job {
        // Kept: a job that nobody waits for is not done.
        let (job, answered) = Job::new(access, Box::new(|_| Verdict::Commit));
        std::mem::forget(answered);
        job
    }

    fn push(lanes: &Lanes, account: &str, access: Access) -> Result<(), StoreError> {
        lanes.push(&account.into(), job(access))
    }

    #[test]
    fn an_accounts_writes_go_one_after_another_and_its_reads_beside_them() {
        let lanes = Lanes::new(10);
        for (account, access) in
            [("ana", Access::ALL), ("ana", Access::ALL), ("ben", Access::ALL), ("ana", Access::READ)]
        {
            push(&lanes, account, access).unwrap();
        }
        let first = lanes.pop().unwrap();
        assert_eq!(first.lane.as_deref(), Some("ana"));
        let second = lanes.pop().unwrap();
        assert_eq!(second.lane.as_deref(), Some("ben"));
        let third = lanes.pop().unwrap();
        assert!(third.lane.is_none());
        assert!(lanes.lock().ready.is_empty(), "the second write of ana waits for the first");
        drop(first);
        assert_eq!(lanes.pop().unwrap().lane.as_deref(), Some("ana"));
        drop((second, third));
        assert!(lanes.lock().lanes.is_empty());
    }

    #[test]
    fn a_full_queue_refuses_and_a_closed_one_gives_what_is_left() {
        let lanes = Lanes::new(2);
        push(&lanes, "ana", Access::ALL).unwrap();
        push(&lanes, "ana", Access::ALL).unwrap();
        assert!(matches!(push(&lanes, "ben", Access::READ), Err(StoreError::Busy(_))));
        lanes.close();
        assert_eq!(push(&lanes, "ben", Access::READ), Err(StoreError::Closed));
        for _ in 0..2 {
            assert!(lanes.pop().unwrap().job().is_some());
        }
        assert!(lanes.pop().is_none());
    }
}

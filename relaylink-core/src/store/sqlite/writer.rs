//! Writes: one thread that commits in groups.
//!
//! A group is run bare, in the hope that all of it stays: a work that refuses before it changed a
//! row costs nothing. Where one that has must be undone, the group is run again with a savepoint
//! for each work (which is slow: the full-text index flushes at each), and where the engine ended
//! the transaction or the commit failed, each work runs alone. Every answer goes out after the
//! commit, refusals too: they may rest on a neighbour's row.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use super::{
    Counters,
    connection::Conn,
    options::{GATHERING, GROUP, IDLE, PAUSE},
    queue::{Popped, Queue},
    session,
};
use crate::store::{StoreError, Verdict, job::Job};

/// The writer's thread.
pub(super) struct Writer {
    pub(super) conn: Conn,
    pub(super) queue: Arc<Queue>,
    pub(super) counters: Arc<Counters>,
    /// How long a work waits for other processes in all.
    pub(super) patience: Duration,
    /// How long one work may take.
    pub(super) deadline: Duration,
}

/// A work's place in its group.
struct Member {
    job: Job,
    result: Result<Verdict, StoreError>,
}

impl Writer {
    pub(super) fn serve(mut self) -> Conn {
        // Whatever ends this thread, nobody waits for it afterwards.
        let queue = Arc::clone(&self.queue);
        let _closing = Closing(&queue);
        let mut group = Vec::new();
        let mut dirty = false;
        loop {
            match self.queue.pop(dirty.then_some(IDLE)) {
                Popped::Job(job) => {
                    dirty = true;
                    group.push(Member { job, result: Err(StoreError::Unknown) });
                    self.optimistic(&mut group);
                    for member in group.drain(..) {
                        member.job.answer(member.result);
                    }
                }
                Popped::Nothing => {
                    dirty = false;
                    self.checkpoint();
                }
                Popped::Closed => return self.conn,
            }
        }
    }

    /// Runs the group bare, with what arrives meanwhile.
    fn optimistic(&mut self, group: &mut Vec<Member>) {
        if !self.begin(group) {
            return;
        }
        let start = Instant::now();
        let mut wrote = false;
        let mut at = 0;
        while let Some(member) = group.get_mut(at) {
            let ran = self.run(member);
            if self.conn.raw.is_autocommit() {
                return self.each_alone(group);
            }
            if ran.undo && ran.wrote {
                self.conn.roll_back();
                return self.with_savepoints(group);
            }
            wrote |= ran.wrote;
            at += 1;
            if at == group.len()
                && at < GROUP
                && start.elapsed() < GATHERING
                && let Some(job) = self.queue.try_pop()
            {
                group.push(Member { job, result: Err(StoreError::Unknown) });
            }
        }
        if self.commit(wrote).is_err() {
            self.each_alone(group);
        }
    }

    /// Runs the group with a savepoint for each work.
    fn with_savepoints(&mut self, group: &mut Vec<Member>) {
        self.counters.reruns.fetch_add(1, Relaxed);
        if !self.begin(group) {
            return;
        }
        let mut wrote = false;
        for member in group.iter_mut() {
            let Ok(ran) = self.saved(member) else {
                self.conn.roll_back();
                return self.each_alone(group);
            };
            wrote |= ran.wrote && !ran.undo;
        }
        if self.commit(wrote).is_err() {
            self.each_alone(group);
        }
    }

    /// Runs one work in a savepoint. An error where the transaction is lost.
    fn saved(&mut self, member: &mut Member) -> Result<Undo, StoreError> {
        self.conn.run("SAVEPOINT work")?;
        let ran = self.run(member);
        if ran.undo {
            self.conn.run("ROLLBACK TO work")?;
        }
        self.conn.run("RELEASE work")?;
        Ok(ran)
    }

    /// Runs each work in a transaction of its own.
    fn each_alone(&mut self, group: &mut Vec<Member>) {
        self.counters.reruns.fetch_add(1, Relaxed);
        for member in std::mem::take(group) {
            let mut alone = vec![member];
            if self.begin(&mut alone) {
                for member in &mut alone {
                    let ran = self.run(member);
                    if ran.undo || self.conn.raw.is_autocommit() {
                        self.conn.roll_back();
                    } else if let Err(error) = self.commit(ran.wrote) {
                        member.result = Err(match error {
                            // The sync failed: what was written may be found after a crash, or not.
                            StoreError::Engine(_) => StoreError::Unknown,
                            error => error,
                        });
                    }
                }
            }
            group.append(&mut alone);
        }
    }

    /// Begins a transaction. False where it cannot be had: then every member has been answered.
    fn begin(&mut self, group: &mut Vec<Member>) -> bool {
        loop {
            let error = match self.conn.run("BEGIN IMMEDIATE") {
                Ok(()) => return true,
                Err(error) => error,
            };
            self.conn.roll_back();
            let patience = if self.queue.is_closed() || !matches!(error, StoreError::Busy(_)) {
                Duration::ZERO
            } else {
                self.patience
            };
            for job in self.queue.expired(patience) {
                job.answer(Err(error.clone()));
            }
            for member in group.extract_if(.., |member| member.job.since.elapsed() >= patience) {
                member.job.answer(Err(error.clone()));
            }
            if group.is_empty() {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }

    fn commit(&self, wrote: bool) -> Result<(), StoreError> {
        match self.conn.run("COMMIT") {
            Ok(()) => {
                self.counters.commits.fetch_add(u64::from(wrote), Relaxed);
                Ok(())
            }
            Err(error) => {
                self.conn.roll_back();
                Err(error)
            }
        }
    }

    fn run(&mut self, member: &mut Member) -> Undo {
        self.conn.meter.set(None, Some(Instant::now() + self.deadline));
        let ran = session::run(&mut self.conn, member.job.access, &mut member.job.work);
        self.conn.meter.set(None, None);
        let undo = !ran.stays();
        member.result = ran.result;
        Undo { undo, wrote: ran.wrote }
    }

    /// Moves the log of changes into the file, as far as no reader holds it; waits for nobody.
    fn checkpoint(&self) {
        if let Err(error) = self.conn.raw.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())) {
            tracing::warn!(%error, "the log of changes could not be moved into the file");
        }
    }
}

/// What a run left behind.
struct Undo {
    /// It must not stay.
    undo: bool,
    /// It may have changed rows.
    wrote: bool,
}

struct Closing<'q>(&'q Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

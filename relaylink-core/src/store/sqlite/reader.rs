//! Reads: on the caller's own thread within a budget, or on a thread of the store's within a deadline.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::{
    connection::Conn,
    queue::{Popped, Queue},
    session::{self, Ran},
};
use crate::store::{Access, StoreError, Verdict, Work};

/// The connections for reads on callers' own threads. Held for one read, never across an await.
pub(super) struct Inline {
    idle: Mutex<Vec<Conn>>,
    budget: u32,
}

impl Inline {
    pub(super) fn new(connections: Vec<Conn>, budget: u32) -> Self {
        Self { idle: Mutex::new(connections), budget }
    }

    /// Runs the read here and now. None where no connection is free, or where it outgrew its
    /// budget or met a lock: then a thread of the store's is to run it, from the start.
    pub(super) fn run(&self, access: Access, work: &mut Work) -> Option<Result<Verdict, StoreError>> {
        let mut conn = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        conn.meter.set(Some(self.budget), None);
        let ran = read(&mut conn, access, work);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
        match ran.result {
            Err(StoreError::Busy(_)) => None,
            result => Some(result),
        }
    }

    /// Closes the connections.
    pub(super) fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// One work in a read transaction.
fn read(conn: &mut Conn, access: Access, work: &mut Work) -> Ran {
    if let Err(error) = conn.run("BEGIN") {
        return Ran { result: Err(error), wrote: false };
    }
    let ran = session::run(conn, access, work);
    conn.meter.set(None, None);
    conn.roll_back();
    ran
}

/// A reader's thread.
pub(super) fn serve(mut conn: Conn, queue: &Queue, deadline: Duration) -> Conn {
    loop {
        let mut job = match queue.pop(None) {
            Popped::Job(job) => job,
            Popped::Nothing => continue,
            Popped::Closed => return conn,
        };
        let until = job.since + deadline;
        if Instant::now() >= until {
            job.answer(Err(StoreError::Busy("it waited too long for a reader")));
            continue;
        }
        conn.meter.set(None, Some(until));
        let ran = read(&mut conn, job.access, &mut job.work);
        job.answer(ran.result);
    }
}

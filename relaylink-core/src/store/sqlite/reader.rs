//! Reads: on the caller's own thread within a budget, or on a thread of the store's within a deadline.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
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
    /// None once they are closed.
    idle: Mutex<Option<Vec<Conn>>>,
    budget: u32,
    time: Duration,
}

impl Inline {
    pub(super) fn new(connections: Vec<Conn>, budget: u32, time: Duration) -> Self {
        Self { idle: Mutex::new(Some(connections)), budget, time }
    }

    fn idle(&self) -> MutexGuard<'_, Option<Vec<Conn>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the read here and now. None where no connection is free, or where it outgrew its
    /// budget or met a lock: then a thread of the store's is to run it, from the start.
    pub(super) fn run(&self, access: Access, work: &mut Work) -> Option<Result<Verdict, StoreError>> {
        let mut conn = self.idle().as_mut()?.pop()?;
        conn.meter.set(Some(self.budget), Some(Instant::now() + self.time));
        let ran = read(&mut conn, access, work);
        if let Some(idle) = &mut *self.idle() {
            idle.push(conn);
        }
        match ran.result {
            Err(StoreError::Busy(_) | StoreError::TooLong) => None,
            result => Some(result),
        }
    }

    /// Closes the connections; one that a read holds is closed after it.
    pub(super) fn close(&self) {
        drop(self.idle().take());
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{
        super::{connection::Role, migrate::migrate},
        *,
    };

    #[test]
    fn a_read_that_outlives_the_store_leaves_no_connection_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.db");
        let second = Duration::from_secs(1);
        drop(migrate(&path, &[], second, second).unwrap());
        let conn = Conn::open(&path, Role::Reader, Duration::ZERO).unwrap();
        let open = Arc::downgrade(&conn.meter);
        let inline = Arc::new(Inline::new(vec![conn], 50_000, second));
        let closed = Arc::clone(&inline);
        let mut work: Work = Box::new(move |_| {
            closed.close();
            Verdict::Commit
        });
        assert_eq!(inline.run(Access::READ, &mut work), Some(Ok(Verdict::Commit)));
        assert!(open.upgrade().is_none(), "its connection was put back after the store was closed");
        assert_eq!(inline.run(Access::READ, &mut work), None);
    }
}

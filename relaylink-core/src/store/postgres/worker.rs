//! A connection's thread: it takes works and carries them out, again where the database asks for it.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::{
    Counters,
    address::Address,
    connection::{Fault, Link},
    lanes::Lanes,
    roles::Roles,
    session::{self, Ran},
};
use crate::store::{StoreError, Verdict, job::Job};

/// The pause before the first repeat; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(2);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(250);

pub(super) struct Worker {
    pub(super) address: Address,
    pub(super) roles: Arc<Roles>,
    pub(super) lanes: Arc<Lanes>,
    pub(super) counters: Arc<Counters>,
    pub(super) patience: Duration,
}

impl Worker {
    pub(super) fn serve(self) {
        let mut link = None;
        while let Some(mut taken) = self.lanes.pop() {
            let Some(mut job) = taken.job() else { continue };
            if job.is_abandoned() {
                continue;
            }
            if job.since.elapsed() > self.patience {
                job.answer(Err(StoreError::Busy("too many calls wait")));
                continue;
            }
            let (result, open) = self.carry_out(&mut link, &mut job);
            job.answer(result);
            if open {
                // Nobody waits for the end of a read.
                close(&mut link, "COMMIT");
            }
        }
    }

    /// Runs a work until it has ended, or for as long as its caller has patience. Whether its
    /// transaction is still open is told beside its answer.
    fn carry_out(&self, link: &mut Option<Link>, job: &mut Job) -> (Result<Verdict, StoreError>, bool) {
        let until = job.since + self.patience;
        let mut pause = PAUSE;
        let mut broken = None;
        loop {
            let fault = match self.once(link, job) {
                Ok((verdict, open)) => return (Ok(verdict), open),
                Err(fault) => fault,
            };
            if fault.lost {
                *link = None;
            } else if fault.stale
                && let Some(link) = link
            {
                link.forget();
            }
            // A row that another transaction has put in meanwhile breaks a rule here, and is no conflict to
            // the database. Run again, the work sees it; told the same twice, it broke the rule by itself.
            let again = fault.again || (fault.broken.is_some() && fault.broken != broken);
            broken = fault.broken;
            let wait = jittered(pause);
            if !again || job.is_abandoned() || Instant::now() + wait > until {
                return (Err(fault.error), false);
            }
            self.counters.again();
            thread::sleep(wait);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Runs a work once, in a transaction of its own, and says whether that is still open.
    fn once(&self, link: &mut Option<Link>, job: &mut Job) -> Result<(Verdict, bool), Fault> {
        let writes = !job.access.is_read();
        if writes && link.as_ref().is_some_and(|link| link.read_only.is_some()) {
            // It may have been allowed again since, which only a new connection is told.
            *link = None;
        }
        let open = match link {
            Some(open) => open,
            None => link.insert(self.address.open()?),
        };
        if let Some(error) = open.read_only.clone().filter(|_| writes) {
            return Err(error.into());
        }
        let Ran { result, begun } = session::run(open, &self.roles, job.access, &mut job.work);
        if !begun {
            return result.map(|verdict| (verdict, false));
        }
        match result {
            Ok(verdict) if job.access.is_read() => Ok((verdict, true)),
            Ok(Verdict::Commit) => commit(open).map(|()| (Verdict::Commit, false)),
            Ok(Verdict::Rollback) => {
                close(link, "ROLLBACK");
                Ok((Verdict::Rollback, false))
            }
            Err(fault) => {
                if !fault.lost {
                    close(link, "ROLLBACK");
                }
                Err(fault)
            }
        }
    }
}

/// Ends a transaction of which nothing is to stay.
fn close(link: &mut Option<Link>, how: &str) {
    if let Some(open) = link
        && open.wait(open.client.batch_execute(how)).is_err()
    {
        // Its transaction ends with the connection.
        *link = None;
    }
}

fn commit(link: &Link) -> Result<(), Fault> {
    link.wait(link.client.batch_execute("COMMIT")).map_err(|fault| {
        if fault.lost {
            // It may have landed before the connection was lost.
            return Fault { error: StoreError::Unknown, again: false, ..fault };
        }
        fault
    })
}

/// Between a half of this and all of it, so that two that met do not meet again.
fn jittered(pause: Duration) -> Duration {
    let part = getrandom::u32().unwrap_or(u32::MAX / 2);
    pause / 2 + (pause / 2).mul_f64(f64::from(part) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_never_longer_than_said_and_never_none() {
        for _ in 0..1_000 {
            let pause = jittered(PAUSE);
            assert!(pause >= PAUSE / 2 && pause <= PAUSE, "{pause:?}");
        }
    }
}

//! A store that fails when it is told to.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use relaylink_core::store::{
    Access, Request, Row, Session, Statement, Store, StoreError, Value, Verdict, Work,
};

/// What goes wrong with the next transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// The n-th call of the session fails, and as a store promises each call after it.
    Fails(usize),
    /// The n-th call of the session fails alone: what the work then says is to be an undoing.
    FailsOnce(usize),
    /// The n-th call of the session panics.
    Panics(usize),
    /// The transaction does not begin.
    Busy,
    /// The commit fails.
    Commit,
    /// The commit lands and the answer is lost.
    Lost,
    /// Likewise with the next works that write, so many; reads go well.
    LostWrites(usize),
    /// The work is undone once and run again.
    Twice,
}

/// What the engine says in its own words. No client is to read it.
pub(crate) const ENGINE: &str = "disk I/O error in /var/lib/relaylink.db";

/// Another store, and what goes wrong with it.
pub(crate) struct Faulty {
    inner: Arc<dyn Store>,
    fault: Mutex<Fault>,
    calls: Arc<AtomicUsize>,
    swallowed: Arc<AtomicBool>,
}

impl Faulty {
    pub(crate) fn over(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            fault: Mutex::new(Fault::None),
            calls: Arc::default(),
            swallowed: Arc::default(),
        })
    }

    /// From now on this goes wrong.
    pub(crate) fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
        self.calls.store(0, Ordering::SeqCst);
    }

    /// What still goes wrong.
    pub(crate) fn fault(&self) -> Fault {
        *self.fault.lock().unwrap()
    }

    /// What goes wrong with this one.
    fn take(&self, request: &Request) -> Fault {
        let mut fault = self.fault.lock().unwrap();
        match *fault {
            Fault::LostWrites(left) if left > 0 && !request.access.is_read() => {
                *fault = Fault::LostWrites(left - 1);
                Fault::Lost
            }
            Fault::LostWrites(_) => Fault::None,
            fault => fault,
        }
    }

    /// How many calls its sessions have had since a fault was set.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Whether a work has ever wanted to commit after one of its calls had failed.
    pub(crate) fn swallowed(&self) -> bool {
        self.swallowed.load(Ordering::SeqCst)
    }
}

fn engine() -> StoreError {
    StoreError::Engine(ENGINE.to_owned())
}

#[async_trait::async_trait]
impl Store for Faulty {
    async fn transact(&self, request: Request, mut work: Work) -> Result<Verdict, StoreError> {
        let fault = self.take(&request);
        // A place to be dropped at before anything is asked for, and one after it is done.
        tokio::task::yield_now().await;
        let (calls, swallowed) = (Arc::clone(&self.calls), Arc::clone(&self.swallowed));
        let failed = Arc::new(AtomicBool::new(false));
        let fails = Arc::clone(&failed);
        let faulty: Work = Box::new(move |session| {
            // A store may run a work again from the start: what counts is its last run.
            calls.store(0, Ordering::SeqCst);
            fails.store(false, Ordering::SeqCst);
            let mut session = Failing { session, fault, calls: &calls, failed: false };
            let verdict = work(&mut session);
            if session.failed {
                fails.store(true, Ordering::SeqCst);
                if verdict == Verdict::Commit {
                    swallowed.store(true, Ordering::SeqCst);
                }
                return Verdict::Rollback;
            }
            if fault == Fault::Commit { Verdict::Rollback } else { verdict }
        });
        if fault == Fault::Busy {
            return Err(StoreError::Busy("told to be"));
        }
        let verdict = match fault {
            Fault::Twice => self.twice(request, faulty).await,
            _ => self.inner.transact(request, faulty).await,
        };
        tokio::task::yield_now().await;
        match fault {
            Fault::Fails(_) | Fault::FailsOnce(_) if failed.load(Ordering::SeqCst) => Err(engine()),
            Fault::Commit => verdict.and(Err(engine())),
            Fault::Lost => verdict.and(Err(StoreError::Unknown)),
            _ => verdict,
        }
    }
}

impl Faulty {
    async fn twice(&self, request: Request, work: Work) -> Result<Verdict, StoreError> {
        let work = Arc::new(Mutex::new(work));
        for last in [false, true] {
            let work = Arc::clone(&work);
            let again: Work = Box::new(move |session| {
                let verdict = (*work.lock().unwrap())(session);
                if last { verdict } else { Verdict::Rollback }
            });
            let verdict = self.inner.transact(request.clone(), again).await;
            if last || verdict.is_err() {
                return verdict;
            }
        }
        unreachable!()
    }
}

struct Failing<'a> {
    session: &'a mut dyn Session,
    fault: Fault,
    calls: &'a AtomicUsize,
    failed: bool,
}

impl Failing<'_> {
    fn call(&mut self) -> Result<(), StoreError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        match self.fault {
            Fault::Fails(_) if self.failed => return Err(engine()),
            Fault::Fails(n) | Fault::FailsOnce(n) if n == call => {
                self.failed = true;
                return Err(engine());
            }
            // Not `panic!`, which would print.
            Fault::Panics(n) if n == call => std::panic::resume_unwind(Box::new(ENGINE)),
            _ => {}
        }
        Ok(())
    }
}

impl Session for Failing<'_> {
    fn execute(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, StoreError> {
        self.call()?;
        self.session.execute(statement, parameters)
    }

    fn query(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, StoreError> {
        self.call()?;
        self.session.query(statement, parameters)
    }

    fn restrict(&mut self, access: Access) -> Result<Access, StoreError> {
        self.call()?;
        self.session.restrict(access)
    }
}

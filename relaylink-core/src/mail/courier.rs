use std::{
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::future::{self, Either};
use tokio::{sync::watch, task::JoinSet};

use super::{LetterState, Mailer, Outbox, Pace, Post, attempt::attempt, outbox, work::transact};
use crate::{
    relay::{Clock, Seeds, SystemSeeds, Timestamp},
    store::{Access, Session, Store, StoreError},
};

/// Takes letters out of the outbox and hands them to a [`Mailer`].
///
/// Several couriers may work on one store, in one process or in several: a letter is taken by one.
/// That an attempt begins is durable before it does; so where a courier is lost in the middle of
/// one, the letter is found, parked as [`LetterState::Unknown`], and sent again only by
/// [`Outbox::resend`]. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Courier(Arc<Inner>);

pub(super) struct Inner {
    pub(super) store: Arc<dyn Store>,
    pub(super) mailer: Arc<dyn Mailer>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) post: Post,
    pub(super) pace: Pace,
    /// Starts each of its leases: nobody else's starts so.
    name: String,
    claims: AtomicU64,
    strays: Mutex<Vec<Stray>>,
}

/// A claim whose answer was lost: it may have landed, or lands yet, and nobody acts on it.
#[derive(Clone)]
struct Stray {
    lease: String,
    until: Timestamp,
}

/// A claim until it is answered: given up before, it is a stray.
struct Claiming<'c> {
    inner: &'c Inner,
    stray: Option<Stray>,
}

impl Drop for Claiming<'_> {
    fn drop(&mut self) {
        self.inner.strays().extend(self.stray.take());
    }
}

impl Inner {
    fn strays(&self) -> MutexGuard<'_, Vec<Stray>> {
        self.strays.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a courier does not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CourierError {
    /// It was started outside a Tokio runtime.
    #[error("the courier works within a Tokio runtime with its timer on: start it from there")]
    NoRuntime,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of the letters of one [`Courier::drain`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Taken by the mail server.
    pub sent: usize,
    /// To be tried again later.
    pub waiting: usize,
    /// Refused for good, or given up.
    pub failed: usize,
    /// Gone or not, nobody knows.
    pub unknown: usize,
}

impl Tally {
    fn count(&mut self, state: LetterState, letters: usize) {
        match state {
            LetterState::Sent => self.sent += letters,
            LetterState::Waiting => self.waiting += letters,
            LetterState::Failed => self.failed += letters,
            LetterState::Unknown => self.unknown += letters,
        }
    }
}

/// Attempts under way. Dropped, they are broken off.
struct Flight {
    attempts: JoinSet<LetterState>,
    stop: watch::Sender<bool>,
    tally: Tally,
}

impl Flight {
    fn new() -> Self {
        Self { attempts: JoinSet::new(), stop: watch::Sender::new(false), tally: Tally::default() }
    }

    /// Waits for one to end, and takes in all that have; false where there is none.
    async fn one(&mut self) -> bool {
        let mut ended = self.attempts.join_next().await;
        let some = ended.is_some();
        while let Some(attempt) = ended {
            if let Ok(state) = attempt {
                self.tally.count(state, 1);
            }
            ended = self.attempts.try_join_next();
        }
        some
    }

    async fn all(&mut self) {
        while self.one().await {}
    }
}

impl Courier {
    /// A courier between this store and this mailer, at the usual [`Pace`]. Give it the
    /// [`Post`] of the Relay that queues.
    pub fn new(store: Arc<dyn Store>, mailer: Arc<dyn Mailer>, clock: Arc<dyn Clock>, post: Post) -> Self {
        Self::with(store, mailer, clock, post, Pace::default())
    }

    /// The same courier as a new one, at another pace.
    #[must_use]
    pub fn at(&self, pace: Pace) -> Self {
        let Inner { store, mailer, clock, post, .. } = &*self.0;
        Self::with(Arc::clone(store), Arc::clone(mailer), Arc::clone(clock), post.clone(), pace)
    }

    fn with(
        store: Arc<dyn Store>,
        mailer: Arc<dyn Mailer>,
        clock: Arc<dyn Clock>,
        post: Post,
        pace: Pace,
    ) -> Self {
        let name = data_encoding::HEXLOWER.encode(&SystemSeeds.seed());
        let (claims, strays) = (AtomicU64::new(0), Mutex::default());
        Self(Arc::new(Inner { store, mailer, clock, post, pace, name, claims, strays }))
    }

    /// The outbox it takes from, for whoever runs the server.
    pub fn outbox(&self) -> Outbox {
        Outbox::new(Arc::clone(&self.0.store), Arc::clone(&self.0.clock), self.0.post.clone())
    }

    /// Works until `shutdown` ends. Then it takes no more letters, gives a look at the outbox that is
    /// under way [`Pace::stop_look`] and its attempts [`Pace::stop`], and writes down what is still without an answer as unknown. A store that
    /// fails is tried again; one that is closed ends it.
    pub async fn run(&self, shutdown: impl Future<Output = ()>) -> Result<(), CourierError> {
        within_runtime()?;
        let mut flight = Flight::new();
        let mut shutdown = pin!(shutdown);
        loop {
            let filled = match future::select(shutdown.as_mut(), pin!(self.fill(&mut flight))).await {
                Either::Right((filled, _)) => filled,
                Either::Left(((), filling)) => {
                    // What it claims by then is attempted; what it claims later is found as unknown.
                    let _ = tokio::time::timeout(self.0.pace.stop_look, filling).await;
                    break;
                }
            };
            let pause = match filled {
                Ok(next) => self.pause(next),
                Err(StoreError::Closed) => {
                    flight.all().await;
                    return Err(StoreError::Closed.into());
                }
                Err(error) => {
                    tracing::warn!(%error, "the courier cannot read its outbox");
                    self.0.pace.poll
                }
            };
            let ended = pin!(async {
                if !flight.one().await {
                    future::pending::<()>().await;
                }
            });
            let called = pin!(self.0.post.rung());
            let paused = pin!(tokio::time::sleep(pause));
            let work = future::select(ended, future::select(called, paused));
            if let Either::Left(_) = future::select(shutdown.as_mut(), work).await {
                break;
            }
        }
        self.land(flight).await;
        Ok(())
    }

    /// Sends all that is due, and all that becomes due meanwhile; ends when nothing is.
    pub async fn drain(&self) -> Result<Tally, CourierError> {
        within_runtime()?;
        let mut flight = Flight::new();
        loop {
            if let Err(error) = self.fill(&mut flight).await {
                flight.all().await;
                return Err(error.into());
            }
            if !flight.one().await {
                return Ok(flight.tally);
            }
        }
    }

    /// Gives the attempts under way their time, then breaks them off and has that written down.
    async fn land(&self, mut flight: Flight) {
        if tokio::time::timeout(self.0.pace.stop, flight.all()).await.is_ok() {
            return;
        }
        flight.stop.send_replace(true);
        if tokio::time::timeout(self.0.pace.stop, flight.all()).await.is_err() {
            tracing::warn!("the courier stops before the store has taken down its last attempts");
        }
    }

    /// Begins as many attempts as there is room for, and tells when to look again.
    async fn fill(&self, flight: &mut Flight) -> Result<Option<Timestamp>, StoreError> {
        let inner = &self.0;
        let room = inner.pace.in_flight.max(1).saturating_sub(flight.attempts.len());
        if room == 0 {
            return Ok(None);
        }
        self.release_strays().await?;
        let now = inner.clock.now();
        match transact(&*inner.store, Access::READ, outbox::next).await? {
            Some(due) if due <= now => {}
            later => return Ok(later),
        }
        let lease = format!("{}-{}", inner.name, inner.claims.fetch_add(1, Ordering::Relaxed));
        let until = inner.pace.lease_until(now);
        let mut claiming = Claiming { inner, stray: Some(Stray { lease: lease.clone(), until }) };
        let claim = {
            let lease = lease.clone();
            move |session: &mut dyn Session| {
                let parked = outbox::park(session, now)?;
                let letters = outbox::claim(session, &lease, now, until, room)?;
                Ok((parked, letters, outbox::next(session)?))
            }
        };
        let claimed = transact(&*inner.store, Access::MAILS, claim).await;
        if !matches!(claimed, Err(StoreError::Unknown)) {
            claiming.stray = None;
        }
        let (parked, letters, next) = claimed?;
        for id in &parked {
            tracing::warn!(letter = %id, "nobody knows whether the letter has gone");
        }
        flight.tally.count(LetterState::Unknown, parked.len());
        for letter in letters {
            let stop = flight.stop.subscribe();
            flight.attempts.spawn(attempt(Arc::clone(inner), lease.clone(), letter, stop));
        }
        Ok(next)
    }

    /// Takes back what stray claims hold. One is remembered until it is found, or its lease is over:
    /// on a database elsewhere it may land after it was looked for.
    async fn release_strays(&self) -> Result<(), StoreError> {
        let strays = self.0.strays().clone();
        for Stray { lease, until } in strays {
            let now = self.0.clock.now();
            let released = lease.clone();
            let work = move |session: &mut dyn Session| outbox::release(session, &released, now);
            let found = transact(&*self.0.store, Access::MAILS, work).await? > 0;
            if found || until <= now {
                self.0.strays().retain(|stray| stray.lease != lease);
            }
        }
        Ok(())
    }

    /// How long to sleep where nobody calls.
    fn pause(&self, next: Option<Timestamp>) -> Duration {
        let poll = self.0.pace.poll;
        let Some(next) = next else { return poll };
        let wait = next.as_millis().saturating_sub(self.0.clock.now().as_millis());
        Duration::from_millis(u64::try_from(wait).unwrap_or(0)).min(poll)
    }
}

fn within_runtime() -> Result<(), CourierError> {
    tokio::runtime::Handle::try_current().map(drop).map_err(|_| CourierError::NoRuntime)
}

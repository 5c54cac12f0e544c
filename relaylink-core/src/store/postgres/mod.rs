//! The engine to scale out: PostgreSQL 14 and later, for several servers over one store.
//!
//! - *Writes* are SERIALIZABLE and run again where the database says so (40001, 40P01), after a pause
//!   that grows and differs, for as long as the caller has patience. An account's writes take one lane
//!   of a process, since two at once would only undo each other.
//! - *Reads* are REPEATABLE READ, READ ONLY: they see one moment and are never run again for others.
//! - Every transaction acts under the narrow role of its access, set in the same trip to the database as
//!   its beginning and its first statement. The roles are made when the store is opened; where its user
//!   may not make them, opening fails and says what an administrator has to run; and where one of them
//!   may do more than its access, too.
//! - A text that names what reaches beyond the tables is refused, whatever its access: functions that run
//!   another text, change the connection, lock by a number or keep large objects, every name that begins
//!   with `pg_` but those of the order of commits, and an INTO that makes a table.
//! - Connections stay on threads of their own, made when they are first needed and again after they were
//!   lost; each keeps its statements prepared. No runtime of the caller's is needed.
//! - An address that is not this machine's is spoken to by TLS alone, whose certificate must be good for
//!   the host's name by the roots that the machine trusts (or by those in the file `SSL_CERT_FILE`),
//!   unless the address says `sslmode=disable`.
//!
//! It comes with the feature `postgres`. The user of the database must own the schema's tables or be
//! able to make them. A pool between the two, as `PgBouncer`, must be in session mode: settings and
//! prepared statements belong to a connection. More in [`operating`](super::operating).

mod address;
mod connection;
mod lanes;
mod migrate;
mod options;
mod parts;
mod preflight;
mod reach;
mod roles;
mod session;
mod whole;
mod width;
mod worker;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};

use async_trait::async_trait;

pub use options::{CONNECT_TIMEOUT, CONNECTIONS, DEADLINE, Options, PATIENCE, QUEUE, ROLES};

use address::Address;
use lanes::Lanes;
use roles::Roles;
use worker::Worker;

use super::{Request, Store, StoreError, Verdict, Work, job::Job};

/// A store in a PostgreSQL database. Cheap to clone; its connections close with the last clone.
#[derive(Clone)]
pub struct Postgres(Arc<Inner>);

struct Inner {
    lanes: Arc<Lanes>,
    threads: Vec<JoinHandle<()>>,
    counters: Arc<Counters>,
}

/// What the store has done so far.
#[derive(Debug, Default)]
struct Counters {
    reruns: AtomicU64,
}

impl Counters {
    fn again(&self) {
        self.reruns.fetch_add(1, Relaxed);
    }
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("counters", &self.0.counters).finish_non_exhaustive()
    }
}

impl Postgres {
    /// Opens the database at `postgres://USER:PASSWORD@HOST:PORT/DATABASE` and brings its tables up
    /// to date. Waits for the database; not to be called from where that matters.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_with(url, Options::default())
    }

    /// Opens the database with other options.
    #[expect(clippy::needless_pass_by_value, reason = "options are put together for one opening")]
    pub fn open_with(url: &str, options: Options) -> Result<Self, StoreError> {
        let address = Address::parse(url, &options)?;
        let roles = Arc::new(Roles::new(&options.roles));
        // A runtime cannot be entered from within one: on a thread of its own there is none.
        let prepared = thread::scope(|scope| {
            scope
                .spawn(|| {
                    let mut link = address.connect()?;
                    migrate::migrate(&mut link, &address.name(), &options.migrations, &roles)?;
                    migrate::refuse_unfinished(&mut link, &address.name())
                })
                .join()
        });
        prepared.unwrap_or(Err(StoreError::Panicked))?;
        let mut inner = Inner {
            lanes: Arc::new(Lanes::new(options.queue)),
            threads: Vec::new(),
            counters: Arc::default(),
        };
        for _ in 0..options.connections {
            let worker = Worker {
                address: address.clone(),
                roles: Arc::clone(&roles),
                lanes: Arc::clone(&inner.lanes),
                counters: Arc::clone(&inner.counters),
                patience: options.patience,
            };
            let thread = thread::Builder::new().name("relaylink-postgres".to_owned());
            let thread = thread
                .spawn(move || worker.serve())
                .map_err(|error| StoreError::Engine(format!("no thread for the store: {error}")))?;
            inner.threads.push(thread);
        }
        Ok(Self(Arc::new(inner)))
    }

    /// Ends the store for all its handles: what waits is still done, what comes after is refused
    /// as [`StoreError::Closed`]. Does not wait; dropping the last handle does.
    pub fn close(&self) {
        self.0.lanes.close();
    }

    /// How often a work was run again, for tests.
    #[doc(hidden)]
    pub fn reruns(&self) -> u64 {
        self.0.counters.reruns.load(Relaxed)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.lanes.close();
        for thread in self.threads.drain(..) {
            // A work that held the last handle drops it on a thread of the store's.
            if thread.thread().id() != thread::current().id() {
                drop(thread.join());
            }
        }
    }
}

#[async_trait]
impl Store for Postgres {
    async fn transact(&self, request: Request, work: Work) -> Result<Verdict, StoreError> {
        let (job, answered) = Job::new(request.access, work);
        self.0.lanes.push(&request.account, job)?;
        answered.await.unwrap_or(Err(StoreError::Unknown))
    }
}

//! The embedded engine: SQLite in the program itself, one file and its log of changes.
//!
//! - *Reads* run on their caller's own thread on a pooled read-only connection, within a budget of
//!   about a millisecond, and ten milliseconds by the clock; one that outgrows it is run again on a reader's thread, within a deadline.
//! - *Writes* run on one thread, which commits them in groups and syncs each group to the disk.
//! - Several processes may have the file open; a write waits for theirs.
//! - The log of changes (`-wal`) is moved into the file every thousand pages and after a second
//!   without writes, as far as no reader holds it; a reader holds it for its own work alone, and
//!   for no longer than the deadline. Emptied, it keeps 16 MiB at most.
//! - No runtime is needed: the threads are the store's own. The last handle dropped ends them.
//!
//! It comes with the feature `sqlite`, through rusqlite 0.43 and libsqlite3-sys 0.40. Cargo lets one
//! version of libsqlite3-sys into a program, so rusqlite or sqlx of a version that asks for another
//! cannot stand beside it: take versions that agree, or switch the feature off and put a store of
//! your own under the [trait](super::Store).

mod backup;
mod class;
mod connection;
mod kinds;
mod migrate;
mod options;
mod parts;
mod queue;
mod reader;
mod session;
mod unfit;
mod whole;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use async_trait::async_trait;

pub use options::{BUDGET, BUSY_TIMEOUT, DEADLINE, INLINE_MAX, INLINE_TIME, Options, QUEUE, READERS};

use connection::{Conn, Role};
use options::LOCK_WAIT;
use queue::Queue;
use reader::Inline;
use writer::Writer;

use super::{Request, Store, StoreError, Verdict, Work, job::Job};

/// A store in an SQLite file. Cheap to clone; the file is closed with the last clone.
#[derive(Clone)]
pub struct Sqlite(Arc<Inner>);

struct Inner {
    inline: Inline,
    writer: Arc<Queue>,
    readers: Arc<Queue>,
    /// The writer's comes last.
    threads: Vec<JoinHandle<Conn>>,
    counters: Arc<Counters>,
}

/// What the writer has done so far.
#[derive(Debug, Default)]
struct Counters {
    commits: AtomicU64,
    reruns: AtomicU64,
}

/// What a store has done so far, for tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Commits that changed something, each synced once.
    pub commits: u64,
    /// Groups that were run again.
    pub reruns: u64,
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sqlite").field("counters", &self.0.counters).finish_non_exhaustive()
    }
}

impl Sqlite {
    /// Opens the file, or makes it, and brings its tables up to date. The folder must be there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, Options::default())
    }

    /// Opens the file with other options.
    #[expect(clippy::needless_pass_by_value, reason = "options are put together for one opening")]
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self, StoreError> {
        let path = locate(path.as_ref())?;
        make_private(&path)?;
        let wait = LOCK_WAIT.min(options.busy_timeout);
        let raw = migrate::migrate(&path, &options.migrations, wait, options.busy_timeout)?;
        migrate::refuse_unfinished(&raw, &path)?;
        let conn = Conn::over(raw, Role::Writer, wait)?;
        // On a caller's own thread nothing is waited for.
        let inline = (0..options.inline)
            .map(|_| Conn::open(&path, Role::Reader, Duration::ZERO))
            .collect::<Result<_, _>>()?;
        let mut inner = Inner {
            inline: Inline::new(inline, options.budget, options.inline_time),
            writer: Arc::new(Queue::new(options.queue)),
            readers: Arc::new(Queue::new(options.queue)),
            threads: Vec::new(),
            counters: Arc::default(),
        };
        let writer = Writer {
            conn,
            queue: Arc::clone(&inner.writer),
            counters: Arc::clone(&inner.counters),
            patience: options.busy_timeout,
            deadline: options.deadline,
        };
        for _ in 0..options.readers {
            let conn = Conn::open(&path, Role::Reader, wait)?;
            let queue = Arc::clone(&inner.readers);
            inner.spawn("relaylink-reader", move || reader::serve(conn, &queue, options.deadline))?;
        }
        inner.spawn("relaylink-writer", move || writer.serve())?;
        Ok(Self(Arc::new(inner)))
    }

    /// Ends the store for all its handles: what waits is still done, unless another process holds the
    /// file, and what comes after is refused as [`StoreError::Closed`]. Does not wait; dropping the
    /// last handle does.
    pub fn close(&self) {
        self.0.close();
    }

    /// What it has done so far, for tests.
    #[doc(hidden)]
    pub fn stats(&self) -> Stats {
        let Counters { commits, reruns } = &*self.0.counters;
        Stats { commits: commits.load(Relaxed), reruns: reruns.load(Relaxed) }
    }
}

impl Inner {
    fn spawn(&mut self, name: &str, run: impl FnOnce() -> Conn + Send + 'static) -> Result<(), StoreError> {
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(run)
            .map_err(|error| StoreError::Engine(format!("no thread for the store: {error}")))?;
        self.threads.push(thread);
        Ok(())
    }

    fn close(&self) {
        self.writer.close();
        self.readers.close();
        self.inline.close();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
        for thread in self.threads.drain(..) {
            // A work that held the last handle drops it on a thread of the store's.
            if thread.thread().id() != thread::current().id() {
                // The writer's connection is closed last: a reader's cannot empty the log of changes.
                drop(thread.join());
            }
        }
    }
}

#[async_trait]
impl Store for Sqlite {
    async fn transact(&self, request: Request, mut work: Work) -> Result<Verdict, StoreError> {
        let access = request.access;
        let queue = if access.is_read() {
            if let Some(result) = self.0.inline.run(access, &mut work) {
                return result;
            }
            &self.0.readers
        } else {
            &self.0.writer
        };
        let (job, answered) = Job::new(access, work);
        queue.push(job)?;
        answered.await.unwrap_or(Err(StoreError::Unknown))
    }
}

/// The file's full path. Its folder must be there: a name mistyped must not make an empty store.
fn locate(path: &Path) -> Result<PathBuf, StoreError> {
    let unusable = |why: &str| StoreError::Unusable(format!("{} {why}", path.display()));
    let name = path.file_name().ok_or_else(|| unusable("names no file"))?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = folder.canonicalize().map_err(|error| {
        unusable(&format!("cannot be opened, for its folder cannot: {error}. Make the folder first"))
    })?;
    Ok(folder.join(name))
}

/// Makes the file, where it is not there, readable by its owner alone.
fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::Unusable(format!("{} cannot be made: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

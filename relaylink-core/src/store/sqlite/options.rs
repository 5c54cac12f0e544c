use std::{num::NonZeroUsize, thread, time::Duration};

use crate::store::migrations::{CORE, CORE_OWNER, Migration};

/// Threads for reads that outgrew their budget. They wait for the disk more than they compute.
pub const READERS: usize = 4;
/// Connections for reads on their callers' own threads at most: no more than that many run at once
/// on a machine's cores.
pub const INLINE_MAX: usize = 16;
/// How long a write waits for other processes' writes: twice what a person calls slow, and under the
/// minute after which clients give a call up.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(20);
/// Steps of the engine's machine that a read may take on its caller's thread: about a millisecond,
/// a tenth of what is noticed on an async worker.
pub const BUDGET: u32 = 50_000;
/// How long a read may hold its caller's thread, with what it does between its statements, which is no
/// step of the engine's: what is noticed on an async worker.
pub const INLINE_TIME: Duration = Duration::from_millis(10);
/// Works that may wait for a thread at most; the next is refused as busy. At the pace of a slow disk
/// that is a second's work.
pub const QUEUE: usize = 1_024;
/// How long one work may take on one of the store's threads, its wait for a reader included: a read
/// that hangs must not hold the log of changes for longer.
pub const DEADLINE: Duration = Duration::from_secs(5);

/// Statements kept prepared on a connection: all of RelayLink's, several times over.
pub(super) const STATEMENTS: usize = 512;
/// Steps of the engine's machine between two looks at the meter: some microseconds.
pub(super) const TICK: u32 = 1_000;
/// Bytes of the log of changes that stay on disk after it has been emptied: what busy hours fill anyway.
pub(super) const LOG_KEPT: u32 = 16 << 20;
/// How long the engine waits for a lock before it tells us, and we decide whether to go on.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(1);
/// Works of a group at most: beyond that a sync a work costs next to nothing.
pub(super) const GROUP: usize = 256;
/// How long a group takes in further works: what one waits at most for its neighbours.
pub(super) const GATHERING: Duration = Duration::from_millis(5);
/// How long the writer is idle before it moves the log of changes into the file.
pub(super) const IDLE: Duration = Duration::from_secs(1);
/// Between two tries for the lock, where the engine did not wait of its own.
pub(super) const PAUSE: Duration = Duration::from_millis(1);

/// How a [`Sqlite`](super::Sqlite) is opened. Each has a default that suits a server for some thousand accounts.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) readers: usize,
    pub(super) inline: usize,
    pub(super) busy_timeout: Duration,
    pub(super) budget: u32,
    pub(super) inline_time: Duration,
    pub(super) queue: usize,
    pub(super) deadline: Duration,
    pub(super) migrations: Vec<(&'static str, &'static [Migration])>,
}

impl Default for Options {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            readers: READERS,
            inline: cores.min(INLINE_MAX),
            busy_timeout: BUSY_TIMEOUT,
            budget: BUDGET,
            inline_time: INLINE_TIME,
            queue: QUEUE,
            deadline: DEADLINE,
            migrations: vec![(CORE_OWNER, CORE)],
        }
    }
}

impl Options {
    /// Threads for reads that outgrew their budget, each with a connection; at least one.
    #[must_use]
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers.max(1);
        self
    }

    /// Connections for reads on their callers' own threads. None: every read goes to a reader's thread.
    #[must_use]
    pub fn inline(mut self, connections: usize) -> Self {
        self.inline = connections;
        self
    }

    /// How long a write waits for other processes' writes before it is refused as busy.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Steps of the engine's machine that a read may take on its caller's thread.
    #[must_use]
    pub fn budget(mut self, steps: u32) -> Self {
        self.budget = steps;
        self
    }

    /// How long a read may hold its caller's thread, with what it does between its statements.
    #[must_use]
    pub fn inline_time(mut self, time: Duration) -> Self {
        self.inline_time = time;
        self
    }

    /// Works that may wait for a thread; the next is refused as busy. At least one.
    #[must_use]
    pub fn queue(mut self, works: usize) -> Self {
        self.queue = works.max(1);
        self
    }

    /// How long one work may take on one of the store's threads.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Tables of your own. `owner` is the name under which the versions are kept; let the tables'
    /// names start with it, so that they never meet one of RelayLink's.
    #[must_use]
    pub fn migrations(mut self, owner: &'static str, migrations: &'static [Migration]) -> Self {
        self.migrations.push((owner, migrations));
        self
    }
}

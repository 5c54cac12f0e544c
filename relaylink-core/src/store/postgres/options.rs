use std::time::Duration;

use crate::store::migrations::{CORE, CORE_OWNER, Migration};

/// Connections of one process at most. A database with two cores is busy with eight; `PostgreSQL` allows
/// a hundred in all before somebody sets it up for more.
pub const CONNECTIONS: usize = 8;
/// How long one statement may take in the database.
pub const DEADLINE: Duration = Duration::from_secs(5);
/// How long a call waits for its turn, for a database that is away, and through its repeats: twice what
/// a person calls slow, and under the minute after which clients give a call up.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// How long a connection may take to be made.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Works that may wait for a connection at most; the next is refused as busy.
pub const QUEUE: usize = 1_024;
/// What the names of the narrow roles begin with.
pub const ROLES: &str = "relaylink";

/// How a [`Postgres`](super::Postgres) is opened.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) connections: usize,
    pub(super) deadline: Duration,
    pub(super) patience: Duration,
    pub(super) connect_timeout: Duration,
    pub(super) queue: usize,
    pub(super) roles: String,
    pub(super) migrations: Vec<(&'static str, &'static [Migration])>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS,
            deadline: DEADLINE,
            patience: PATIENCE,
            connect_timeout: CONNECT_TIMEOUT,
            queue: QUEUE,
            roles: ROLES.to_owned(),
            migrations: vec![(CORE_OWNER, CORE)],
        }
    }
}

impl Options {
    /// Connections of this process, each with a thread; at least one.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// How long one statement may take in the database.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How long a call waits for its turn, for a database that is away, and through its repeats,
    /// before it is refused as busy. A work whose turn comes later is not tried, so that with none at all
    /// every work is refused.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How long a connection may take to be made.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Works that may wait for a connection; the next is refused as busy. At least one.
    #[must_use]
    pub fn queue(mut self, works: usize) -> Self {
        self.queue = works.max(1);
        self
    }

    /// What the names of the narrow roles begin with, where `relaylink` is taken. Roles belong to the
    /// whole server, so several databases may share them.
    #[must_use]
    pub fn roles(mut self, prefix: impl Into<String>) -> Self {
        self.roles = prefix.into();
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

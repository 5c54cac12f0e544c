//! A PostgreSQL to test on: a database of its own for each test, gone with it.

use std::{
    io::Write as _,
    sync::{
        Mutex, Once, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

/// The variable that names the server: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Its user must be
/// able to make databases and roles.
pub(crate) const SERVER: &str = "RELAYLINK_TEST_POSTGRES";

/// The server's address, or none: then it says so.
pub(crate) fn server() -> Option<String> {
    let server = std::env::var(SERVER).ok().filter(|server| !server.is_empty());
    if server.is_none() {
        static SAID: Once = Once::new();
        // Past the test harness, which keeps what a test prints to itself.
        SAID.call_once(|| {
            let mut stderr = std::io::stderr();
            writeln!(stderr, "switched off: PostgreSQL. Name a server with {SERVER}=postgres://…").unwrap();
        });
    }
    server
}

/// A database for one test.
pub(crate) struct Database {
    server: String,
    name: String,
    /// The test's own, kept: a new one reads the server's catalogue anew.
    client: Mutex<Option<postgres::Client>>,
}

impl Database {
    /// A new one, where there is a server.
    pub(crate) fn new() -> Option<Self> {
        Self::made("")
    }

    /// A new one with other properties than those of the server's.
    pub(crate) fn made(how: &str) -> Option<Self> {
        let new = Self::named(server()?);
        new.on_the_server(&[&format!("CREATE DATABASE {} TEMPLATE template0 {how}", new.name)]);
        Some(new)
    }

    /// A copy of it, as a template is copied. Nobody else may be connected to it.
    pub(crate) fn copied(&self) -> Self {
        alone(|| drop(self.client.lock().unwrap_or_else(PoisonError::into_inner).take()));
        let copy = Self::named(self.server.clone());
        copy.on_the_server(&[&format!("CREATE DATABASE {} TEMPLATE {}", copy.name, self.name)]);
        copy
    }

    fn named(server: String) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| sweep(&server));
        let number = MADE.fetch_add(1, Relaxed);
        let name = format!("relaylink_test_{}_{number}", std::process::id());
        Self { server, name, client: Mutex::default() }
    }

    /// Where the store is to be opened.
    pub(crate) fn url(&self) -> String {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        format!("{server}/{}?sslmode=disable", self.name)
    }

    /// Does something on a connection to it.
    pub(crate) fn on<R: Send>(&self, act: impl FnOnce(&mut postgres::Client) -> R + Send) -> R {
        alone(|| {
            let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = client.take().filter(|client| !client.is_closed());
            let mut kept = kept.unwrap_or_else(|| connect(&self.url()));
            let done = act(&mut kept);
            *client = Some(kept);
            done
        })
    }

    /// Runs statements as its owner.
    pub(crate) fn execute(&self, statements: &str) {
        self.on(|client| client.batch_execute(statements).unwrap());
    }

    fn on_the_server(&self, statements: &[&str]) {
        alone(|| {
            let mut client = connect(&self.server);
            for statement in statements {
                client.batch_execute(statement).unwrap();
            }
        });
    }
}

/// Drops what processes that are no more have left behind.
fn sweep(server: &str) {
    alone(|| {
        let mut client = connect(server);
        let left = "SELECT CAST(datname AS TEXT) FROM pg_database WHERE datname LIKE 'relaylink\\_test\\_%'";
        for row in client.query(left, &[]).unwrap() {
            let name: String = row.get(0);
            let process = name.split('_').nth(2).unwrap();
            if !std::path::Path::new("/proc").join(process).exists() {
                // Another process may be at it, too.
                let _ = client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
            }
        }
    });
}

fn connect(url: &str) -> postgres::Client {
    postgres::Client::connect(url, postgres::NoTls).unwrap()
}

/// On a thread of its own: the blocking client may neither run nor end within a runtime.
fn alone<R: Send>(act: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| scope.spawn(act).join().unwrap())
}

impl Drop for Database {
    fn drop(&mut self) {
        alone(|| drop(self.client.lock().unwrap_or_else(PoisonError::into_inner).take()));
        self.on_the_server(&[&format!("DROP DATABASE {} WITH (FORCE)", self.name)]);
    }
}

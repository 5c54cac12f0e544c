//! A PostgreSQL to test on: a schema of its own for each test, gone with it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The variable that names the server: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Its user must be
/// able to make schemas and roles.
pub(crate) const SERVER: &str = "RELAYLINK_TEST_POSTGRES";

/// The server's address, or none: then it says so.
pub(crate) fn server() -> Option<String> {
    let server = std::env::var(SERVER).ok().filter(|server| !server.is_empty());
    if server.is_none() {
        eprintln!("switched off: PostgreSQL. Name a server with {SERVER}=postgres://…");
    }
    server
}

/// A schema for one test.
pub(crate) struct Database {
    server: String,
    schema: String,
}

impl Database {
    /// A new one, where there is a server.
    pub(crate) fn new() -> Option<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let server = server()?;
        let number = MADE.fetch_add(1, Relaxed);
        let schema = format!("test_{}_{number}", std::process::id());
        let made = Self { server, schema };
        made.execute(&format!("DROP SCHEMA IF EXISTS {0} CASCADE; CREATE SCHEMA {0}", made.schema));
        Some(made)
    }

    /// Where the store is to be opened.
    pub(crate) fn url(&self) -> String {
        let sign = if self.server.contains('?') { '&' } else { '?' };
        format!("{}{sign}options=-csearch_path%3D{}", self.server, self.schema)
    }

    /// Does something on a connection to the schema. A thread of its own: the blocking client may not
    /// run within a runtime.
    pub(crate) fn on<R: Send>(&self, act: impl FnOnce(&mut postgres::Client) -> R + Send) -> R {
        std::thread::scope(|scope| {
            let acting = scope.spawn(|| {
                let mut client = postgres::Client::connect(&self.url(), postgres::NoTls).unwrap();
                act(&mut client)
            });
            acting.join().unwrap()
        })
    }

    /// Runs statements as the schema's owner.
    pub(crate) fn execute(&self, statements: &str) {
        self.on(|client| client.batch_execute(statements).unwrap());
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.execute(&format!("DROP SCHEMA {} CASCADE", self.schema));
    }
}

//! A PostgreSQL to test on: a schema of its own for each test.

use std::{
    io::{self, Write},
    sync::{
        Once,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

/// The variable that names the server: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Its user must be
/// able to make schemas and roles.
const SERVER: &str = "RELAYLINK_TEST_POSTGRES";
/// The password where the server's address has none, since its user is trusted: it must not be shown.
const PASSWORD: &str = "correct-horse-battery-staple";

/// A schema for one test, gone with it.
pub(crate) struct Database {
    server: String,
    schema: String,
}

impl Database {
    /// A new one, where there is a server; none says so.
    pub(crate) fn new() -> Option<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        static SAID: Once = Once::new();
        let server =
            std::env::var(SERVER).ok().filter(|server| !server.is_empty() && cfg!(feature = "postgres"));
        let Some(server) = server else {
            SAID.call_once(|| {
                // Past the capture of a passing test's output.
                let mut stderr = io::stderr();
                writeln!(stderr, "switched off: PostgreSQL. Name a server with {SERVER}=postgres://…")
                    .unwrap();
            });
            return None;
        };
        let schema = format!("program_{}_{}", std::process::id(), MADE.fetch_add(1, SeqCst));
        let made = Self { server, schema };
        made.execute(&format!("DROP SCHEMA IF EXISTS {0} CASCADE; CREATE SCHEMA {0}", made.schema));
        Some(made)
    }

    /// Its address, with a password.
    pub(crate) fn url(&self) -> String {
        let (before, after) = self.server.split_once('@').expect("a user");
        let (scheme, user) = before.split_once("://").expect("a scheme");
        let user = if user.contains(':') { user.to_owned() } else { format!("{user}:{PASSWORD}") };
        let sign = if after.contains('?') { '&' } else { '?' };
        format!("{scheme}://{user}@{after}{sign}options=-csearch_path%3D{}", self.schema)
    }

    /// The password in its address.
    pub(crate) fn password(&self) -> String {
        let url = self.url();
        let user = url.split_once("://").unwrap().1.split_once('@').unwrap().0;
        user.split_once(':').unwrap().1.to_owned()
    }

    fn execute(&self, statements: &str) {
        let mut client = postgres::Client::connect(&self.server, postgres::NoTls).unwrap();
        client.batch_execute(statements).unwrap();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.execute(&format!("DROP SCHEMA {} CASCADE", self.schema));
    }
}

//! A PostgreSQL to test on: a schema of its own for each test, and a line to it that can be cut.

use std::{
    io::{self, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, Once,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    thread,
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

    /// Its address by another way.
    pub(crate) fn url_by(&self, line: &Line) -> String {
        self.url().replacen(&self.host(), &line.address.to_string(), 1)
    }

    /// The password in its address.
    pub(crate) fn password(&self) -> String {
        let url = self.url();
        let user = url.split_once("://").unwrap().1.split_once('@').unwrap().0;
        user.split_once(':').unwrap().1.to_owned()
    }

    fn host(&self) -> String {
        let after = self.server.split_once('@').unwrap().1;
        after.split(['/', '?']).next().unwrap().to_owned()
    }

    /// A line to the server.
    pub(crate) fn line(&self) -> Line {
        let host = self.host();
        Line::to(if host.contains(':') { host } else { format!("{host}:5432") })
    }

    /// The rows of a query whose columns are text.
    pub(crate) fn rows<const COLUMNS: usize>(&self, query: &str) -> Vec<[String; COLUMNS]> {
        let mut client = postgres::Client::connect(&self.url(), postgres::NoTls).unwrap();
        let rows = client.query(query, &[]).unwrap();
        rows.iter().map(|row| std::array::from_fn(|at| row.get(at))).collect()
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

/// A way to a server that can be cut, and mended.
pub(crate) struct Line {
    address: SocketAddr,
    cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    fn to(host: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let line = Self { address, cut: Arc::default(), open: Arc::default() };
        let (cut, open) = (Arc::clone(&line.cut), Arc::clone(&line.open));
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let mut open = open.lock().unwrap();
                if cut.load(SeqCst) {
                    continue;
                }
                let server = TcpStream::connect(&host).unwrap();
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    open.push(from.try_clone().unwrap());
                    thread::spawn(move || {
                        // It ends with either side.
                        let _ = io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        line
    }

    /// Cuts what is open, and refuses what comes.
    pub(crate) fn cut(&self) {
        let mut open = self.open.lock().unwrap();
        self.cut.store(true, SeqCst);
        for stream in open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn mend(&self) {
        self.cut.store(false, SeqCst);
    }
}

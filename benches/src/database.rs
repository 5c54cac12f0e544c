use postgres::{Client, NoTls};

/// The variable that names a server: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
const SERVER: &str = "RELAYLINK_TEST_POSTGRES";

/// A database of PostgreSQL's for one run, gone when it is dropped.
pub struct Database {
    server: String,
    name: String,
    url: String,
}

impl Database {
    /// A new one, where there is a server.
    pub fn new() -> Option<Self> {
        let server = std::env::var(SERVER).ok().filter(|server| !server.is_empty())?;
        let name = format!("relaylink_bench_{}", std::process::id());
        let (host, _) = server.rsplit_once('/').unwrap();
        let url = format!("{host}/{name}?sslmode=disable");
        let new = Self { server, name, url };
        new.client().batch_execute(&format!("CREATE DATABASE {} TEMPLATE template0", new.name)).unwrap();
        Some(new)
    }

    /// Where the store is to be opened.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its version, and what a commit waits for.
    pub fn about(&self) -> String {
        let asked = "SELECT 'PostgreSQL ' || current_setting('server_version') || ', fsync ' || \
             CASE current_setting('fsync') WHEN 'off' THEN 'off: its commits wait for no disk' ELSE 'on' END";
        self.client().query_one(asked, &[]).unwrap().get(0)
    }

    fn client(&self) -> Client {
        Client::connect(&self.server, NoTls).unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.client().batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name)).unwrap();
    }
}

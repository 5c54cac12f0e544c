//! A store as a whole: copied, checked, backed up.

mod backups;
mod checks;
mod misfits;
mod moves;
mod shapes;
mod unfit;

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use relaylink_core::{
    relay::{Clock, Relay, SystemClock},
    store::{
        Store, StoreError,
        migrations::CORE,
        postgres::{self, Postgres},
        sqlite::{self, Sqlite},
        upkeep::{Compared, Health, Outcome, Progress, Report, Rooms, Source, Target, check, copy},
    },
    tool::Caller,
};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value as Json, json};

use crate::database::Database;

/// More memories than an index is made of at a time, and more rows of a table than a page has.
const MEMORIES: usize = 150;
const ENDED: usize = 1_234;

/// A store, by where it is.
enum Place {
    File(tempfile::TempDir),
    Database(Box<Database>),
}

impl Place {
    fn file() -> Self {
        Self::File(tempfile::tempdir().unwrap())
    }

    /// A file with what [`filled`] makes.
    fn filled() -> Self {
        let place = Self::file();
        std::fs::write(place.path(), filled()).unwrap();
        place
    }

    /// An empty one of each engine that there is.
    fn each() -> impl Iterator<Item = Self> {
        std::iter::once(Self::file()).chain(Self::database())
    }

    fn database() -> Option<Self> {
        Database::new().map(|database| Self::Database(Box::new(database)))
    }

    fn path(&self) -> PathBuf {
        match self {
            Self::File(folder) => folder.path().join("relaylink.db"),
            Self::Database(_) => panic!("it is no file"),
        }
    }

    fn source(&self) -> Source {
        match self {
            Self::File(_) => Sqlite::source(self.path(), sqlite::Options::default()).unwrap(),
            Self::Database(database) => {
                Postgres::source(&database.url(), postgres::Options::default()).unwrap()
            }
        }
    }

    fn target(&self) -> Target {
        match self {
            Self::File(_) => Sqlite::target(self.path(), sqlite::Options::default()).unwrap(),
            Self::Database(database) => {
                Postgres::target(&database.url(), postgres::Options::default()).unwrap()
            }
        }
    }

    fn open(&self) -> Result<Arc<dyn Store>, StoreError> {
        match self {
            Self::File(_) => Sqlite::open(self.path()).map(|store| Arc::new(store) as Arc<dyn Store>),
            Self::Database(database) => {
                Postgres::open(&database.url()).map(|store| Arc::new(store) as Arc<dyn Store>)
            }
        }
    }

    /// Runs statements that hold to no foreign key.
    fn execute(&self, statements: &str) {
        match self {
            Self::File(_) => {
                let connection = write(&self.path());
                connection.pragma_update(None, "foreign_keys", false).unwrap();
                connection.execute_batch(statements).unwrap();
            }
            Self::Database(database) => {
                database.execute(&format!("SET session_replication_role = replica; {statements}"));
            }
        }
    }

    fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

fn write(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

async fn call(relay: &Relay, caller: &Caller, tool: &str, arguments: Json) -> Json {
    relay.call(caller, tool, arguments.as_object().unwrap().clone()).await.unwrap()
}

async fn caller(relay: &Relay, address: &str) -> Caller {
    let account = relay.accounts().account(&address.parse().unwrap()).await.unwrap().unwrap();
    Caller::local(account.id.as_str())
}

fn wait<R>(act: impl Future<Output = R>) -> R {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(act)
}

/// The bytes of a store with something in every table, and much in some.
fn filled() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.db");
        let stores = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores");
        std::fs::copy(stores.join(format!("{:04}.db", CORE.len())), &path).unwrap();
        wait(async {
            let relay = Relay::new(Arc::new(Sqlite::open(&path).unwrap())).unwrap();
            let (ana, ben) = (caller(&relay, "ana@example.org").await, caller(&relay, "ben@example.org").await);
            for n in 0..MEMORIES {
                let who = if n % 3 == 0 { &ben } else { &ana };
                let text = format!("Fact {n}: 東京, Ελλάδα and 🍵 — the number is n{n}");
                call(&relay, who, "memory_add", json!({ "text": text, "about": "Ben" })).await;
            }
            // A memory without a word has an entry without a term.
            call(&relay, &ana, "memory_add", json!({ "text": "—" })).await;
        });
        let connection = write(&path);
        connection
            .execute_batch(&format!(
                "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {ENDED}) \
                 INSERT INTO ended_drafts (draft, account, at) \
                 SELECT 'drf_' || printf('%026d', n), (SELECT id FROM accounts ORDER BY id LIMIT 1), n FROM n; \
                 INSERT INTO key_use (key, last_used) SELECT id, 1 FROM api_keys LIMIT 1; \
                 INSERT INTO key_hashes (hash, key) SELECT 'abc', id FROM api_keys WHERE revoked IS NULL; \
                 PRAGMA wal_checkpoint(TRUNCATE)"
            ))
            .unwrap();
        drop(connection);
        std::fs::read(path).unwrap()
    })
}

fn go_on(_: &Progress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn moved(
    from: &Place,
    to: &Place,
    progress: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
) -> Result<Report, StoreError> {
    copy(&mut from.source(), &mut to.target(), &Rooms::relay(), progress)
}

/// Copies it, and gives the rows and the digest of each table.
fn copied(from: &Place, to: &Place) -> Vec<(String, u64, String)> {
    let report = moved(from, to, &mut go_on).unwrap();
    assert_eq!(report.outcome, Outcome::Copied, "{report:?}");
    digests(&report)
}

fn digests(report: &Report) -> Vec<(String, u64, String)> {
    assert!(report.tables.iter().all(Compared::is_equal), "{report:?}");
    report.tables.iter().map(|table| (table.table.clone(), table.to.rows, table.to.digest.clone())).collect()
}

fn checked(place: &Place) -> Health {
    check(&mut place.source(), &Rooms::relay(), SystemClock.now()).unwrap()
}

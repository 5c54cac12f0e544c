//! Where a world keeps its rows: a file, or a database of PostgreSQL's. One variable says which, and
//! with it the same suites run on either engine.

use std::{
    fmt::Write as _,
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use relaylink_core::{
    relay::Timestamp,
    store::{
        Store,
        postgres::{self, Postgres},
        sqlite::{self, Sqlite},
        upkeep::{Health, Rooms, check},
    },
    tool::audit::State,
};
use rusqlite::types::ValueRef;
use serde_json::{Map, Value as Json};

use crate::{database::Database, rows};

/// Set to `postgres`, worlds are made there; otherwise in files. For the test that runs the suites on
/// PostgreSQL: [`postgres::every_suite_holds_on_postgres`](crate::postgres).
pub(crate) const ENGINE: &str = "RELAYLINK_TEST_ENGINE";

#[expect(clippy::large_enum_variant, reason = "one a test")]
pub(crate) enum Place {
    File(tempfile::TempDir),
    Database(Lent),
}

/// A place as it was at one moment: its file, or its rows as statements.
#[derive(Clone)]
pub(crate) enum Copied {
    File(Arc<[u8]>),
    Database(Arc<str>),
}

/// A database with RelayLink's tables, given back for the next test: to make one takes longer than most
/// tests do.
pub(crate) struct Lent(Option<Database>);

static FREE: Mutex<Vec<Database>> = Mutex::new(Vec::new());

impl Lent {
    /// One that holds these rows, or, with none, what the migrations have put in.
    fn with(rows: &str) -> Self {
        let free = FREE.lock().unwrap().pop();
        let database = free.unwrap_or_else(|| {
            let database = Database::new().expect("a server is named");
            drop(postgres::Postgres::open(&database.url()).unwrap());
            database
        });
        let lent = Self(Some(database));
        let place = Place::Database(lent);
        place.clear();
        let Place::Database(lent) = place else { unreachable!() };
        if !rows.is_empty() {
            lent.execute(&format!("BEGIN; SET LOCAL session_replication_role = replica; {rows} COMMIT"));
        }
        lent
    }
}

impl Deref for Lent {
    type Target = Database;

    fn deref(&self) -> &Database {
        self.0.as_ref().expect("it is given back when it is dropped")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        FREE.lock().unwrap().extend(self.0.take());
    }
}

/// What a store keeps of itself, and no tool writes: the statements that made its tables, and the era of its
/// changes.
pub(crate) const OF_THE_ENGINE: [&str; 2] = ["changes", "migrations"];

impl Place {
    /// An empty one.
    pub(crate) fn new() -> Self {
        if std::env::var(ENGINE).is_ok_and(|engine| engine == "postgres") {
            Self::database()
        } else {
            Self::File(tempfile::tempdir().unwrap())
        }
    }

    /// An empty folder.
    pub(crate) fn folder() -> Self {
        Self::File(in_memory())
    }

    /// An empty database.
    pub(crate) fn database() -> Self {
        Self::Database(Lent::with(""))
    }

    /// Takes all rows away but what the migrations put in.
    pub(crate) fn clear(&self) {
        let tables = self.tables().into_iter().filter(|table| !OF_THE_ENGINE.contains(&table.as_str()));
        let mut delete = String::new();
        for table in tables {
            let _ = write!(delete, "DELETE FROM \"{table}\";");
        }
        match self {
            Self::File(_) => self.execute(&format!(
                "PRAGMA foreign_keys = OFF; BEGIN; {delete} DELETE FROM memory_terms; COMMIT"
            )),
            // Two that were made empty are equal: so is what each was given when it was made.
            Self::Database(_) => self.execute(&format!(
                "BEGIN; SET LOCAL session_replication_role = replica; {delete} DELETE FROM memory_terms; \
                 UPDATE changes SET era = 'aaaaaaaaaaaaaaaa'; COMMIT"
            )),
        }
    }

    /// A store over it, as each process has its own.
    pub(crate) fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::File(folder) => Arc::new(Sqlite::open(file(folder.path())).unwrap()),
            Self::Database(database) => {
                let options = postgres::Options::default().connections(2);
                Arc::new(postgres::Postgres::open_with(&database.url(), options).unwrap())
            }
        }
    }

    /// Looks for damage. On a thread of its own, since it blocks.
    pub(crate) fn check(&self, now: Timestamp) -> Health {
        let checked = || {
            let mut source = match self {
                Self::File(folder) => Sqlite::source(file(folder.path()), sqlite::Options::default()),
                Self::Database(database) => Postgres::source(&database.url(), postgres::Options::default()),
            };
            check(source.as_mut().unwrap(), &Rooms::relay(), now).unwrap()
        };
        std::thread::scope(|scope| scope.spawn(checked).join().unwrap())
    }

    /// Its file, for what is about that engine alone.
    pub(crate) fn file(&self) -> PathBuf {
        match self {
            Self::File(folder) => file(folder.path()),
            Self::Database(_) => panic!("a test of the embedded engine alone runs on PostgreSQL"),
        }
    }

    /// The bytes of all files it has on the disk; of a database, all its rows as text.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::File(folder) => {
                let files = std::fs::read_dir(folder.path()).unwrap();
                files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
            }
            Self::Database(_) => {
                let tables = self.tables();
                let rows = tables.iter().flat_map(|table| self.select(&format!("SELECT * FROM \"{table}\"")));
                rows.flat_map(|row| Json::Object(row).to_string().into_bytes()).collect()
            }
        }
    }

    /// What it is now.
    pub(crate) fn copy(&self) -> Copied {
        match self {
            Self::File(folder) => {
                let copy = folder.path().join("copy");
                rows::read(&file(folder.path())).execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
                let bytes = std::fs::read(&copy).unwrap().into();
                std::fs::remove_file(copy).unwrap();
                Copied::File(bytes)
            }
            Self::Database(_) => {
                let mut rows = String::new();
                for table in self.tables().iter().map(String::as_str).chain(["memory_terms"]) {
                    if OF_THE_ENGINE.contains(&table) {
                        continue;
                    }
                    let all = self.select(&format!("SELECT * FROM \"{table}\""));
                    let all = Json::from(all.into_iter().map(Json::Object).collect::<Vec<_>>()).to_string();
                    let all = all.replace('\'', "''");
                    let _ = write!(
                        rows,
                        "INSERT INTO \"{table}\" SELECT * FROM json_populate_recordset(CAST(NULL AS \"{table}\"), '{all}');"
                    );
                }
                Copied::Database(rows.into())
            }
        }
    }

    /// The rows of a query, from outside.
    pub(crate) fn select(&self, query: &str) -> Vec<Map<String, Json>> {
        match self {
            Self::File(folder) => {
                let connection = rows::read(&file(folder.path()));
                let mut query = connection.prepare(query).unwrap();
                let names: Vec<_> = query.column_names().map(str::to_owned).collect();
                let rows = query.query_map([], |row| {
                    let column = |(at, name): (usize, &String)| Ok((name.clone(), value(row.get_ref(at)?)));
                    names.iter().enumerate().map(column).collect()
                });
                rows.unwrap().map(Result::unwrap).collect()
            }
            Self::Database(database) => database.on(|client| {
                let query = format!("SELECT CAST(row_to_json(asked) AS TEXT) FROM ({query}) AS asked");
                let rows = client.query(&query, &[]).unwrap();
                rows.iter().map(|row| serde_json::from_str(row.get(0)).unwrap()).collect()
            }),
        }
    }

    /// Changes rows, from outside.
    pub(crate) fn execute(&self, statements: &str) {
        match self {
            Self::File(folder) => rows::raw(&file(folder.path())).execute_batch(statements).unwrap(),
            Self::Database(database) => database.execute(statements),
        }
    }

    /// The tables there are, those of the text index and of the engine left out.
    fn tables(&self) -> Vec<String> {
        let query = match self {
            Self::File(_) => {
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' \
                 AND name NOT LIKE 'sqlite_%' ORDER BY name"
            }
            Self::Database(_) => {
                "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' \
                 AND tablename NOT LIKE '%\\_terms' AND tablename <> 'server_life' ORDER BY 1"
            }
        };
        let name = |mut row: Map<String, Json>| row.remove("name").unwrap().as_str().unwrap().to_owned();
        self.select(query).into_iter().map(name).collect()
    }

    /// The columns of a table's key.
    fn key(&self, table: &str) -> Vec<String> {
        let query = match self {
            Self::File(_) => {
                format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY cid")
            }
            Self::Database(_) => format!(
                "SELECT attname AS name FROM pg_index JOIN pg_attribute ON attrelid = indrelid \
                 AND attnum = ANY (indkey) WHERE indrelid = CAST('\"{table}\"' AS regclass) AND indisprimary \
                 ORDER BY attnum"
            ),
        };
        let name = |mut row: Map<String, Json>| row.remove("name").unwrap().as_str().unwrap().to_owned();
        self.select(&query).into_iter().map(name).collect()
    }

    /// Every row of every table, by table and key. Two are equal where nothing has changed.
    pub(crate) fn rows(&self) -> State {
        match self {
            Self::File(folder) => rows::of(&rows::read(&file(folder.path()))),
            Self::Database(_) => {
                let mut state = State::default();
                for table in self.tables().iter().filter(|table| !rows::is_bookkeeping(table)) {
                    let key = self.key(table);
                    for row in self.select(&format!("SELECT * FROM \"{table}\"")) {
                        if table == "outbox" {
                            state.reached("ExternalMail", 1);
                        }
                        state.row(table, rows::key(&row, &key), row);
                    }
                }
                state
            }
        }
    }
}

impl Copied {
    /// A place that is as it was then.
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::File(bytes) => {
                let folder = in_memory();
                std::fs::write(file(folder.path()), &**bytes).unwrap();
                Place::File(folder)
            }
            Self::Database(rows) => Place::Database(Lent::with(rows)),
        }
    }
}

/// A folder that is no disk's where the system has such: what towns are asked is not what survives a
/// power cut, and there are hundreds of them.
fn in_memory() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Where a store's rows are in its folder.
pub(crate) fn file(folder: &Path) -> PathBuf {
    folder.join("relaylink.db")
}

pub(crate) fn value(value: ValueRef<'_>) -> Json {
    match value {
        ValueRef::Null => Json::Null,
        ValueRef::Integer(n) => n.into(),
        ValueRef::Real(n) => n.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => format!("{bytes:02x?}").into(),
    }
}

//! A cursor that says "since" follows the order of commits: what a slow transaction commits after the
//! cursor was handed out is behind it, and nothing is shown twice.

mod lives;

use std::{
    sync::{Arc, mpsc},
    time::Duration,
};

use relaylink_core::{
    prelude::*,
    relay::{Relay, Since},
    store::{
        Store,
        migrations::Migration,
        postgres, sqlite,
        upkeep::{Outcome, Rooms, Target, copy},
    },
    tool::Caller,
};

use crate::database::Database;

const TABLES: &[Migration] = &[Migration::new(
    1,
    "notes",
    "CREATE TABLE notes (id TEXT PRIMARY KEY, changed BIGINT NOT NULL); CREATE INDEX notes_new ON notes (changed, id);",
)];

/// Keeps a note.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct AddNote {
    /// What it is called.
    id: String,
    /// Whether it takes its time after it has its place.
    slow: bool,
}

#[derive(Serialize, JsonSchema)]
struct Added {}

const INSERT: Write = Write::new("INSERT INTO notes (id, changed) VALUES (?1, ?2)");

/// What a slow note tells when it has its place, and waits for before it goes on.
type Gate = (mpsc::SyncSender<()>, mpsc::Receiver<()>);
static GATE: std::sync::Mutex<Option<Gate>> = std::sync::Mutex::new(None);

impl Run for AddNote {
    type Reply = Added;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Added, Stop> {
        let changed = tx.stamp()?;
        tx.write(&INSERT, &[(&self.id).into(), changed.into()])?;
        if self.slow
            && let Some((reached, go)) = GATE.lock().unwrap().take()
        {
            reached.send(()).unwrap();
            go.recv_timeout(Duration::from_secs(10)).unwrap();
        }
        Ok(Added {})
    }
}

/// Shows the notes that are new since a cursor.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(hints(read_only, closed_world))]
struct NewNotes {
    /// The cursor of the answer before.
    since: Option<Since>,
}

#[derive(Serialize, JsonSchema)]
struct Notes {
    notes: Vec<String>,
    as_of: Since,
}

/// Keeps a note, and says up to where its caller has seen.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct AddAndTell {
    /// What it is called.
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct AddedUpTo {
    as_of: Since,
}

impl Run for AddAndTell {
    type Reply = AddedUpTo;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<AddedUpTo, Stop> {
        let changed = tx.stamp()?;
        tx.write(&INSERT, &[(&self.id).into(), changed.into()])?;
        Ok(AddedUpTo { as_of: tx.since()? })
    }
}

const ALL: Select = Select::new("SELECT id FROM notes ORDER BY id");
const NEW: Select = Select::new("SELECT id FROM notes WHERE changed >= CAST(?1 AS BIGINT) ORDER BY id").on_postgres(
    "SELECT id FROM notes WHERE changed >= CAST(CAST(pg_snapshot_xmin(CAST(CAST(?1 AS TEXT) AS pg_snapshot)) AS TEXT) AS BIGINT) \
     AND NOT pg_visible_in_snapshot(CAST(CAST(changed AS TEXT) AS xid8), CAST(CAST(?1 AS TEXT) AS pg_snapshot)) ORDER BY id",
);

impl Run for NewNotes {
    type Reply = Notes;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Notes, Stop> {
        let rows = match &self.since {
            None => tx.select(&ALL, &[])?,
            Some(since) => {
                let behind = tx.behind(since)?;
                tx.select(&NEW, &[behind])?
            }
        };
        let notes = rows.into_iter().map(|mut row| row.take(0)).collect::<Result<_, _>>()?;
        Ok(Notes { notes, as_of: tx.since()? })
    }
}

fn in_file() -> sqlite::Options {
    sqlite::Options::default().migrations("notes", TABLES)
}

fn in_database() -> postgres::Options {
    postgres::Options::default().connections(4).migrations("notes", TABLES)
}

fn relay(store: Arc<dyn Store>) -> Relay {
    Relay::builder(store).tool::<AddNote>().tool::<AddAndTell>().tool::<NewNotes>().build().unwrap()
}

fn embedded(folder: &tempfile::TempDir) -> Relay {
    relay(Arc::new(sqlite::Sqlite::open_with(folder.path().join("data.db"), in_file()).unwrap()))
}

fn served(database: &Database) -> Relay {
    relay(Arc::new(postgres::Postgres::open_with(&database.url(), in_database()).unwrap()))
}

fn caller(account: &str) -> Caller {
    Caller::local(account)
}

async fn add(relay: &Relay, account: &str, id: &str) {
    relay.run(&caller(account), AddNote { id: id.to_owned(), slow: false }).await.unwrap();
}

async fn new(relay: &Relay, since: Option<&Since>) -> (Vec<String>, Since) {
    let Notes { notes, as_of } =
        relay.run(&caller("reader"), NewNotes { since: since.cloned() }).await.unwrap();
    (notes, as_of)
}

async fn each_is_shown_once(relay: &Relay) {
    add(relay, "ana", "a").await;
    let (notes, first) = new(relay, None).await;
    assert_eq!(notes, ["a"]);
    assert!(new(relay, Some(&first)).await.0.is_empty());
    add(relay, "ben", "b").await;
    add(relay, "ana", "c").await;
    let (notes, second) = new(relay, Some(&first)).await;
    assert_eq!(notes, ["b", "c"]);
    assert!(new(relay, Some(&second)).await.0.is_empty());
    assert_eq!(new(relay, Some(&first)).await.0, ["b", "c"], "an older cursor still answers");
}

/// A transaction takes its place, a cursor is handed out, another commits, and then the first does.
async fn a_late_commit_is_behind_the_cursor(relay: &Relay) {
    let (reached, at_gate) = mpsc::sync_channel(1);
    let (open, go) = mpsc::sync_channel(1);
    *GATE.lock().unwrap() = Some((reached, go));
    let slow = {
        let relay = relay.clone();
        tokio::spawn(async move {
            relay.run(&caller("slow"), AddNote { id: "slow".to_owned(), slow: true }).await.unwrap();
        })
    };
    tokio::task::spawn_blocking(move || at_gate.recv_timeout(Duration::from_secs(10)).unwrap())
        .await
        .unwrap();
    let quick = {
        let relay = relay.clone();
        tokio::spawn(async move { add(&relay, "quick", "quick").await })
    };
    // The embedded engine writes one after another; the other one lets the quick one pass.
    let _ = tokio::time::timeout(Duration::from_millis(500), async {
        while !quick.is_finished() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let (before, cursor) = new(relay, None).await;
    assert!(!before.contains(&"slow".to_owned()));
    open.send(()).unwrap();
    slow.await.unwrap();
    quick.await.unwrap();
    let (behind, cursor) = new(relay, Some(&cursor)).await;
    assert!(behind.contains(&"slow".to_owned()), "{behind:?}");
    let mut seen = [before, behind].concat();
    seen.sort();
    let count = seen.len();
    seen.dedup();
    assert_eq!(seen.len(), count, "shown twice: {seen:?}");
    assert!(seen.contains(&"quick".to_owned()));
    assert!(new(relay, Some(&cursor)).await.0.is_empty());
}

async fn what_a_call_adds_itself_is_not_new_to_it(relay: &Relay) {
    let own = AddAndTell { id: "own".to_owned() };
    let AddedUpTo { as_of } = relay.run(&caller("ana"), own).await.unwrap();
    assert!(new(relay, Some(&as_of)).await.0.is_empty());
    add(relay, "ben", "later").await;
    assert_eq!(new(relay, Some(&as_of)).await.0, ["later"]);
}

async fn is_stale(relay: &Relay, since: &Since) {
    let asked = NewNotes { since: Some(since.clone()) };
    let refused = relay.run(&caller("reader"), asked).await.err().unwrap();
    assert_eq!(refused.into_refusal().code, Code::Stale, "{since}");
}

async fn foreign_cursors_are_stale(relay: &Relay, other: &Since) {
    let (_, own) = new(relay, None).await;
    let own = own.to_string();
    let (era, _) = own.split_once('.').unwrap();
    let later = format!("{era}.999999999999:999999999999:").parse().unwrap();
    for since in [other.clone(), later] {
        is_stale(relay, &since).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cursor_follows_the_order_of_commits() {
    let folder = tempfile::tempdir().unwrap();
    let relay = embedded(&folder);
    each_is_shown_once(&relay).await;
    a_late_commit_is_behind_the_cursor(&relay).await;
    what_a_call_adds_itself_is_not_new_to_it(&relay).await;
    let other = tempfile::tempdir().unwrap();
    let (_, foreign) = new(&embedded(&other), None).await;
    foreign_cursors_are_stale(&relay, &foreign).await;

    let Some(database) = Database::new() else { return };
    let relay = served(&database);
    each_is_shown_once(&relay).await;
    a_late_commit_is_behind_the_cursor(&relay).await;
    what_a_call_adds_itself_is_not_new_to_it(&relay).await;
    foreign_cursors_are_stale(&relay, &foreign).await;
    drop(relay);
    let relay = served(&database);
    let (_, cursor) = new(&relay, None).await;
    assert!(new(&relay, Some(&cursor)).await.0.is_empty(), "opening it again begins no era");
    drop(relay);

    database.execute("UPDATE changes SET server = 'another'; UPDATE notes SET changed = 9000000000000000000");
    let relay = served(&database);
    // Restored elsewhere, it begins another.
    is_stale(&relay, &cursor).await;
    let (_, cursor) = new(&relay, None).await;
    assert!(new(&relay, Some(&cursor)).await.0.is_empty());
    add(&relay, "ana", "z").await;
    assert_eq!(new(&relay, Some(&cursor)).await.0, ["z"]);
    drop(relay);

    // A crash empties what is not in the server's log.
    database.execute("TRUNCATE server_life");
    let relay = served(&database);
    is_stale(&relay, &cursor).await;
    let (_, cursor) = new(&relay, None).await;
    assert!(new(&relay, Some(&cursor)).await.0.is_empty());
    let logged =
        "SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname = 'server_life' AND relpersistence <> 'u')";
    assert!(!database.on(|client| client.query_one(logged, &[]).unwrap().get::<_, bool>(0)));
}

/// Moves the notes to a store that was served before, empty, and handed out a cursor.
async fn a_store_that_is_moved_begins_another_era(
    from: &std::path::Path,
    open: impl Fn() -> Relay,
    target: impl FnOnce() -> Target + Send,
) {
    let (_, of_target) = new(&open(), None).await;
    let (_, of_source) =
        new(&relay(Arc::new(sqlite::Sqlite::open_with(from, in_file()).unwrap())), None).await;
    let moved = std::thread::scope(|scope| {
        let moved = scope.spawn(|| {
            let mut source = sqlite::Sqlite::source(from, in_file()).unwrap();
            copy(&mut source, &mut target(), &Rooms::relay(), &mut |_| std::ops::ControlFlow::Continue(()))
        });
        moved.join().unwrap().unwrap()
    });
    assert_eq!(moved.outcome, Outcome::Copied);
    let relay = open();
    let (notes, cursor) = new(&relay, None).await;
    assert_eq!(notes, ["a", "b"]);
    foreign_cursors_are_stale(&relay, &of_source).await;
    foreign_cursors_are_stale(&relay, &of_target).await;
    assert!(new(&relay, Some(&cursor)).await.0.is_empty(), "what came by the move is not new");
    add(&relay, "ana", "c").await;
    assert_eq!(new(&relay, Some(&cursor)).await.0, ["c"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_was_moved_or_backed_up_begins_another_era() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("data.db");
    let source = embedded(&folder);
    add(&source, "ana", "a").await;
    add(&source, "ben", "b").await;

    let copied = tempfile::tempdir().unwrap();
    sqlite::Sqlite::backup(&from, copied.path().join("data.db"), in_file()).unwrap();
    let (_, cursor) = new(&source, None).await;
    let restored = embedded(&copied);
    assert_eq!(new(&restored, None).await.0, ["a", "b"]);
    foreign_cursors_are_stale(&restored, &cursor).await;
    assert!(new(&source, Some(&cursor)).await.0.is_empty(), "the store itself goes on in its own");

    let to = tempfile::tempdir().unwrap();
    let target = || sqlite::Sqlite::target(to.path().join("data.db"), in_file()).unwrap();
    a_store_that_is_moved_begins_another_era(&from, || embedded(&to), target).await;
    let Some(database) = Database::new() else { return };
    let target = || postgres::Postgres::target(&database.url(), in_database()).unwrap();
    a_store_that_is_moved_begins_another_era(&from, || served(&database), target).await;
}

//! The engine refuses what a tool's effects do not cover, whatever the tool's code says.

use std::{fmt::Write as _, path::Path, sync::Arc};

use futures_util::future::join_all;
use relaylink_core::{
    memory::{MemoryAdd, MemoryForget},
    prelude::*,
    relay::Relay,
    store::{
        Statement, StoreError, Value,
        migrations::Migration,
        sqlite::{Options, Sqlite},
    },
    tool::{Caller, Ceiling, Grade},
};

static TABLES: [Migration; 1] = [Migration::new(
    1,
    "engine",
    "CREATE TABLE engine_rows (id TEXT PRIMARY KEY, n BIGINT NOT NULL UNIQUE);
     CREATE TABLE engine_data (id TEXT PRIMARY KEY);
     CREATE VIRTUAL TABLE engine_terms USING fts5 (terms, tokenize = \"ascii tokenchars '~'\");
     INSERT INTO engine_rows (id, n) VALUES ('a', 1), ('b', 2);
     INSERT INTO engine_data (id) VALUES ('a');
     INSERT INTO engine_terms (rowid, terms) VALUES (1, '1~a 1~b');",
)];

/// One way to change something through the raw session.
struct Attempt {
    /// The effects it takes: w, r and m; x where no tool may; e where the engine itself knows no such thing.
    needs: &'static str,
    statement: Statement,
}

macro_rules! attempts {
    ($($needs:literal: $text:expr;)*) => {
        static ATTEMPTS: &[Attempt] = &[$(Attempt { needs: $needs, statement: Statement::unchecked($text) }),*];
    };
}

attempts! {
    "w": "INSERT INTO engine_rows (id, n) VALUES ('new', 9)";
    "w": "INSERT INTO engine_rows (id, n) VALUES ('new', 9) RETURNING id";
    "w": "INSERT INTO engine_rows (id, n) VALUES ('a', 9) ON CONFLICT (id) DO UPDATE SET n = 9";
    "w": "UPDATE engine_rows SET n = n + 10";
    "w": "UPDATE engine_rows SET n = n + 10 RETURNING n";
    "w": "WITH x AS (SELECT 9 AS n) INSERT INTO engine_rows (id, n) SELECT 'new', n FROM x";
    "w": "INSERT INTO engine_terms (rowid, terms) VALUES (2, '1~c')";
    "w": "UPDATE engine_terms SET terms = '1~d' WHERE rowid = 1";
    "r": "DELETE FROM engine_rows";
    "r": "DELETE FROM engine_rows WHERE id = 'a'";
    "r": "delete from engine_rows where id = 'a' returning n";
    "r": "WITH x AS (SELECT 'a' AS id) DELETE FROM engine_rows WHERE id IN (SELECT id FROM x)";
    "r": "DELETE FROM engine_terms WHERE rowid = 1";
    "r": "DELETE FROM engine_data";
    "wr": "INSERT INTO engine_terms (engine_terms) VALUES ('rebuild')";
    "wr": "INSERT INTO memory_terms (memory_terms) VALUES ('delete-all')";
    "m": "INSERT INTO outbox SELECT * FROM outbox";
    "m": "INSERT INTO OutBox SELECT * FROM outbox";
    "m": "UPDATE outbox SET attempts = 9";
    "mr": "DELETE FROM outbox";
    "x": "INSERT OR REPLACE INTO engine_rows (id, n) VALUES ('a', 9)";
    "x": "INSERT OR /* ! */ REPLACE INTO engine_rows (id, n) VALUES ('a', 9)";
    "x": "REPLACE INTO engine_rows (id, n) VALUES ('a', 9)";
    "x": "UPDATE OR REPLACE engine_rows SET n = 1 WHERE id = 'b'";
    "e": "DELETE FROM engine_terms_data";
    "e": "UPDATE engine_terms_content SET c0 = ''";
    "e": "INSERT INTO sqlite_schema (type, name) VALUES ('table', 'x')";
    "x": "CREATE TABLE more (id TEXT)";
    "x": "CREATE TEMP TABLE more (id TEXT)";
    "x": "CREATE TEMP TRIGGER t AFTER INSERT ON engine_rows BEGIN DELETE FROM engine_rows; END";
    "x": "CREATE VIEW v AS SELECT 1";
    "x": "DROP TABLE engine_rows";
    "x": "ALTER TABLE engine_rows RENAME TO rows";
    "x": "PRAGMA user_version = 3";
    "x": "PRAGMA foreign_keys = OFF";
    "x": "PRAGMA data_version";
    "x": "SELECT * FROM pragma_user_version";
    "x": "ATTACH ':memory:' AS other";
    "x": "DETACH main";
    "x": "BEGIN";
    "x": "COMMIT";
    "x": "ROLLBACK";
    "x": "SAVEPOINT s";
    "x": "VACUUM";
    "x": "ANALYZE";
    "x": "REINDEX";
    "x": "SELECT load_extension('x')";
}

/// Runs an attempt through the raw session, and refuses in the end so that nothing stays.
macro_rules! tools {
    ($($(#[$attribute:meta])* $name:ident: $may:literal;)*) => {
        $(
            #[derive(Tool, Deserialize, JsonSchema)]
            $(#[$attribute])*
            struct $name {
                /// Which attempt.
                attempt: u32,
                /// As a query.
                query: bool,
            }

            impl Run for $name {
                type Reply = Done;

                fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
                    let statement = &ATTEMPTS[self.attempt as usize].statement;
                    if self.query {
                        tx.session().query(statement, &[])?;
                    } else {
                        tx.session().execute(statement, &[])?;
                    }
                    Err(Stop::refuse(Code::Conflict, "done, and undone"))
                }
            }
        )*

        /// Runs an attempt with each tool: what the tool may, and how it went.
        async fn with_each(
            relay: &Relay,
            caller: &Caller,
            attempt: u32,
            query: bool,
        ) -> Vec<(&'static str, Stop)> {
            vec![$(($may, relay.run(caller, $name { attempt, query }).await.map(drop).unwrap_err())),*]
        }
    };
}

#[derive(Serialize, JsonSchema)]
struct Done {}

tools! {
    /// May only read.
    #[tool(effects(), hints(read_only, closed_world))]
    Reads: "";
    /// Writes.
    #[tool(effects(Writes), hints(additive, closed_world))]
    WritesAlone: "w";
    /// Removes.
    #[tool(effects(Removes), hints(closed_world))]
    RemovesAlone: "r";
    /// Mails.
    #[tool(effects(ExternalMail), hints(additive))]
    MailsAlone: "m";
    /// Writes and removes.
    #[tool(effects(Writes, Removes), hints(closed_world))]
    WritesRemoves: "wr";
    /// Writes and mails.
    #[tool(effects(Writes, ExternalMail), hints(additive))]
    WritesMails: "wm";
    /// Does all.
    #[tool(effects(Writes, Removes, ExternalMail))]
    All: "wrm";
}

fn open(folder: &tempfile::TempDir) -> Relay {
    let store = Sqlite::open_with(
        folder.path().join("data.db"),
        Options::default().inline(1).migrations("engine", &TABLES),
    )
    .unwrap();
    Relay::new(Arc::new(store)).unwrap()
}

/// Every row of every table and the schema, read from outside.
fn dump(folder: &Path) -> String {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let raw = rusqlite::Connection::open_with_flags(folder.join("data.db"), flags).unwrap();
    let tables: Vec<String> = raw
        .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut all = String::new();
    for table in tables {
        let mut statement = raw.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<_> = (0..columns).map(|at| row.get_ref(at).unwrap()).collect();
            writeln!(all, "{table} {values:?}").unwrap();
        }
    }
    all
}

#[tokio::test]
async fn each_tool_can_do_what_its_effects_cover_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let before = dump(folder.path());
    // Twice, so that the second time every text is in the engine's cache.
    for round in 0..2 {
        for (at, attempt) in ATTEMPTS.iter().enumerate() {
            let text = attempt.statement.text(relaylink_core::store::Dialect::Sqlite);
            let query = text.to_lowercase().contains("returning") || text.starts_with("SELECT");
            let mut allowed = 0;
            for (may, stop) in
                with_each(&relay, &Caller::local("acc_ana"), u32::try_from(at).unwrap(), query).await
            {
                if attempt.needs.chars().all(|need| may.contains(need)) {
                    assert!(
                        matches!(&stop, Stop::Refused(r) if r.message == "done, and undone"),
                        "{text} by {may:?}: {stop:?}"
                    );
                    allowed += 1;
                } else if attempt.needs == "e" {
                    assert!(
                        matches!(stop, Stop::Store(StoreError::Engine(_))),
                        "{text} by {may:?}: {stop:?}"
                    );
                } else {
                    assert!(
                        matches!(stop, Stop::Store(StoreError::Denied(_))),
                        "{text} by {may:?}: {stop:?}"
                    );
                }
            }
            assert_eq!(allowed > 0, !matches!(attempt.needs, "x" | "e"), "{text}, round {round}");
            assert_eq!(dump(folder.path()), before, "{text}");
        }
    }
}

#[tokio::test]
async fn a_query_is_held_to_the_access_as_an_execution_is() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let before = dump(folder.path());
    for (at, attempt) in ATTEMPTS.iter().enumerate() {
        for (may, stop) in
            with_each(&relay, &Caller::local("acc_ana"), u32::try_from(at).unwrap(), true).await
        {
            let refused = matches!(stop, Stop::Store(StoreError::Denied(_) | StoreError::Engine(_)));
            assert_eq!(refused, !attempt.needs.chars().all(|need| may.contains(need)), "{may:?}: {stop:?}");
        }
    }
    assert_eq!(dump(folder.path()), before);
}

/// The text that a tool with Removes runs, from a place of its own in memory.
const DELETE_B: &str = "DELETE FROM engine_rows WHERE id = 'b'";

/// Deletes b.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Removes), hints(closed_world))]
struct DeletesB {}

impl Run for DeletesB {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        const STATEMENT: Remove = Remove::new(DELETE_B);
        tx.remove(&STATEMENT, &[])?;
        Ok(Done {})
    }
}

/// What `memory_forget` runs.
const FORGET: &str = "DELETE FROM memories WHERE account = ?1 AND id = ?2 RETURNING number";

/// Deletes a memory with the text that `memory_forget` runs, and may not.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct ForgetsUnasked {
    /// Which.
    memory: String,
}

impl Run for ForgetsUnasked {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        static STATEMENT: Statement = Statement::unchecked(FORGET);
        let parameters = [tx.account().into(), Value::from(&self.memory)];
        tx.session().query(&STATEMENT, &parameters)?;
        Ok(Done {})
    }
}

#[tokio::test]
async fn the_delete_that_memory_forget_has_just_run_is_refused_to_another() {
    let rows = include_str!("../../src/memory/rows.rs");
    assert!(rows.contains(FORGET), "memory_forget runs another text now");
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let account = relay
        .accounts()
        .create_account("ana@example.org".parse().unwrap(), "Ana".parse().unwrap())
        .await
        .unwrap();
    let caller = Caller::local(account.id.as_str());
    let mut memories = Vec::new();
    for text in ["Ben prefers tea.", "Ben is away on Fridays."] {
        let add = MemoryAdd { text: text.into(), about: None, replaces: None };
        memories.push(relay.run(&caller, add).await.unwrap().memory);
    }
    relay.run(&caller, MemoryForget { memory: memories.remove(0) }).await.unwrap();
    let before = dump(folder.path());
    assert_eq!(before.matches("\nmemories [").count(), 1, "one memory is left");
    let memory = memories.remove(0).to_string();
    let stop = relay.run(&caller, ForgetsUnasked { memory }).await.map(drop).unwrap_err();
    assert!(matches!(stop, Stop::Store(StoreError::Denied("deletes rows"))), "{stop:?}");
    assert_eq!(dump(folder.path()), before);
}

/// Deletes b, with the same text, and may not.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct DeletesBUnasked {
    /// From the same place in memory, or from another.
    same_place: bool,
}

impl Run for DeletesBUnasked {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        static SAME: Statement = Statement::unchecked(DELETE_B);
        let statement: &'static Statement = if self.same_place {
            &SAME
        } else {
            Box::leak(Box::new(Statement::unchecked(Box::leak(DELETE_B.to_owned().into_boxed_str()))))
        };
        tx.session().execute(statement, &[])?;
        Ok(Done {})
    }
}

#[tokio::test]
async fn the_very_text_of_a_delete_that_was_just_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let caller = Caller::local("acc_ana");
    relay.run(&caller, DeletesB {}).await.unwrap();
    let before = dump(folder.path());
    assert!(!before.contains("\"b\"") && before.contains("engine_rows"), "b is gone");
    for same_place in [true, false] {
        let stop = relay.run(&caller, DeletesBUnasked { same_place }).await.map(drop).unwrap_err();
        assert!(matches!(stop, Stop::Store(StoreError::Denied(_))), "{stop:?}");
    }
    assert_eq!(dump(folder.path()), before);
}

/// Says by hand that it may remove, which is not among its effects.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct Forges {}

impl May<Removes> for Forges {}
impl May<ExternalMail> for Forges {}

impl Run for Forges {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        const STATEMENT: Remove = Remove::new("DELETE FROM engine_rows");
        tx.remove(&STATEMENT, &[])?;
        Ok(Done {})
    }
}

/// Says by hand that it may mail.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct ForgesMail {}

impl May<ExternalMail> for ForgesMail {}

impl Run for ForgesMail {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        let to = "ben@example.org".parse().expect("an address");
        tx.mail(relaylink_core::mail::Letter::new(to, "Hello", "text", "pkg_1"))?;
        Ok(Done {})
    }
}

#[tokio::test]
async fn a_forged_may_opens_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let caller = Caller::local("acc_ana");
    let before = dump(folder.path());
    let removed = relay.run(&caller, Forges {}).await.map(drop).unwrap_err();
    assert!(matches!(removed, Stop::Store(StoreError::Denied("deletes rows"))), "{removed:?}");
    let mailed = relay.run(&caller, ForgesMail {}).await.map(drop).unwrap_err();
    assert!(matches!(mailed, Stop::Store(StoreError::Denied("changes the outbox"))), "{mailed:?}");
    assert_eq!(dump(folder.path()), before);
}

#[tokio::test]
async fn a_tool_beyond_the_ceiling_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let writer = Ceiling::listed([("Writes", Grade::Allow), ("ExternalMail", Grade::Stage)]);
    let caller = Caller::with_credential("acc_ana", "another_1", writer);
    for (may, stop) in
        with_each(&relay, &caller, 0, false).await.into_iter().filter(|(may, _)| !may.is_empty())
    {
        let Stop::Refused(refusal) = stop else { panic!("{may}: {stop:?}") };
        // The first attempt writes: what may, runs and is undone.
        let due = if may == "w" { Code::Conflict } else { Code::NotPermitted };
        assert_eq!(refusal.code, due, "{may}: {refusal}");
    }
}

/// Does all, and has another tool do it that may only write.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes, Removes, ExternalMail))]
struct Performs {
    /// Which attempt.
    attempt: u32,
    /// Goes on after a refusal of the other.
    swallows: bool,
}

impl Run for Performs {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        const STATEMENT: Write = Write::new("INSERT INTO engine_rows (id, n) VALUES ('outer', 8)");
        tx.write(&STATEMENT, &[])?;
        let inner = tx.perform(&WritesAlone { attempt: self.attempt, query: false });
        if self.swallows { Ok(Done {}) } else { inner }
    }
}

#[tokio::test]
async fn a_tool_within_another_is_held_to_its_own_effects_and_its_refusal_undoes_both() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let caller = Caller::local("acc_ana");
    let before = dump(folder.path());
    for (at, attempt) in ATTEMPTS.iter().enumerate() {
        for swallows in [false, true] {
            let performs = Performs { attempt: u32::try_from(at).unwrap(), swallows };
            let stop = relay.run(&caller, performs).await.map(drop).unwrap_err();
            let right = match attempt.needs {
                "w" => matches!(&stop, Stop::Refused(refusal) if refusal.message == "done, and undone"),
                "e" => matches!(stop, Stop::Store(StoreError::Engine(_))),
                _ => matches!(stop, Stop::Store(StoreError::Denied(_))),
            };
            let text = attempt.statement.text(relaylink_core::store::Dialect::Sqlite);
            // As an execution, a text that answers rows is an error of the engine.
            let answers = text.to_lowercase().contains("returning") || text.starts_with("SELECT");
            let engine = answers && matches!(stop, Stop::Store(StoreError::Engine(_)));
            assert!(right || engine, "{text}: {stop:?}");
        }
    }
    assert_eq!(dump(folder.path()), before);
}

/// Writes rows that are searched, and removes nothing.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(closed_world))]
struct WritesTerms {
    /// Which row.
    row: u32,
    /// Overwrites it.
    update: bool,
}

impl Run for WritesTerms {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        const INSERT: Write = Write::new("INSERT INTO memory_terms (rowid, terms) VALUES (?1, ?2)");
        const UPDATE: Write = Write::new("UPDATE memory_terms SET terms = ?2 WHERE rowid = ?1");
        let verb = if self.update { "changed" } else { "new" };
        let terms = format!("1~{verb} 1~word{} 1~common", self.row);
        let statement = if self.update { &UPDATE } else { &INSERT };
        let rows = tx.write(statement, &[Value::from(i64::from(self.row)), terms.into()])?;
        if rows == 1 { Ok(Done {}) } else { Err(Stop::refuse(Code::NotFound, "no such row")) }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_searchable_rows_are_written_without_leave_to_delete() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let caller = Caller::local("acc_ana");
    for chunk in 0..50 {
        let inserts =
            (0..100).map(|n| relay.run(&caller, WritesTerms { row: 2 + chunk * 100 + n, update: false }));
        for done in join_all(inserts).await {
            done.unwrap();
        }
    }
    for chunk in 0..5 {
        let updates =
            (0..100).map(|n| relay.run(&caller, WritesTerms { row: 2 + chunk * 100 + n, update: true }));
        for done in join_all(updates).await {
            done.unwrap();
        }
    }
    drop(relay);
    let raw = rusqlite::Connection::open_with_flags(
        folder.path().join("data.db"),
        rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE,
    )
    .unwrap();
    let count = |term: &str| -> i64 {
        raw.query_row("SELECT count(*) FROM memory_terms WHERE memory_terms MATCH ?1", [term], |row| {
            row.get(0)
        })
        .unwrap()
    };
    assert_eq!((count("\"1~common\""), count("\"1~new\""), count("\"1~changed\"")), (5_000, 4_500, 500));
    raw.execute("INSERT INTO memory_terms (memory_terms) VALUES ('integrity-check')", []).unwrap();
}

//! Each way to change something, tried by a tool of each set of effects.

use relaylink_core::{
    prelude::*,
    relay::Relay,
    store::{Dialect, Statement, StoreError},
    tool::{Caller, Ceiling, Grade},
};

use super::{Done, dump, open};

/// One way to change something through the raw session.
pub(super) struct Attempt {
    /// The effects it takes: w, r and m; x where no tool may; e where the engine itself knows no such thing.
    pub(super) needs: &'static str,
    pub(super) statement: Statement,
}

macro_rules! attempts {
    ($($needs:literal: $text:expr;)*) => {
        pub(super) static ATTEMPTS: &[Attempt] = &[$(Attempt { needs: $needs, statement: Statement::unchecked($text) }),*];
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
    "wr": "INSERT INTO \"engine \"\"words\"\"\" (\"engine \"\"words\"\"\") VALUES ('delete-all')";
    "wr": "INSERT INTO [engine \"words\"] ('engine \"words\"') VALUES ('delete-all')";
    "m": "INSERT INTO outbox SELECT * FROM outbox";
    "m": "INSERT INTO OutBox SELECT * FROM outbox";
    "m": "UPDATE outbox SET attempts = 9";
    "mr": "DELETE FROM outbox";
    "x": "INSERT OR REPLACE INTO engine_rows (id, n) VALUES ('a', 9)";
    "x": "INSERT OR /* ! */ REPLACE INTO engine_rows (id, n) VALUES ('a', 9)";
    "x": "REPLACE INTO engine_rows (id, n) VALUES ('a', 9)";
    "x": "UPDATE OR REPLACE engine_rows SET n = 1 WHERE id = 'b'";
    "x": "UPDATE t SET a = $a('), b = $a(')";
    "x": "WITH x AS (SELECT :a(') AS id) INSERT OR REPLACE INTO engine_rows (id, n) SELECT 'a', 9 FROM x WHERE :a(') IS NULL";
    "x": "INSERT INTO migrations (owner, version, name, digest) VALUES ('x', 1, 'x', 'x')";
    "x": "UPDATE \"Migrations\" SET digest = 'x'";
    "x": "DELETE FROM MIGRATIONS";
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
            pub(super) struct $name {
                /// Which attempt.
                pub(super) attempt: u32,
                /// As a query.
                pub(super) query: bool,
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

#[tokio::test]
async fn each_tool_can_do_what_its_effects_cover_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let before = dump(&folder);
    // Twice, so that the second time every text is in the engine's cache.
    for round in 0..2 {
        for (at, attempt) in ATTEMPTS.iter().enumerate() {
            let text = attempt.statement.text(Dialect::Sqlite);
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
            assert_eq!(dump(&folder), before, "{text}");
        }
    }
}

#[tokio::test]
async fn a_query_is_held_to_the_access_as_an_execution_is() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let before = dump(&folder);
    for (at, attempt) in ATTEMPTS.iter().enumerate() {
        for (may, stop) in
            with_each(&relay, &Caller::local("acc_ana"), u32::try_from(at).unwrap(), true).await
        {
            let refused = matches!(stop, Stop::Store(StoreError::Denied(_) | StoreError::Engine(_)));
            assert_eq!(refused, !attempt.needs.chars().all(|need| may.contains(need)), "{may:?}: {stop:?}");
        }
    }
    assert_eq!(dump(&folder), before);
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

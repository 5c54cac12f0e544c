//! The engine to scale out: what is PostgreSQL's own.

mod narrow_roles;
mod reach;
mod refusals;
mod start;
mod turns;
mod width;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use relaylink_core::store::{
    Access, Remove, Request, Select, Statement, Store, StoreError, Verdict, Work, Write,
    behaviour::{CASES, LATE_KEY, OWNER, TABLES},
    migrations::Migration,
    postgres::{Options, Postgres},
};

use crate::{
    database::{Database, server},
    place::ENGINE,
};

/// The suites that are about the tools and not about an engine: they run on this one as well, each in
/// a database of its own.
const SUITES: [&str; 19] = [
    "account::",
    "arguments::",
    "calls::",
    "faults::",
    "gate::",
    "given::",
    "golden::",
    "late_claim::",
    "lenient::",
    "mail::",
    "memory::",
    "messages::",
    "paging::",
    "people::",
    "replay::",
    "replies::",
    "secrets::",
    "tenancy::",
    "well::",
];

#[test]
fn every_suite_holds_on_postgres() {
    if server().is_none() {
        return;
    }
    let program = std::env::current_exe().unwrap();
    let ran = std::process::Command::new(program).args(SUITES).env(ENGINE, "postgres").output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}\n{}", String::from_utf8_lossy(&ran.stderr));
    for suite in SUITES {
        assert!(told.lines().any(|line| line.starts_with(&format!("test {suite}"))), "{suite} ran no test");
    }
    eprintln!("on PostgreSQL: {}", told.lines().rfind(|line| line.starts_with("test result")).unwrap());
}

/// The roles that the suite's late table is granted to, beside those of the migrations.
const LATE_GRANTS: &str = "GRANT SELECT ON behaviour_late TO relaylink_reads;
    DO $$ DECLARE role TEXT; BEGIN
        FOR role IN SELECT rolname FROM pg_roles WHERE rolname LIKE 'relaylink_reads%' LOOP
            EXECUTE format('GRANT SELECT ON behaviour_late TO %I', role);
            IF role LIKE '%writes%' THEN EXECUTE format('GRANT INSERT ON behaviour_late TO %I', role); END IF;
            IF role LIKE '%removes%' THEN EXECUTE format('GRANT DELETE ON behaviour_late TO %I', role); END IF;
        END LOOP;
    END $$";

fn options() -> Options {
    Options::default().connections(4).migrations(OWNER, TABLES)
}

/// Two stores over one database, each second work on the other: as two servers are.
struct Two([Postgres; 2], AtomicUsize);

#[async_trait]
impl Store for Two {
    async fn transact(&self, request: Request, work: Work) -> Result<Verdict, StoreError> {
        self.0[self.1.fetch_add(1, Relaxed) % 2].transact(request, work).await
    }
}

fn behaves(database: &Database) -> [Postgres; 2] {
    let first = Postgres::open_with(&database.url(), options()).unwrap();
    database.execute(LATE_KEY);
    database.execute(LATE_GRANTS);
    [first, Postgres::open_with(&database.url(), options()).unwrap()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_holds_every_case() {
    let Some(database) = Database::new() else { return };
    let [store, _] = behaves(&database);
    let store: Arc<dyn Store> = Arc::new(store);
    for case in CASES {
        case.check(Arc::clone(&store)).await.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_hold_every_case() {
    let Some(database) = Database::new() else { return };
    let store: Arc<dyn Store> = Arc::new(Two(behaves(&database), AtomicUsize::new(0)));
    for case in CASES {
        case.check(Arc::clone(&store)).await.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

static TABLE: Migration = Migration::new(
    1,
    "probe",
    "CREATE TABLE probe_rows (id TEXT PRIMARY KEY, n BIGINT NOT NULL);
     INSERT INTO probe_rows (id, n) VALUES ('a', 0);",
);
static ONE: [Migration; 1] = [TABLE];

static READ: Select = Select::new("SELECT n FROM probe_rows WHERE id = 'a'");
static ADD: Write = Write::new("UPDATE probe_rows SET n = n + 1 WHERE id = 'a'");
static CLEAR: Remove = Remove::new("DELETE FROM probe_rows");

const WRITES: Access = {
    let mut access = Access::READ;
    access.writes = true;
    access
};

fn probe(database: &Database, options: Options) -> Postgres {
    Postgres::open_with(&database.url(), options.migrations("probe", &ONE)).unwrap()
}

async fn run(store: &Postgres, access: Access, statement: &'static Statement) -> Result<Verdict, StoreError> {
    let work: Work = Box::new(move |session| {
        let _ = session.query(statement, &[]);
        Verdict::Commit
    });
    store.transact(Request::new(access, "ana"), work).await
}

fn rows(database: &Database) -> i64 {
    database.on(|client| client.query_one("SELECT n FROM probe_rows", &[]).unwrap().get(0))
}

#[tokio::test]
async fn a_text_that_leaves_its_role_or_its_transaction_is_refused() {
    static TEXTS: [Statement; 10] = [
        Statement::unchecked("RESET ROLE"),
        Statement::unchecked("SET LOCAL ROLE relaylink_reads_writes_removes_mails"),
        Statement::unchecked("SELECT set_config('role', 'none', true)"),
        Statement::unchecked("SELECT SET_CONFIG('role', 'none', true)"),
        Statement::unchecked("COMMIT"),
        Statement::unchecked("TRUNCATE probe_rows"),
        Statement::unchecked("SELECT 1; DELETE FROM probe_rows"),
        Statement::unchecked("DO $$ BEGIN DELETE FROM probe_rows; END $$"),
        Statement::unchecked("COPY probe_rows TO STDOUT"),
        Statement::unchecked("WITH gone AS (DELETE FROM probe_rows RETURNING n) SELECT n FROM gone"),
    ];
    let Some(database) = Database::new() else { return };
    let store = probe(&database, Options::default());
    for text in &TEXTS {
        let ended = run(&store, WRITES, text).await;
        assert!(matches!(ended, Err(StoreError::Denied(_))), "{text:?}: {ended:?}");
    }
    assert_eq!(rows(&database), 0);
}

#[tokio::test]
async fn what_the_database_holds_a_transaction_to_does_not_rest_on_the_text() {
    let Some(database) = Database::new() else { return };
    let store = probe(&database, Options::default().connections(1));
    // The same connection, which has each statement prepared.
    for _ in 0..3 {
        assert_eq!(run(&store, WRITES, ADD.statement()).await, Ok(Verdict::Commit));
        for (access, statement) in
            [(WRITES, CLEAR.statement()), (Access::READ, CLEAR.statement()), (Access::READ, ADD.statement())]
        {
            assert!(matches!(run(&store, access, statement).await, Err(StoreError::Denied(_))));
        }
    }
    assert_eq!(rows(&database), 3);
}

static NEXT: Write =
    Write::new("INSERT INTO probe_rows (id, n) SELECT CAST(COUNT(*) AS TEXT), COUNT(*) FROM probe_rows");
static AGAIN: Write = Write::new("INSERT INTO probe_rows (id, n) VALUES ('a', 1)");

#[tokio::test]
async fn a_row_that_another_put_in_meanwhile_is_seen_by_the_repeat() {
    let Some(database) = Database::new().map(Arc::new) else { return };
    let store = probe(&database, Options::default());
    let (others, mut runs) = (Arc::clone(&database), 0);
    let work: Work = Box::new(move |session| {
        let _ = session.query(READ.statement(), &[]);
        if runs < 3 {
            // It takes the number that the next statement would take, each time another.
            others.execute("INSERT INTO probe_rows (id, n) SELECT count(*), count(*) FROM probe_rows");
        }
        runs += 1;
        let _ = session.execute(NEXT.statement(), &[]);
        Verdict::Commit
    });
    assert_eq!(store.transact(Request::new(WRITES, "ana"), work).await, Ok(Verdict::Commit));
    let rows: i64 =
        database.on(|client| client.query_one("SELECT count(*) FROM probe_rows", &[]).unwrap().get(0));
    assert_eq!((rows, store.reruns()), (5, 3));

    // What a work breaks by itself is told, after one repeat.
    let ended = run(&store, WRITES, AGAIN.statement()).await;
    assert!(matches!(ended, Err(StoreError::Constraint(_))), "{ended:?}");
    assert_eq!(store.reruns(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_cut_is_made_again_and_no_call_is_lost_or_doubled() {
    let Some(database) = Database::new() else { return };
    let url = format!("{}&application_name=test_cut", database.url());
    let store =
        Postgres::open_with(&url, Options::default().connections(2).migrations("probe", &ONE)).unwrap();
    let mut done = 0;
    for round in 0..20 {
        if round % 2 == 0 {
            database.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE application_name = 'test_cut'",
            );
        }
        match run(&store, WRITES, ADD.statement()).await {
            Ok(verdict) => {
                assert_eq!(verdict, Verdict::Commit);
                done += 1;
            }
            Err(error) => panic!("{error}"),
        }
        assert_eq!(run(&store, Access::READ, READ.statement()).await, Ok(Verdict::Commit));
    }
    assert_eq!(rows(&database), done);
    assert!(store.reruns() >= 10, "{} of 10 cuts were met", store.reruns());
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_ended_and_the_connection_goes_on() {
    static LONG: Select = Select::new("SELECT COUNT(*) FROM generate_series(1, 10000000000) AS n");
    let Some(database) = Database::new() else { return };
    let store = probe(&database, Options::default().connections(1).deadline(Duration::from_millis(200)));
    let begun = Instant::now();
    let ended = run(&store, Access::READ, LONG.statement()).await;
    assert!(matches!(ended, Err(StoreError::Busy(_))), "{ended:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(run(&store, WRITES, ADD.statement()).await, Ok(Verdict::Commit));
}

#[tokio::test]
async fn a_database_that_is_away_is_waited_for_as_long_as_there_is_patience() {
    let Some(database) = Database::new() else { return };
    let patience = Duration::from_millis(300);
    let store = probe(&database, Options::default().connections(1).patience(patience));
    database.execute("ALTER TABLE probe_rows RENAME TO probe_away");
    let begun = Instant::now();
    let ended = run(&store, WRITES, ADD.statement()).await;
    assert!(
        matches!(ended, Err(StoreError::Engine(_))),
        "what repeating cannot mend is told at once: {ended:?}"
    );
    assert!(begun.elapsed() < patience);
    let held = database.on(|client| {
        client.batch_execute("ALTER TABLE probe_away RENAME TO probe_rows").unwrap();
        let mut transaction = client.transaction().unwrap();
        transaction.execute("UPDATE probe_rows SET n = n + 1", &[]).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ended = runtime.block_on(run(&store, WRITES, ADD.statement()));
        transaction.commit().unwrap();
        ended
    });
    assert!(matches!(held, Err(StoreError::Busy(_))), "{held:?}");
}

#[test]
fn every_column_of_text_is_compared_by_its_bytes() {
    let Some(database) = Database::new() else { return };
    Postgres::open(&database.url()).unwrap();
    let others: Vec<String> = database.on(|client| {
        let found = "SELECT table_name || '.' || column_name FROM information_schema.columns \
             WHERE table_schema = current_schema() AND data_type = 'text' \
             AND collation_name IS DISTINCT FROM 'C'";
        client.query(found, &[]).unwrap().iter().map(|row| row.get(0)).collect()
    });
    assert_eq!(others, Vec::<String>::new());
}

#[test]
fn processes_that_start_at_once_make_one_schema() {
    let Some(database) = Database::new() else { return };
    std::thread::scope(|scope| {
        let opening: Vec<_> = (0..6).map(|_| scope.spawn(|| Postgres::open(&database.url()))).collect();
        for opened in opening {
            opened.join().unwrap().unwrap();
        }
    });
    let versions: i64 =
        database.on(|client| client.query_one("SELECT count(*) FROM migrations", &[]).unwrap().get(0));
    assert_eq!(usize::try_from(versions).unwrap(), relaylink_core::store::migrations::CORE.len());
}

#[test]
fn a_newer_programs_tables_and_another_programs_are_left_alone() {
    let Some(database) = Database::new() else { return };
    drop(Postgres::open(&database.url()).unwrap());
    let told = |statements: &str| {
        database.execute(statements);
        let Err(StoreError::Unusable(told)) = Postgres::open(&database.url()) else {
            panic!("it was opened")
        };
        told
    };
    let newer =
        "INSERT INTO migrations (owner, version, name, digest) VALUES ('relaylink', 999, 'later', 'x')";
    assert!(told(newer).contains("written by a newer program"), "{newer}");
    let edited =
        "DELETE FROM migrations WHERE version = 999; UPDATE migrations SET digest = 'x' WHERE version = 2";
    assert!(told(edited).contains("migration 2 (accounts)"), "{edited}");
    let other = "DROP TABLE migrations; CREATE TABLE migrations (id BIGINT)";
    assert!(told(other).contains("tables of another program"), "{other}");
}

#[test]
fn a_user_who_may_not_make_the_roles_is_told_what_to_have_run() {
    let Some(database) = Database::new() else { return };
    let user = format!("plain_{}", std::process::id());
    database.execute(&format!(
        "DROP ROLE IF EXISTS {user}; CREATE ROLE {user} LOGIN PASSWORD 'plain'; \
         DO $$ BEGIN EXECUTE format('GRANT ALL ON SCHEMA %I TO {user}', current_schema()); END $$"
    ));
    let address = database.url();
    let url = format!("postgres://{user}:plain@{}", address.split_once('@').unwrap().1);
    let opened = Postgres::open_with(&url, Options::default().roles("nobody_made"));
    let Err(StoreError::Unusable(told)) = opened else { panic!("it was opened") };
    for due in [user.as_str(), "CREATE ROLE \"nobody_made_reads\" NOLOGIN; GRANT \"nobody_made_reads\" TO"] {
        assert!(told.contains(due), "{told}");
    }
    let remedy = told.split_once("run: ").unwrap().1;
    database.execute(remedy);
    Postgres::open_with(&url, Options::default().roles("nobody_made")).unwrap();
    database.execute(&format!("DROP OWNED BY {user}; DROP ROLE {user}"));
    for role in remedy.split('"').filter(|word| word.starts_with("nobody_made")).collect::<BTreeSet<_>>() {
        database.execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
    }
}

#[test]
fn a_lost_commit_is_told_as_such() {
    let Some(database) = Database::new() else { return };
    let url = format!("{}&application_name=test_commit", database.url());
    let store =
        Postgres::open_with(&url, Options::default().connections(1).migrations("probe", &ONE)).unwrap();
    database.execute(
        "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM pg_sleep(2); RETURN NULL; END $$; \
         CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON probe_rows DEFERRABLE INITIALLY DEFERRED \
         FOR EACH ROW EXECUTE FUNCTION linger()",
    );
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            database.on(|client| {
                let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE application_name = 'test_commit' AND query = 'COMMIT' AND state = 'active'";
                while client.query(cut, &[]).unwrap().is_empty() {
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
        });
        crate::behaviour::block_on(run(&store, WRITES, ADD.statement()))
    });
    assert_eq!(ended, Err(StoreError::Unknown));
    assert_eq!(rows(&database), 0);
}

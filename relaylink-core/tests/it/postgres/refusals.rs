//! What an operator is told where a database was set up in another way than a store needs.

use relaylink_core::store::{
    Access, StoreError, Verdict,
    postgres::{Options, Postgres},
};

use super::{ONE, READ, run};
use crate::database::Database;

/// What the start says of this address.
fn told(url: &str, options: Options) -> String {
    match Postgres::open_with(url, options.connections(1)) {
        Err(StoreError::Unusable(told)) => told,
        other => panic!("{other:?}"),
    }
}

/// A user of the database without rights, and roles of its own. Both belong to the whole server, and go with it.
struct Plain {
    database: Database,
    name: String,
}

impl Plain {
    fn new(name: &str) -> Option<Self> {
        let database = Database::new()?;
        let name = format!("plain_{}_{name}", std::process::id());
        database.execute(&format!("CREATE ROLE {name} LOGIN PASSWORD 'plain'"));
        Some(Self { database, name })
    }

    /// One whose database holds a store that another user made, and what the start says of it.
    fn of_another(name: &str) -> Option<(Self, String)> {
        let plain = Self::new(name)?;
        drop(Postgres::open_with(&plain.database.url(), plain.options()).unwrap());
        plain.each_role("GRANT NARROW TO PLAIN");
        plain.database.execute(&format!("GRANT ALL ON SCHEMA public TO {}", plain.name));
        let refused = told(&plain.url(), plain.options());
        assert!(refused.contains("that belong to postgres"), "{refused}");
        Some((plain, refused))
    }

    fn url(&self) -> String {
        let url = self.database.url();
        format!("postgres://{}:plain@{}", self.name, url.split_once('@').unwrap().1)
    }

    fn options(&self) -> Options {
        Options::default().connections(1).roles(self.name.as_str()).migrations("probe", &ONE)
    }

    /// Runs a statement for each of the narrow roles, with `NARROW` for its name and `PLAIN` for the user's.
    fn each_role(&self, statement: &str) {
        let statement = statement.replace("NARROW", "%1$I").replace("PLAIN", &self.name);
        self.database.execute(&format!(
            "DO $$ DECLARE role TEXT; BEGIN FOR role IN SELECT rolname FROM pg_roles WHERE rolname LIKE '{}\\_reads%' \
             LOOP EXECUTE format('{statement}', role); END LOOP; END $$",
            self.name
        ));
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        self.each_role("DROP OWNED BY NARROW CASCADE; DROP ROLE NARROW");
        self.database.execute(&format!("DROP OWNED BY {0} CASCADE; DROP ROLE {0}", self.name));
    }
}

#[test]
fn a_database_that_cannot_write_every_text_is_refused() {
    let how = "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'";
    let Some(database) = Database::made(how) else { return };
    let opened = told(&database.url(), Options::default());
    let filled = Postgres::target(&database.url(), Options::default());
    let Err(StoreError::Unusable(filled)) = filled else { panic!("it would be filled") };
    for told in [opened, filled] {
        assert!(told.contains("LATIN1") && told.contains("ENCODING 'UTF8'"), "{told}");
    }
    let tables: i64 = database.on(|client| {
        let find = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
        client.query_one(find, &[]).unwrap().get(0)
    });
    assert_eq!(tables, 0);
}

#[test]
fn a_path_to_no_schema_and_a_database_that_is_read_only_are_told_as_such() {
    let Some(database) = Database::new() else { return };
    let path = told(&format!("{}&options=-csearch_path%3Dnope", database.url()), Options::default());
    assert!(path.contains("has no schema for this user: make one"), "{path}");
    let read_only = "options=-cdefault_transaction_read_only%3Don";
    let read_only = told(&format!("{}&{read_only}", database.url()), Options::default());
    assert!(read_only.contains("is read-only"), "{read_only}");
    Postgres::open(&database.url()).unwrap();
}

/// Runs a statement, and then ends all of the store's connections.
fn cut_off(database: &Database, statement: &str) {
    database.execute(&format!(
        "{statement}; SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()"
    ));
}

#[tokio::test]
async fn a_database_that_is_set_read_only_while_it_is_served_goes_on_to_be_read() {
    let Some(database) = Database::new() else { return };
    let store = super::probe(&database, Options::default().connections(1));
    assert_eq!(run(&store, super::WRITES, super::ADD.statement()).await, Ok(Verdict::Commit));
    let set =
        |to| format!("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I {to}', current_database()); END $$");
    // A crash comes on top, so that the life is to be named.
    cut_off(&database, &format!("{}; TRUNCATE server_life", set("SET default_transaction_read_only = on")));
    for _ in 0..2 {
        assert_eq!(run(&store, Access::READ, READ.statement()).await, Ok(Verdict::Commit));
        let written = run(&store, super::WRITES, super::ADD.statement()).await;
        let Err(StoreError::Unusable(told)) = written else { panic!("{written:?}") };
        assert!(told.contains("is read-only for this user: default_transaction_read_only is on"), "{told}");
    }
    let lives = "SELECT count(*) FROM server_life";
    assert_eq!(database.on(|client| client.query_one(lives, &[]).unwrap().get::<_, i64>(0)), 1);
    // It is noticed without another start that it may be written again.
    database.execute(&format!("BEGIN READ WRITE; {}; COMMIT", set("RESET default_transaction_read_only")));
    assert_eq!(run(&store, super::WRITES, super::ADD.statement()).await, Ok(Verdict::Commit));
    assert_eq!(run(&store, Access::READ, READ.statement()).await, Ok(Verdict::Commit));
}

#[tokio::test]
async fn a_store_whose_table_of_lives_is_gone_says_what_makes_it() {
    let Some(database) = Database::new() else { return };
    let store = super::probe(&database, Options::default().connections(1));
    cut_off(&database, "DROP TABLE server_life");
    let read = run(&store, Access::READ, READ.statement()).await;
    let Err(StoreError::Unusable(told)) = read else { panic!("{read:?}") };
    assert!(told.contains("has no table server_life any more: start RelayLink again"), "{told}");
    drop(super::probe(&database, Options::default()));
    assert_eq!(run(&store, Access::READ, READ.statement()).await, Ok(Verdict::Commit));
}

#[test]
fn a_user_who_may_not_make_tables_is_told_what_to_have_run() {
    let Some(plain) = Plain::new("creates") else { return };
    plain.database.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    let refused = told(&plain.url(), plain.options());
    assert!(refused.contains("may not make tables in the schema public"), "{refused}");
    let remedy = refused.split_once("run: ").unwrap().1.split_once(';').unwrap().0;
    assert_eq!(remedy, format!("GRANT CREATE, USAGE ON SCHEMA public TO {}", plain.name));
    plain.database.execute(remedy);
    let then = told(&plain.url(), plain.options());
    assert!(then.contains("narrow roles"), "{then}");
}

#[test]
fn tables_that_belong_to_another_user_are_told_as_such() {
    let Some((plain, refused)) = Plain::of_another("owns") else { return };
    plain.database.execute(refused.split_once("run: ").unwrap().1);
    Postgres::open_with(&plain.url(), plain.options()).unwrap();

    // Those of another program's are not.
    plain.database.execute("DROP TABLE migrations; CREATE TABLE migrations (id BIGINT)");
    let refused = told(&plain.url(), plain.options());
    assert!(refused.contains("tables of another program"), "{refused}");
}

/// What is said where a database is to be read as a whole.
fn unread(url: &str, options: Options) -> String {
    match Postgres::source(url, options) {
        Err(StoreError::Unusable(told)) => told,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_user_who_may_not_connect_is_told_what_to_have_run() {
    let Some(plain) = Plain::new("connects") else { return };
    plain.database.execute(
        "DO $$ BEGIN EXECUTE format('REVOKE CONNECT ON DATABASE %I FROM PUBLIC', current_database()); END $$",
    );
    let refused = told(&plain.url(), plain.options());
    assert_eq!(unread(&plain.url(), plain.options()), refused);
    let (what, remedy) = refused.split_once(". Have an administrator run: ").unwrap();
    assert!(what.starts_with(&format!("the database user {} may not connect to", plain.name)), "{refused}");
    plain.database.execute(remedy);
    let then = told(&plain.url(), plain.options());
    assert!(!then.contains("may not connect"), "{then}");

    let setting = format!("{}&options=-csession_replication_role%3Dreplica", plain.url());
    let refused = told(&setting, plain.options());
    assert!(refused.contains("session_replication_role") && !refused.contains("GRANT"), "{refused}");
}

#[test]
fn tables_that_may_not_be_read_as_a_whole_are_told_with_the_words_of_the_start() {
    let Some((plain, refused)) = Plain::of_another("reads") else { return };
    // As a dump leaves them that was restored without privileges.
    plain.each_role("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM NARROW");
    let read = unread(&plain.url(), plain.options());
    let grant = format!("run: GRANT SELECT ON ALL TABLES IN SCHEMA public TO {}.", plain.name);
    assert!(read.contains(&grant) && read.ends_with(&refused), "{read}");
    plain.database.execute(refused.split_once("run: ").unwrap().1);
    Postgres::source(&plain.url(), plain.options()).unwrap();

    plain.database.execute("ALTER TABLE drafts OWNER TO postgres");
    let refused = unread(&plain.url(), plain.options());
    let remedy = format!("run: ALTER TABLE public.drafts OWNER TO {};", plain.name);
    assert!(refused.ends_with(&remedy), "{refused}");
    // Whoever may read all of them needs to own none.
    plain.database.execute(&format!("GRANT SELECT ON drafts TO {}", plain.name));
    Postgres::source(&plain.url(), plain.options()).unwrap();
}

#[tokio::test]
async fn a_role_that_is_taken_from_the_user_is_not_the_tools_doing() {
    let Some(plain) = Plain::new("loses") else { return };
    drop(Postgres::open_with(&plain.database.url(), plain.options()).unwrap());
    plain.each_role("GRANT NARROW TO PLAIN");
    plain.database.execute(&format!(
        "GRANT ALL ON SCHEMA public TO {0}; DO $$ DECLARE t TEXT; BEGIN FOR t IN SELECT tablename FROM pg_tables \
         WHERE schemaname = 'public' LOOP EXECUTE format('ALTER TABLE %I OWNER TO {0}', t); END LOOP; END $$",
        plain.name
    ));
    let store = Postgres::open_with(&plain.url(), plain.options()).unwrap();
    assert_eq!(run(&store, Access::READ, READ.statement()).await, Ok(Verdict::Commit));
    plain.each_role("REVOKE NARROW FROM PLAIN");
    let ended = run(&store, Access::READ, READ.statement()).await;
    let Err(StoreError::Unusable(told)) = ended else { panic!("{ended:?}") };
    assert!(told.contains("not let the store act under its narrow role"), "{told}");
    plain.each_role("GRANT NARROW TO PLAIN");
    assert_eq!(run(&store, Access::READ, READ.statement()).await, Ok(Verdict::Commit));
}

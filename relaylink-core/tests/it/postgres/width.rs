//! Narrow roles of which one may do more than its access: the start refuses them.

use relaylink_core::store::{
    Remove, StoreError,
    postgres::{Options, Postgres},
};

use super::{WRITES, run};
use crate::database::Database;

static CLEAR: Remove = Remove::new("DELETE FROM memories_gone");

/// A store whose roles are of this test alone, and go with it: they belong to the whole server.
struct Own {
    database: Database,
    roles: String,
}

impl Own {
    fn new(name: &str) -> Option<Self> {
        let database = Database::new()?;
        Some(Self { database, roles: format!("wide_{}_{name}", std::process::id()) })
    }

    fn open(&self) -> Result<Postgres, StoreError> {
        let options = Options::default().connections(1).roles(self.roles.as_str());
        Postgres::open_with(&self.database.url(), options)
    }

    /// Runs statements with `ROLES` for what the roles' names begin with.
    fn execute(&self, statements: &str) {
        self.database.execute(&statements.replace("ROLES", &self.roles));
    }

    /// Refused with this; when an administrator has run what it says, it opens, and the role holds.
    fn refused(&self, due: &[&str]) {
        let Err(StoreError::Unusable(told)) = self.open() else { panic!("it was opened: {due:?}") };
        for due in due {
            assert!(told.contains(&due.replace("ROLES", &self.roles)), "{due}: {told}");
        }
        self.database.execute(told.split_once("run: ").unwrap().1);
        let store = self.open().unwrap();
        let ended = crate::behaviour::block_on(run(&store, WRITES, CLEAR.statement()));
        assert!(matches!(ended, Err(StoreError::Denied(_))), "{ended:?}");
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.execute(
            "DO $$ DECLARE role TEXT; BEGIN FOR role IN SELECT rolname FROM pg_roles WHERE rolname LIKE 'ROLES%' LOOP \
             EXECUTE format('DROP OWNED BY %I CASCADE', role); EXECUTE format('DROP ROLE %I', role); END LOOP; END $$",
        );
    }
}

#[test]
fn what_everybody_was_granted_before_the_first_start_is_found() {
    let Some(own) = Own::new("public") else { return };
    own.execute("ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC");
    own.refused(&[
        "narrow role ROLES_reads may DELETE, INSERT, TRUNCATE, UPDATE in the table ",
        "as everybody",
        "DELETE, TRUNCATE ON TABLE public.memories_gone FROM PUBLIC;",
        "ON TABLE public.migrations FROM PUBLIC;",
    ]);
    // To read is covered by each access; and in a database of an older version's everybody may make tables.
    own.execute(
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC; GRANT CREATE ON SCHEMA public TO PUBLIC",
    );
    own.open().unwrap();
}

#[test]
fn a_superuser_of_a_narrow_roles_name_is_found() {
    let Some(own) = Own::new("super") else { return };
    own.execute("CREATE ROLE ROLES_reads_writes NOLOGIN SUPERUSER");
    own.refused(&[
        "narrow role ROLES_reads_writes is a superuser",
        "ALTER ROLE ROLES_reads_writes NOSUPERUSER;",
    ]);
}

#[test]
fn a_narrow_role_that_is_a_member_of_another_role_is_found() {
    let Some(own) = Own::new("member") else { return };
    own.open().unwrap();
    own.execute("GRANT ROLES_reads_removes TO ROLES_reads_writes");
    own.refused(&["narrow role ROLES_reads_writes is a member of ROLES_reads_removes"]);
    own.execute("GRANT pg_write_all_data TO ROLES_reads");
    own.refused(&["narrow role ROLES_reads is a member of pg_write_all_data"]);
}

#[test]
fn what_a_narrow_role_was_granted_or_owns_beside_its_access_is_found() {
    let Some(own) = Own::new("granted") else { return };
    own.open().unwrap();
    for (statement, due) in [
        ("GRANT DELETE ON memories_gone TO ROLES_reads_writes", "may DELETE in the table memories_gone,"),
        ("GRANT UPDATE (id) ON accounts TO ROLES_reads_removes", "may UPDATE in the table accounts,"),
        ("GRANT INSERT ON outbox TO ROLES_reads_writes", "may INSERT in the table outbox,"),
        ("GRANT TRUNCATE ON outbox TO ROLES_reads_writes_removes_mails", "may TRUNCATE in the table outbox,"),
        ("ALTER TABLE memories_gone OWNER TO ROLES_reads_writes", "owns the table memories_gone"),
        ("GRANT CREATE ON SCHEMA public TO ROLES_reads", "may make tables in the schema public"),
    ] {
        own.execute(statement);
        own.refused(&[due]);
    }
}

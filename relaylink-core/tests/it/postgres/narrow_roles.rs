//! A user who may not make the narrow roles, where some of them are there.

use relaylink_core::store::{
    StoreError,
    postgres::{Options, Postgres},
};

use crate::database::Database;

/// The roles of a server, by how their names go on.
const ROLES: [&str; 8] = [
    "reads",
    "reads_writes",
    "reads_removes",
    "reads_writes_removes",
    "reads_mails",
    "reads_writes_mails",
    "reads_removes_mails",
    "reads_writes_removes_mails",
];

/// Users and roles belong to the whole server, and go with this.
struct Made<'d> {
    database: &'d Database,
    names: Vec<String>,
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        for name in &self.names {
            self.database.execute(&format!("DROP OWNED BY {name}; DROP ROLE {name}"));
        }
    }
}

/// Opens the store as a user without rights, where as many of the roles are there and as many of these
/// are granted to it; gives the statements that it was told to have run.
fn remedied(there: usize, granted: usize) -> String {
    let Some(database) = Database::new() else { return String::new() };
    let prefix = format!("partly_{}_{there}_{granted}", std::process::id());
    let user = format!("{prefix}_user");
    let roles: Vec<_> = ROLES.iter().map(|role| format!("{prefix}_{role}")).collect();
    database.execute(&format!(
        "CREATE ROLE {user} LOGIN PASSWORD 'plain'; \
         DO $$ BEGIN EXECUTE format('GRANT ALL ON SCHEMA %I TO {user}', current_schema()); END $$"
    ));
    for (at, role) in roles[..there].iter().enumerate() {
        database.execute(&format!("CREATE ROLE {role} NOLOGIN"));
        if at < granted {
            database.execute(&format!("GRANT {role} TO {user}"));
        }
    }
    let mut made = Made { database: &database, names: vec![user.clone()] };
    made.names.extend_from_slice(&roles[..there]);

    let url = format!("postgres://{user}:plain@{}", database.url().split_once('@').unwrap().1);
    let open = || Postgres::open_with(&url, Options::default().connections(1).roles(prefix.as_str()));
    let Err(StoreError::Unusable(told)) = open() else { panic!("it was opened") };
    let (reason, remedy) = told.split_once("run: ").unwrap();
    assert!(!reason.contains('('), "{reason}");
    // In one transaction.
    database.execute(remedy);
    made.names.extend_from_slice(&roles[there..]);
    open().unwrap();
    remedy.replace(&format!("{prefix}_"), "")
}

#[test]
fn the_remedy_names_what_is_missing_and_nothing_that_is_there() {
    if crate::database::server().is_none() {
        return;
    }
    for (there, granted) in [(8, 0), (8, 3), (3, 1)] {
        let told = remedied(there, granted);
        let mut due = Vec::new();
        for (at, role) in ROLES.iter().enumerate() {
            if at >= there {
                due.push(format!("CREATE ROLE \"{role}\" NOLOGIN;"));
            }
            if at >= granted {
                due.push(format!("GRANT \"{role}\" TO \"user\";"));
            }
        }
        assert_eq!(told, due.join(" "));
    }
}

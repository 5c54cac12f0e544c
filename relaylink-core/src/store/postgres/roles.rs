//! The narrow roles: what a transaction of each access may do, in the database's own words.

use std::fmt::Write as _;

use tokio_postgres::{Client, Transaction};

use super::connection::Fault;
use crate::store::{
    Access, StoreError,
    upkeep::{LIFE, quoted},
    verify,
};

/// The role of each access. Made once, and set at the beginning of each transaction.
#[derive(Clone, Debug)]
pub(super) struct Roles {
    names: [String; 8],
    /// What begins a transaction under each of them.
    begin: [String; 8],
    /// What goes on under each of them.
    set: [String; 8],
}

const fn at(access: Access) -> usize {
    access.writes as usize | (access.removes as usize) << 1 | (access.mails as usize) << 2
}

const fn access(at: usize) -> Access {
    Access { writes: at & 1 != 0, removes: at & 2 != 0, mails: at & 4 != 0 }
}

impl Roles {
    pub(super) fn new(prefix: &str) -> Self {
        let name = |at: usize| {
            let Access { writes, removes, mails } = access(at);
            let mut name = format!("{prefix}_reads");
            for (may, word) in [(writes, "_writes"), (removes, "_removes"), (mails, "_mails")] {
                name.push_str(if may { word } else { "" });
            }
            name
        };
        let names: [String; 8] = std::array::from_fn(name);
        let set = names.each_ref().map(|name| format!("SET LOCAL ROLE {}", quoted(name)));
        let begin = std::array::from_fn(|at| {
            let how = if access(at).is_read() {
                "ISOLATION LEVEL REPEATABLE READ READ ONLY"
            } else {
                "ISOLATION LEVEL SERIALIZABLE READ WRITE"
            };
            format!("BEGIN {how}; {}", set[at])
        });
        Self { names, begin, set }
    }

    /// Begins a transaction of this access.
    pub(super) fn begin(&self, access: Access) -> &str {
        &self.begin[at(access)]
    }

    /// Goes on under the role of this access.
    pub(super) fn set(&self, access: Access) -> &str {
        &self.set[at(access)]
    }

    /// Makes the roles that are missing. An error says what an administrator has to do, where this
    /// user may not.
    pub(super) async fn make(&self, client: &Client) -> Result<(), StoreError> {
        if self.all_may_be_set(client).await {
            return Ok(());
        }
        let row = client.query_one("SELECT CAST(session_user AS TEXT)", &[]).await;
        let user: String = row.and_then(|row| row.try_get(0)).map_err(Fault::of)?;
        for name in self.quoted() {
            // Another process, at another database of the server, may be at it, too.
            let make = format!(
                "DO $$ BEGIN CREATE ROLE {name} NOLOGIN; \
                 EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
            );
            // What could not be made is missing still, and told below.
            if client.batch_execute(&make).await.is_ok() {
                let _ = client.batch_execute(&format!("GRANT {name} TO {}", quoted(&user))).await;
            }
        }
        let remedy = self.remedy(client, &user).await?;
        if remedy.is_empty() {
            return Ok(());
        }
        Err(StoreError::Unusable(format!(
            "the database user {user} may not act under all of RelayLink's narrow roles, and may not make or \
             grant them. By these roles the database holds each tool to its effects. \
             Have an administrator run: {remedy}"
        )))
    }

    /// Whether this user can act under each of the roles.
    async fn all_may_be_set(&self, client: &Client) -> bool {
        let mut all = String::new();
        for name in self.quoted() {
            let _ = write!(all, "SET ROLE {name}; ");
        }
        client.batch_execute(&(all + "RESET ROLE")).await.is_ok()
    }

    /// The statements by which an administrator makes and grants what is missing, and nothing that is there:
    /// run as one transaction, they would be undone by it.
    async fn remedy(&self, client: &Client, user: &str) -> Result<String, StoreError> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let find = "SELECT CAST(rolname AS TEXT) FROM pg_roles WHERE rolname = ANY ($1)";
        let rows = client.query(find, &[&names]).await.map_err(Fault::of)?;
        let there: Vec<String> =
            rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(Fault::of)?;
        let user = quoted(user);
        let mut remedy = Vec::new();
        for (name, role) in self.names.iter().zip(self.quoted()) {
            let granted = if there.contains(name) {
                match client.batch_execute(&format!("SET ROLE {role}; RESET ROLE")).await.map_err(Fault::of) {
                    Ok(()) => true,
                    Err(fault) if matches!(fault.error, StoreError::Denied(_)) => false,
                    Err(fault) => return Err(fault.error),
                }
            } else {
                remedy.push(format!("CREATE ROLE {role} NOLOGIN;"));
                false
            };
            if !granted {
                remedy.push(format!("GRANT {role} TO {user};"));
            }
        }
        Ok(remedy.join(" "))
    }

    /// What each role may do with these tables, as a store's access means it: the privileges, the
    /// tables and the roles.
    fn privileges<'t>(&'t self, tables: &'t [String]) -> Vec<(&'static str, Vec<&'t str>, Vec<&'t str>)> {
        let (mail, rest): (Vec<_>, Vec<_>) =
            tables.iter().map(String::as_str).partition(|table| verify::is_mail(table));
        let roles = |may: fn(Access) -> bool| {
            (0..8).filter(|&at| may(access(at))).map(|at| &*self.names[at]).collect::<Vec<_>>()
        };
        let mut privileges = vec![("SELECT", vec![LIFE], roles(|_| true))];
        for (on, change, remove) in [
            (rest, roles(|may| may.writes), roles(|may| may.removes)),
            (mail, roles(|may| may.mails), roles(|may| may.mails && may.removes)),
        ] {
            if !on.is_empty() {
                privileges.push(("SELECT", on.clone(), roles(|_| true)));
                privileges.push(("INSERT, UPDATE", on.clone(), change));
                privileges.push(("DELETE", on, remove));
            }
        }
        privileges
    }

    /// What is to be granted, one by one: the privilege, the table and the role.
    pub(super) fn due<'t>(&'t self, tables: &'t [String]) -> (Vec<&'static str>, Vec<&'t str>, Vec<&'t str>) {
        let (mut whats, mut ons, mut whose) = (Vec::new(), Vec::new(), Vec::new());
        for (what, on, roles) in self.privileges(tables) {
            for what in what.split(", ") {
                for on in &on {
                    for role in &roles {
                        whats.push(what);
                        ons.push(*on);
                        whose.push(*role);
                    }
                }
            }
        }
        (whats, ons, whose)
    }

    /// Whether a role lacks something that its access may do.
    pub(super) async fn lack(&self, client: &Client, tables: &[String]) -> Result<bool, StoreError> {
        let (whats, ons, whose) = self.due(tables);
        let lacking = "SELECT EXISTS (SELECT 1 \
             FROM unnest(CAST($1 AS TEXT[]), CAST($2 AS TEXT[]), CAST($3 AS TEXT[])) AS due (what, t, role) \
             WHERE NOT has_table_privilege(role, quote_ident(current_schema()) || '.' || quote_ident(t), what) \
             OR NOT has_schema_privilege(role, current_schema(), 'USAGE'))";
        let row = client.query_one(lacking, &[&whats, &ons, &whose]).await;
        Ok(row.and_then(|row| row.try_get(0)).map_err(Fault::of)?)
    }

    /// Grants each role what its access may do.
    pub(super) async fn grant(
        &self,
        transaction: &Transaction<'_>,
        tables: &[String],
    ) -> Result<(), StoreError> {
        let row = transaction.query_one("SELECT CAST(current_schema() AS TEXT)", &[]).await;
        let schema: String = row.and_then(|row| row.try_get(0)).map_err(Fault::of)?;
        let mut grants = format!("GRANT USAGE ON SCHEMA {} TO {}", quoted(&schema), self.quoted().join(", "));
        for (what, on, roles) in self.privileges(tables) {
            let list = |names: &[&str]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
            let _ = write!(grants, "; GRANT {what} ON {} TO {}", list(&on), list(&roles));
        }
        transaction.batch_execute(&grants).await.map_err(Fault::of)?;
        Ok(())
    }

    pub(super) fn names(&self) -> &[String; 8] {
        &self.names
    }

    /// The names as SQL writes them.
    fn quoted(&self) -> [String; 8] {
        self.names.each_ref().map(|name| quoted(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_access_has_a_role_and_a_read_cannot_write() {
        let roles = Roles::new("relaylink");
        assert_eq!(
            roles.begin(Access::READ),
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL ROLE \"relaylink_reads\""
        );
        assert_eq!(
            roles.begin(Access::ALL),
            "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE; \
             SET LOCAL ROLE \"relaylink_reads_writes_removes_mails\""
        );
    }

    #[test]
    fn no_flag_of_an_access_gives_what_belongs_to_another() {
        let roles = Roles::new("r");
        let tables = ["drafts".to_owned(), "outbox".to_owned()];
        let found: Vec<_> = roles.privileges(&tables);
        let due: [(&str, &str, &[usize]); 7] = [
            ("SELECT", "server_life", &[0, 1, 2, 3, 4, 5, 6, 7]),
            ("SELECT", "drafts", &[0, 1, 2, 3, 4, 5, 6, 7]),
            ("INSERT, UPDATE", "drafts", &[1, 3, 5, 7]),
            ("DELETE", "drafts", &[2, 3, 6, 7]),
            ("SELECT", "outbox", &[0, 1, 2, 3, 4, 5, 6, 7]),
            ("INSERT, UPDATE", "outbox", &[4, 5, 6, 7]),
            ("DELETE", "outbox", &[6, 7]),
        ];
        let due = due.map(|(what, on, of)| {
            (what, vec![on], of.iter().map(|&at| &*roles.names[at]).collect::<Vec<_>>())
        });
        assert_eq!(found, due);
    }
}

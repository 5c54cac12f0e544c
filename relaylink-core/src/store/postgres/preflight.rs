//! What the start looks at before it changes a database, and what it says where the database let it not.

use tokio_postgres::{Client, SimpleQueryMessage};

use super::connection::{Fault, because};
use crate::store::{
    StoreError,
    upkeep::{LIFE, quoted},
};

/// The server's routine that looks whether a user may connect to a database. Its words are in the server's
/// language, and its code is that of every other lack of rights.
const ENTRANCE: &str = "CheckMyDatabase";
/// How texts are kept.
const ENCODING: &str = "UTF8";

/// Refuses a database in which no store can be, whatever its user may do.
pub(super) async fn refuse_unfit(client: &Client, name: &str) -> Result<(), StoreError> {
    let find = "SELECT current_setting('server_encoding'), CAST(current_schema() AS TEXT), \
         pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";
    let row = client.query_one(find, &[]).await.map_err(Fault::of)?;
    let encoding: String = row.try_get(0).map_err(Fault::of)?;
    let schema: Option<String> = row.try_get(1).map_err(Fault::of)?;
    let (standby, read_only): (bool, bool) =
        (row.try_get(2).map_err(Fault::of)?, row.try_get(3).map_err(Fault::of)?);
    if encoding != ENCODING {
        return Err(StoreError::Unusable(format!(
            "{name} keeps texts as {encoding}, in which not every text can be written, and RelayLink needs \
             {ENCODING}. Make another one: CREATE DATABASE … TEMPLATE template0 ENCODING '{ENCODING}'"
        )));
    }
    if schema.is_none() {
        return Err(no_schema(name));
    }
    if standby {
        return Err(on_standby(name));
    }
    if read_only { Err(set_read_only(name)) } else { Ok(()) }
}

/// What a connection for works looks at before anything else.
pub(super) const SERVED: &str = "SELECT pg_is_in_recovery(), to_regclass('server_life') IS NULL, \
    current_setting('transaction_read_only') = 'on'";

/// Refuses a database that cannot be served any more, by what [`SERVED`] found. What is said to works that
/// write, where it was set read-only: those that read go on.
pub(super) fn refuse_unserved(
    found: &[SimpleQueryMessage],
    name: &str,
) -> Result<Option<StoreError>, StoreError> {
    let is =
        |at| found.iter().any(|row| matches!(row, SimpleQueryMessage::Row(row) if row.get(at) == Some("t")));
    if is(0) {
        return Err(on_standby(name));
    }
    if is(1) {
        return Err(StoreError::Unusable(format!(
            "{name} has no table {LIFE} any more: start RelayLink again, which makes it"
        )));
    }
    Ok(is(2).then(|| set_read_only(name)))
}

fn on_standby(name: &str) -> StoreError {
    StoreError::Unusable(format!(
        "{name} is on a standby, which nobody can write to: give the address of its primary"
    ))
}

fn set_read_only(name: &str) -> StoreError {
    StoreError::Unusable(format!(
        "{name} is read-only for this user: default_transaction_read_only is on. Turn it off where it was set: \
         for the database (ALTER DATABASE … RESET default_transaction_read_only), its user (ALTER ROLE … \
         RESET …), the server or in the address"
    ))
}

/// What is said where none of the schemas that are looked through is there for the user.
pub(super) fn no_schema(name: &str) -> StoreError {
    StoreError::Unusable(format!(
        "{name} has no schema for this user: make one, and name it in its search_path"
    ))
}

/// Whether the user may make tables, and whose those of the store are that belong to others. The catalogues
/// tell it of tables that the user may not read.
const BARRED: &str = "SELECT CAST(session_user AS TEXT), CAST(current_schema() AS TEXT), \
    has_schema_privilege(current_schema(), 'CREATE'), \
    format('GRANT CREATE, USAGE ON SCHEMA %I TO %I', current_schema(), session_user), \
    (SELECT string_agg(DISTINCT pg_get_userbyid(relowner), ', ') FROM others), \
    (SELECT string_agg(format('ALTER TABLE %I.%I OWNER TO %I;', current_schema(), relname, session_user), ' ' \
        ORDER BY relname) FROM others), \
    EXISTS (SELECT 1 FROM others JOIN pg_attribute a ON a.attrelid = others.oid \
        WHERE relname = 'migrations' AND attname = 'digest') \
        OR NOT EXISTS (SELECT 1 FROM others WHERE relname = 'migrations')";
const OTHERS: &str = "WITH others AS (SELECT c.oid, relname, relowner FROM pg_class c \
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = current_schema() AND relkind IN ('r', 'p') \
    AND (relname = ANY (CAST($1 AS TEXT[])) OR relname IN ('migrations', $2)) \
    AND NOT pg_has_role(relowner, 'USAGE'))";

/// Refuses tables of the store that the user may not read, with the words of the start, which would refuse them.
pub(super) async fn refuse_unreadable(
    client: &Client,
    name: &str,
    tables: &[String],
) -> Result<(), StoreError> {
    let find = "SELECT CAST(quote_ident(current_user) AS TEXT), quote_ident(nspname) FROM pg_class c \
         JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE nspname = current_schema() AND relkind IN ('r', 'p') \
         AND (relname = ANY (CAST($1 AS TEXT[])) OR relname = 'migrations') \
         AND NOT has_table_privilege(c.oid, 'SELECT') LIMIT 1";
    let Some(row) = client.query_opt(find, &[&tables]).await.map_err(Fault::of)? else { return Ok(()) };
    let get = |at| row.try_get::<_, String>(at).map_err(Fault::of);
    let (user, schema, told) = (get(0)?, get(1)?, barred(client, name, tables).await);
    Err(StoreError::Unusable(format!(
        "the database user {user} may not read all tables of {name}. Run this as the user who serves the store, or \
         have that one run: GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {user}. Where it is {user} who serves \
         it: {told}"
    )))
}

/// What is said where the database let the start not do something.
pub(super) async fn barred(client: &Client, name: &str, tables: &[String]) -> StoreError {
    explained(client, name, tables).await.unwrap_or_else(StoreError::from)
}

async fn explained(client: &Client, name: &str, tables: &[String]) -> Result<StoreError, Fault> {
    let row = client.query_one(&format!("{OTHERS} {BARRED}"), &[&tables, &LIFE]).await.map_err(Fault::of)?;
    let get = |at| row.try_get::<_, String>(at).map_err(Fault::of);
    let (user, schema, grant) = (get(0)?, get(1)?, get(3)?);
    let may_make: bool = row.try_get(2).map_err(Fault::of)?;
    let owners: Option<String> = row.try_get(4).map_err(Fault::of)?;
    let ours: bool = row.try_get(6).map_err(Fault::of)?;
    Ok(match owners {
        Some(_) if !ours => others(name),
        Some(owners) => StoreError::Unusable(format!(
            "{name} holds tables of RelayLink's in its schema {schema} that belong to {owners}, and the store's \
             user {user} must own them. Have an administrator run: {}",
            get(5)?
        )),
        None if !may_make => StoreError::Unusable(format!(
            "the database user {user} may not make tables in the schema {schema} of {name}. Have an administrator \
             run: {grant}; or give {user} a database of its own: CREATE DATABASE … OWNER …"
        )),
        None => StoreError::Unusable(format!(
            "the database user {user} may not do all that the start does in the schema {schema} of {name}: the \
             database's own log says what it was"
        )),
    })
}

/// What is said where a table of a store's name is none.
pub(super) fn others(name: &str) -> StoreError {
    StoreError::Unusable(format!(
        "{name} holds the tables of another program: give RelayLink a schema of its own"
    ))
}

/// What went wrong where no connection was made: a user whom the database does not let in is told who can.
pub(super) fn kept_out(config: &tokio_postgres::Config, error: tokio_postgres::Error) -> Fault {
    let Some(told) = error
        .as_db_error()
        .filter(|told| *told.code() == tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE)
    else {
        return Fault::of(error);
    };
    let user = config.get_user().unwrap_or("USER");
    if told.routine() != Some(ENTRANCE) {
        return Fault::from(StoreError::Unusable(format!(
            "the database user {user} may not connect with what the address sets: {}. Take it out of its options",
            because(&error)
        )));
    }
    let database = config.get_dbname().unwrap_or(user);
    Fault::from(StoreError::Unusable(format!(
        "the database user {user} may not connect to the database {database}. Have an administrator run: \
         GRANT CONNECT ON DATABASE {} TO {}",
        quoted(database),
        quoted(user)
    )))
}

//! Brings a database's tables up to date, and the narrow roles with them.

use std::time::Duration;

use tokio_postgres::{Client, Transaction, error::SqlState};

use super::{
    connection::{Fault, Link, numbered},
    preflight,
    roles::Roles,
};
use crate::store::{
    Dialect, StoreError,
    migrations::{self, Migration, Owners, VERSIONS},
    upkeep::{MARKER, STAMP, era, fresh, quoted, unfinished},
};

/// Whoever holds this lock of the database may change the tables of the schema that it hashes.
const LOCK: &str = "SELECT pg_advisory_xact_lock(1919247470, hashtext(current_schema()))";
/// The same, unless another holds it.
const TRY: &str = "SELECT pg_try_advisory_xact_lock(1919247470, hashtext(current_schema()))";
/// How long the start waits for a lock that another holds, unless the database or the address sets a
/// `lock_timeout`: what another process that starts takes for its migrations, and no longer than whoever
/// started this one waits. Also how long the start may hold a lock and do nothing. What a migration does
/// itself has no bound.
const LOCK_WAIT: Duration = Duration::from_mins(1);

/// The life of the server, from one crash to the next: an UNLOGGED table is emptied by a crash, and is empty in
/// what a copy of a running server's files is restored to. Whoever connects next names another life.
const LIFE_TABLE: &str = "CREATE UNLOGGED TABLE IF NOT EXISTS server_life \
     (one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1), life TEXT NOT NULL)";

/// Applies what is missing, makes the roles and grants them what they may. A database that this
/// program cannot use is left as it is.
pub(super) fn migrate(link: &mut Link, name: &str, owners: &Owners, roles: &Roles) -> Result<(), StoreError> {
    for (owner, steps) in owners {
        migrations::check(owner, steps)?;
    }
    let tables = migrations::tables_of(owners, Dialect::Postgres);
    link.drive(async |client| {
        preflight::refuse_unfit(client, name).await?;
        match bring(client, name, owners, &tables, roles).await {
            Err(StoreError::Denied(_)) => Err(preflight::barred(client, name, &tables).await),
            brought => brought,
        }
    })
}

async fn bring(
    client: &mut Client,
    name: &str,
    owners: &Owners,
    tables: &[String],
    roles: &Roles,
) -> Result<(), StoreError> {
    bound(client).await?;
    let transaction = locked(client).await?;
    transaction.batch_execute(&collated(VERSIONS)).await.map_err(told)?;
    transaction.batch_execute(&collated(LIFE_TABLE)).await.map_err(told)?;
    for (owner, steps) in owners {
        refuse_newer(&transaction, name, owner, steps).await?;
        for step in *steps {
            apply(&transaction, name, owner, step).await?;
        }
    }
    transaction.commit().await.map_err(told)?;
    settle(client, tables).await?;
    roles.make(client).await?;
    if roles.lack(client, tables).await? {
        let transaction = locked(client).await?;
        roles.grant(&transaction, tables).await?;
        transaction.commit().await.map_err(told)?;
    }
    roles.refuse_wide(client, tables).await
}

/// Refuses a database that a move has begun to fill.
pub(super) fn refuse_unfinished(link: &mut Link, name: &str) -> Result<(), StoreError> {
    let find =
        "SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1)";
    let found = link.drive(async |client| {
        let row = client.query_one(find, &[&MARKER]).await.map_err(told)?;
        get::<bool>(&row, 0)
    })?;
    if found { Err(unfinished(&name)) } else { Ok(()) }
}

/// A transaction in which no other process changes tables.
async fn locked(client: &mut Client) -> Result<Transaction<'_>, StoreError> {
    let transaction = client.transaction().await.map_err(told)?;
    let row = transaction.query_one(TRY, &[]).await.map_err(told)?;
    if !get::<bool>(&row, 0)? {
        tracing::info!("another process brings the database's tables up to date: waiting for it to end");
        transaction.batch_execute(LOCK).await.map_err(told)?;
    }
    Ok(transaction)
}

/// Bounds how long the connection waits for the locks of others, and others for its own.
async fn bound(client: &Client) -> Result<(), StoreError> {
    let wait = LOCK_WAIT.as_millis().to_string();
    let set = "SELECT set_config('idle_in_transaction_session_timeout', $1, false), \
         CASE current_setting('lock_timeout') WHEN '0' THEN set_config('lock_timeout', $1, false) END";
    client.query_one(set, &[&wait]).await.map_err(told)?;
    Ok(())
}

/// The database's error as ours. That another holds a lock is told to whoever starts the program.
fn told(error: tokio_postgres::Error) -> StoreError {
    if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) {
        return StoreError::Unusable(
            "another process holds a lock on the database's tables and did not let go of it while the start \
             waited. Start again when it has ended; SELECT pid, application_name, state, query FROM \
             pg_stat_activity WHERE datname = current_database() ORDER BY xact_start shows them, the longest \
             at it first, and SELECT pg_terminate_backend(PID) ends one"
                .to_owned(),
        );
    }
    Fault::of(error).into()
}

/// Begins another era where the tables were restored into another server, whose transactions count from
/// elsewhere: every place in the order of commits is older than all that comes.
async fn settle(client: &mut Client, tables: &[String]) -> Result<(), StoreError> {
    let Some(server) = server(client).await else { return Ok(()) };
    let known = "SELECT server FROM changes";
    let row = client.query_one(known, &[]).await.map_err(told)?;
    if get::<Option<String>>(&row, 0)?.as_ref() == Some(&server) {
        return Ok(());
    }
    let transaction = locked(client).await?;
    let row = transaction.query_one(known, &[]).await.map_err(told)?;
    if get::<Option<String>>(&row, 0)?.is_some_and(|known| known != server) {
        let stamped = "SELECT CAST(table_name AS TEXT) FROM information_schema.columns \
             WHERE table_schema = current_schema() AND column_name = $1 AND table_name = ANY ($2)";
        for row in transaction.query(stamped, &[&STAMP, &tables]).await.map_err(told)? {
            let table = quoted(&get::<String>(&row, 0)?);
            transaction.execute(&format!("UPDATE {table} SET {STAMP} = 0"), &[]).await.map_err(told)?;
        }
        transaction.execute(&numbered(&era()), &[&fresh()?]).await.map_err(told)?;
    }
    transaction.execute("UPDATE changes SET server = $1", &[&server]).await.map_err(told)?;
    transaction.commit().await.map_err(told)
}

/// Which server it is. Where it may not be asked, nothing is known of it.
pub(super) async fn server(client: &Client) -> Option<String> {
    let asked =
        client.query_one("SELECT CAST(system_identifier AS TEXT) FROM pg_control_system()", &[]).await;
    asked.and_then(|row| row.try_get(0)).ok()
}

/// Refuses tables that a newer program has made.
async fn refuse_newer(
    transaction: &Transaction<'_>,
    name: &str,
    owner: &str,
    steps: &[Migration],
) -> Result<(), StoreError> {
    let newest = "SELECT version, name FROM migrations WHERE owner = $1 ORDER BY version DESC LIMIT 1";
    let row = transaction.query_opt(newest, &[&owner]).await.map_err(|error| match told(error) {
        StoreError::Engine(_) => preflight::others(name),
        error => error,
    })?;
    let Some(row) = row else { return Ok(()) };
    let (version, step): (i64, String) = (get(&row, 0)?, get(&row, 1)?);
    if usize::try_from(version).is_ok_and(|version| version <= steps.len()) {
        return Ok(());
    }
    Err(migrations::newer(&name, owner, version, &step, steps.len()))
}

/// Applies one migration and notes its version, unless it has been.
async fn apply(
    transaction: &Transaction<'_>,
    name: &str,
    owner: &str,
    step: &Migration,
) -> Result<(), StoreError> {
    let version = i64::from(step.version());
    let digest = step.digest(Dialect::Postgres);
    let find = "SELECT digest FROM migrations WHERE owner = $1 AND version = $2";
    if let Some(row) = transaction.query_opt(find, &[&owner, &version]).await.map_err(told)? {
        let found: String = get(&row, 0)?;
        return if found == digest { Ok(()) } else { Err(step.edited(owner)) };
    }
    let tables = "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema()";
    let there = transaction.query(tables, &[]).await.map_err(told)?;
    let there = there.iter().map(|row| get(row, 0)).collect::<Result<Vec<_>, _>>()?;
    step.refuse_there(name, owner, Dialect::Postgres, &there)?;
    transaction.batch_execute(&collated(step.text(Dialect::Postgres))).await.map_err(|error| {
        match told(error) {
            error @ (StoreError::Unusable(_) | StoreError::Denied(_)) => error,
            error => {
                StoreError::Unusable(format!("migration {version} ({}) of {owner}: {error}", step.name()))
            }
        }
    })?;
    let note = "INSERT INTO migrations (owner, version, name, digest) VALUES ($1, $2, $3, $4)";
    transaction.execute(note, &[&owner, &version, &step.name(), &digest]).await.map_err(told)?;
    Ok(())
}

fn get<'r, T: tokio_postgres::types::FromSql<'r>>(
    row: &'r tokio_postgres::Row,
    at: usize,
) -> Result<T, StoreError> {
    row.try_get(at).map_err(told)
}

/// The text with its columns of the type TEXT compared by their bytes, as SQLite compares them,
/// whatever the database's own collation is. Comments are left out.
pub(super) fn collated(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    let mut cast = false;
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("--") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        let length = if first == '\'' || first == '"' {
            rest[1..].find(first).map_or(rest.len(), |end| end + 2)
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (part, after) = rest.split_at(length);
        made.push_str(part);
        if part == "TEXT" && !cast {
            made.push_str(" COLLATE \"C\"");
        }
        if is_word(first) {
            cast = part == "AS";
        }
        rest = after;
    }
    made
}

#[cfg(test)]
mod tests {
    use super::collated;

    #[test]
    fn every_column_of_text_is_compared_by_its_bytes() {
        assert_eq!(
            collated(
                "-- An account's TEXT\nCREATE TABLE t (id TEXT PRIMARY KEY, text TEXT, \"TEXT\" TEXT DEFAULT 'a TEXT', n BIGINT DEFAULT CAST('1' AS TEXT), b TEXT)"
            ),
            "CREATE TABLE t (id TEXT COLLATE \"C\" PRIMARY KEY, text TEXT COLLATE \"C\", \
             \"TEXT\" TEXT COLLATE \"C\" DEFAULT 'a TEXT', n BIGINT DEFAULT CAST('1' AS TEXT), b TEXT COLLATE \"C\")"
        );
    }
}

//! The database as a whole: read from end to end, or filled.

use std::{
    collections::{BTreeMap, HashMap},
    ops::ControlFlow,
};

use futures_util::future::try_join_all;
use tokio_postgres::{Client, Statement as Prepared, types::ToSql};

use super::{
    Options, Postgres,
    address::Address,
    connection::{Fault, Link, numbered},
    migrate::{self, server},
    parts, preflight,
    roles::Roles,
    session::{Parameter, read},
};
use crate::store::{
    Dialect, Row, StoreError, Value,
    migrations::{Owners, tables_of},
    upkeep::{Change, Each, Part, Raw, Site, Source, Table, Target, orphans, quoted},
};

/// Rows fetched in one trip: few enough to hold, whatever is in them, and enough that the trips do not count.
const FETCH: u32 = 100;
/// What is read from end to end takes longer than a call, and is not cut off; a lock that others hold is
/// not waited for without end.
const READING: &str = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
    SET lock_timeout = '10s'; SET default_transaction_read_only = on; SET client_min_messages = error";
const FILLING: &str = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
    SET lock_timeout = '10s'; SET synchronous_commit = on; SET client_min_messages = error";

impl Postgres {
    /// Opens the database to be read as a whole, beside whoever works with it. Its tables must be there
    /// and up to date; nothing of it is changed.
    #[expect(clippy::needless_pass_by_value, reason = "options are put together for one opening")]
    pub fn source(url: &str, options: Options) -> Result<Source, StoreError> {
        let address = Address::parse(url, &options)?;
        let mut whole = Whole::open(&address, READING)?;
        if !whole.tables()?.iter().any(|table| table.name == "migrations") {
            return Err(StoreError::Unusable(format!("there is no store in {}", whole.name)));
        }
        let tables = tables_of(&options.migrations, Dialect::Postgres);
        whole
            .link
            .drive(async |client| preflight::refuse_unreadable(client, &address.name(), &tables).await)?;
        Source::new(Box::new(whole), &options.migrations)
    }

    /// Opens the database to be filled, and brings its tables up to date.
    #[expect(clippy::needless_pass_by_value, reason = "options are put together for one opening")]
    pub fn target(url: &str, options: Options) -> Result<Target, StoreError> {
        let address = Address::parse(url, &options)?;
        let roles = Roles::new(&options.roles);
        migrate::migrate(&mut address.connect()?, &address.name(), &options.migrations, &roles)?;
        Target::new(Box::new(Whole::open(&address, FILLING)?), &options.migrations)
    }
}

struct Whole {
    link: Link,
    name: String,
    /// The server, the database and the schema, where the server tells who it is.
    known: Option<String>,
    /// What was prepared, by its text.
    prepared: HashMap<String, Prepared>,
    /// Whether a snapshot is held.
    held: bool,
}

impl Whole {
    fn open(address: &Address, settings: &'static str) -> Result<Self, StoreError> {
        let mut link = address.connect()?;
        let (name, known) = link.drive(async |client| {
            client.batch_execute(settings).await.map_err(Fault::of)?;
            let place = "SELECT CAST(current_database() AS TEXT), CAST(current_schema() AS TEXT), \
                 COALESCE(host(inet_server_addr()), 'this machine'), \
                 CAST(COALESCE(inet_server_port(), 0) AS BIGINT)";
            let row = client.query_one(place, &[]).await.map_err(Fault::of)?;
            let mut row = read(&row)?;
            let (database, schema): (String, Option<String>) = (row.take(0)?, row.take(1)?);
            let Some(schema) = schema else {
                return Err(preflight::no_schema(&format!("the database {database}")));
            };
            let (host, port): (String, i64) = (row.take(2)?, row.take(3)?);
            let name = format!("the database {database} (schema {schema}, {host}:{port})");
            Ok((name, server(client).await.map(|server| format!("{server} {database:?} {schema:?}"))))
        })?;
        Ok(Self { link, name, known, prepared: HashMap::new(), held: false })
    }

    fn run(&mut self, text: &str) -> Result<(), StoreError> {
        self.link.drive(async |client| Ok(client.batch_execute(text).await.map_err(Fault::of)?))
    }

    /// The rows that a statement answers, all at once.
    fn rows(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Row>, StoreError> {
        let Self { link, prepared, .. } = self;
        link.drive(async |client| {
            let statement = statement(client, prepared, sql).await?;
            let parameters: Vec<_> = parameters.iter().map(Parameter).collect();
            let rows = client.query(&statement, &referred(&parameters)).await.map_err(Fault::of)?;
            rows.iter().map(read).collect()
        })
    }

    fn texts(&mut self, sql: &str) -> Result<Vec<String>, StoreError> {
        self.rows(sql, &[])?.into_iter().map(|mut row| row.take(0)).collect()
    }

    fn parts_of(&mut self, schema: &str) -> Result<Vec<Part>, StoreError> {
        let rows = self.rows(&parts::parts(schema), &[])?;
        rows.into_iter()
            .map(|mut row| Ok(Part { table: row.take(0)?, what: row.take(1)?, how: row.take(2)? }))
            .collect()
    }

    /// The foreign keys of the tables, without those that a partition has from its whole.
    fn foreign_keys(&mut self) -> Result<Vec<ForeignKey>, StoreError> {
        let rows = self.rows(
            "SELECT CAST(con.oid AS BIGINT), child.relname, home.nspname, parent.relname, a.attname, b.attname \
             FROM pg_constraint con JOIN pg_namespace n ON n.oid = con.connamespace \
             JOIN pg_class child ON child.oid = con.conrelid JOIN pg_class parent ON parent.oid = con.confrelid \
             JOIN pg_namespace home ON home.oid = parent.relnamespace \
             CROSS JOIN LATERAL unnest(con.conkey, con.confkey) WITH ORDINALITY AS pair (own, other, place) \
             JOIN pg_attribute a ON a.attrelid = con.conrelid AND a.attnum = pair.own \
             JOIN pg_attribute b ON b.attrelid = con.confrelid AND b.attnum = pair.other \
             WHERE con.contype = 'f' AND con.conparentid = 0 AND n.nspname = current_schema() \
             ORDER BY con.oid, pair.place",
            &[],
        )?;
        let mut keys: Vec<ForeignKey> = Vec::new();
        let mut last = None;
        for mut row in rows {
            let id: i64 = row.take(0)?;
            if last.replace(id) != Some(id) {
                let (table, schema, parent) = (row.take(1)?, row.take(2)?, row.take(3)?);
                keys.push(ForeignKey { table, schema, parent, columns: Vec::new() });
            }
            if let Some(key) = keys.last_mut() {
                key.columns.push((row.take(4)?, row.take(5)?));
            }
        }
        Ok(keys)
    }

    /// What is said of the rows whose foreign key points nowhere. The engine looks at a row when it is
    /// written, and not even then where it is told to trust whoever writes.
    fn orphans(&mut self) -> Result<Vec<String>, StoreError> {
        let mut found: BTreeMap<(String, String), u64> = BTreeMap::new();
        let mut damage = Vec::new();
        for key in self.foreign_keys()? {
            let counted = self.rows(&key.orphans(), &[]).and_then(|rows| match rows.into_iter().next() {
                Some(mut row) => row.take::<i64>(0),
                None => Ok(0),
            });
            match counted {
                Ok(0) => {}
                Ok(count) => *found.entry((key.table, key.parent)).or_default() += count.unsigned_abs(),
                Err(error @ StoreError::Busy(_)) => return Err(error),
                Err(error) => damage.push(format!("{} cannot be read: {error}", key.table)),
            }
        }
        damage.extend(found.iter().map(|((table, parent), count)| orphans(*count, table, parent)));
        Ok(damage)
    }
}

/// A foreign key, by the names of the catalog.
struct ForeignKey {
    table: String,
    /// Where the other table is.
    schema: String,
    parent: String,
    /// Its columns, each with the other table's.
    columns: Vec<(String, String)>,
}

impl ForeignKey {
    /// Counts the rows that it holds for nothing. One with a NULL in the key points to no row.
    fn orphans(&self) -> String {
        let columns = self.columns.iter().map(|(own, other)| (quoted(own), quoted(other)));
        let equal = columns.clone().map(|(own, other)| format!("p.{other} = c.{own}"));
        let some = columns.map(|(own, _)| format!("c.{own} IS NOT NULL"));
        let (some, equal): (Vec<_>, Vec<_>) = (some.collect(), equal.collect());
        let (table, schema, parent) = (quoted(&self.table), quoted(&self.schema), quoted(&self.parent));
        format!(
            "SELECT COUNT(*) FROM {table} c WHERE {} AND NOT EXISTS \
             (SELECT 1 FROM {schema}.{parent} p WHERE {})",
            some.join(" AND "),
            equal.join(" AND ")
        )
    }
}

/// The statement, prepared the first time it is met.
async fn statement(
    client: &Client,
    prepared: &mut HashMap<String, Prepared>,
    sql: &str,
) -> Result<Prepared, StoreError> {
    if let Some(statement) = prepared.get(sql) {
        return Ok(statement.clone());
    }
    let statement = client.prepare(&numbered(sql)).await.map_err(Fault::of)?;
    prepared.insert(sql.to_owned(), statement.clone());
    Ok(statement)
}

fn referred<'p>(parameters: &'p [Parameter<'_>]) -> Vec<&'p (dyn ToSql + Sync)> {
    parameters.iter().map(|parameter| parameter as _).collect()
}

/// Runs the statements in the open transaction, the rows of each in one trip.
async fn changed(
    client: &Client,
    prepared: &mut HashMap<String, Prepared>,
    changes: &[Change],
) -> Result<bool, StoreError> {
    for change in changes {
        let statement = statement(client, prepared, &change.sql).await?;
        let rows: Vec<Vec<_>> = change.rows.iter().map(|row| row.iter().map(Parameter).collect()).collect();
        let rows: Vec<_> = rows.iter().map(|row| referred(row)).collect();
        let each = rows.iter().map(|row| client.execute(&statement, row));
        let count: u64 = try_join_all(each).await.map_err(Fault::of)?.into_iter().sum();
        if change.exactly.is_some_and(|due| due != count) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Raw for Whole {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn site(&self) -> Site<'_> {
        Site { name: &self.name, known: self.known.as_deref() }
    }

    fn tables(&mut self) -> Result<Vec<Table>, StoreError> {
        let rows = self.rows(
            "SELECT c.relname, a.attname, CAST(array_position(CAST(i.indkey AS SMALLINT[]), a.attnum) AS BIGINT) \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
             LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary \
             WHERE c.relkind IN ('r', 'p') AND n.nspname = current_schema() \
             ORDER BY c.relname COLLATE \"C\", a.attname COLLATE \"C\"",
            &[],
        )?;
        let mut tables: Vec<Table> = Vec::new();
        let mut keys: Vec<Vec<(i64, String)>> = Vec::new();
        for mut row in rows {
            let (name, column, place) =
                (row.take::<String>(0)?, row.take::<String>(1)?, row.take::<Option<i64>>(2)?);
            if tables.last().is_none_or(|table| table.name != name) {
                tables.push(Table { name, ..Table::default() });
                keys.push(Vec::new());
            }
            if let (Some(table), Some(key)) = (tables.last_mut(), keys.last_mut()) {
                key.extend(place.map(|place| (place, column.clone())));
                table.columns.push(column);
            }
        }
        for (table, mut key) in tables.iter_mut().zip(keys) {
            key.sort();
            table.key = key.into_iter().map(|(_, column)| column).collect();
        }
        for key in self.foreign_keys()? {
            if let Some(table) = tables.iter_mut().find(|table| table.name == key.table) {
                table.references.push(key.parent);
            }
        }
        Ok(tables)
    }

    fn parts(&mut self) -> Result<Vec<Part>, StoreError> {
        self.parts_of("(SELECT oid FROM pg_namespace WHERE nspname = current_schema())")
    }

    fn parts_due(&mut self, owners: &Owners) -> Result<Vec<Part>, StoreError> {
        self.release()?;
        for mut row in self.rows("SELECT pg_is_in_recovery()", &[])? {
            if row.take(0)? {
                return Err(StoreError::Denied("makes tables, on a standby"));
            }
        }
        let due = self.run(&parts::made(owners)).and_then(|()| self.parts_of("pg_my_temp_schema()"));
        self.run("ROLLBACK")?;
        due
    }

    fn snapshot(&mut self) -> Result<(), StoreError> {
        self.release()?;
        // A transaction sees what is there when it first reads.
        self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1")?;
        self.held = true;
        Ok(())
    }

    fn release(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.held) { self.run("ROLLBACK") } else { Ok(()) }
    }

    fn scan(&mut self, sql: &str, parameters: &[Value], each: &mut Each<'_>) -> Result<(), StoreError> {
        if !self.held {
            for row in self.rows(sql, parameters)? {
                if each(row)?.is_break() {
                    break;
                }
            }
            return Ok(());
        }
        self.rows(&format!("DECLARE upkeep_scan NO SCROLL CURSOR FOR {sql}"), parameters)?;
        // Its answers are of other columns for each scan, so that it is prepared anew.
        let fetch = format!("FETCH {FETCH} FROM upkeep_scan");
        self.prepared.remove(&fetch);
        loop {
            // None of ours is done while the connection is driven.
            let rows = self.rows(&fetch, &[])?;
            let last = rows.len() < FETCH as usize;
            let mut flow = ControlFlow::Continue(());
            for row in rows {
                flow = each(row)?;
                if flow.is_break() {
                    break;
                }
            }
            if last || flow.is_break() {
                return self.run("CLOSE upkeep_scan");
            }
        }
    }

    fn change(&mut self, changes: &[Change]) -> Result<bool, StoreError> {
        let Self { link, prepared, .. } = self;
        link.drive(async |client| {
            client.batch_execute("BEGIN").await.map_err(Fault::of)?;
            let done = changed(client, prepared, changes).await;
            let end = if matches!(done, Ok(true)) { "COMMIT" } else { "ROLLBACK" };
            let ended = client.batch_execute(end).await.map_err(Fault::of);
            let done = done?;
            ended?;
            Ok(done)
        })
    }

    fn emptying(&self, index: &str) -> String {
        format!("DELETE FROM {}", quoted(index))
    }

    fn entries(&mut self, index: &str) -> Result<String, StoreError> {
        let tables = self.tables()?;
        let odd = || {
            StoreError::Unusable(format!(
                "{index} is no index of text: it has a number as its key, and one column of terms"
            ))
        };
        let table = tables.iter().find(|table| table.name == index).ok_or_else(odd)?;
        let ([number], [_, _]) = (&*table.key, &*table.columns) else { return Err(odd()) };
        let terms = table.columns.iter().find(|column| *column != number).ok_or_else(odd)?;
        let (number, terms, index) = (quoted(number), quoted(terms), quoted(index));
        let within = format!("FROM {index} WHERE {number} > ?1 AND {number} <= ?2");
        Ok(format!(
            "SELECT {number}, CAST(NULL AS TEXT) {within} \
             UNION ALL SELECT {number}, unnest(tsvector_to_array({terms})) {within}"
        ))
    }

    fn damage(&mut self) -> Result<Vec<String>, StoreError> {
        let mut damage = self.texts(
            "SELECT CAST('the index ' || c.relname || ' is not usable' AS TEXT) FROM pg_index i \
             JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = current_schema() AND NOT i.indisvalid ORDER BY 1",
        )?;
        damage.extend(self.texts(
            "SELECT CAST('the constraint ' || con.conname || ' is not checked for all rows' AS TEXT) \
             FROM pg_constraint con JOIN pg_namespace n ON n.oid = con.connamespace \
             WHERE n.nspname = current_schema() AND NOT con.convalidated ORDER BY 1",
        )?);
        damage.extend(self.orphans()?);
        Ok(damage)
    }
}

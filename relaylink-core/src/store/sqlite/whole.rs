//! The file as a whole: read from end to end, filled, or copied to another file.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use super::{
    Options, Sqlite,
    connection::{Role, error, open},
    kinds, locate, make_private, migrate, parts,
    session::{borrowed, values},
};
use crate::store::{
    Dialect, StoreError, Value,
    migrations::Owners,
    upkeep::{Change, Each, Misfit, Part, Raw, Source, Table, Target, orphans, quoted},
};

/// Lines that the engine's own check of a damaged file gives at most: the first few say what to do.
const DAMAGE_LINES: u32 = 20;

impl Sqlite {
    /// Opens the file to be read as a whole, beside whoever has it open. It must be there, and its tables
    /// up to date; nothing of it is changed.
    #[expect(clippy::needless_pass_by_value, reason = "options are put together for one opening")]
    pub fn source(path: impl AsRef<Path>, options: Options) -> Result<Source, StoreError> {
        let path = present(path.as_ref())?;
        let raw = open(&path, Role::Reader, options.busy_timeout)?;
        migrate::usable(&raw, &path, &options.migrations)?;
        let tables: i64 =
            raw.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(error)?;
        if tables == 0 {
            return Err(StoreError::Unusable(format!("{} is empty: it holds no store", path.display())));
        }
        Source::new(Box::new(Whole::new(raw, &path)), &options.migrations)
    }

    /// Opens the file, or makes it, to be filled, and brings its tables up to date. The folder must be there.
    #[expect(clippy::needless_pass_by_value, reason = "options are put together for one opening")]
    pub fn target(path: impl AsRef<Path>, options: Options) -> Result<Target, StoreError> {
        let path = locate(path.as_ref())?;
        make_private(&path)?;
        let wait = options.busy_timeout;
        let raw = migrate::migrate(&path, &options.migrations, wait, wait)?;
        raw.pragma_update(None, "foreign_keys", true).map_err(error)?;
        Target::new(Box::new(Whole::new(raw, &path)), &options.migrations)
    }
}

/// The full path of a file that must be there.
pub(super) fn present(path: &Path) -> Result<PathBuf, StoreError> {
    path.canonicalize().map_err(|error| {
        StoreError::Unusable(format!("there is no store in {}: {error}. Name another one", path.display()))
    })
}

struct Whole {
    raw: Connection,
    name: String,
}

impl Whole {
    fn new(raw: Connection, path: &Path) -> Self {
        Self { raw, name: path.display().to_string() }
    }

    fn run(&self, text: &str) -> Result<(), StoreError> {
        self.raw.execute_batch(text).map_err(error)
    }

    /// What is said of the rows whose foreign key points nowhere.
    fn orphans(&self) -> Result<Vec<String>, StoreError> {
        let sql =
            "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2";
        let mut prepared = self.raw.prepare(sql).map_err(error)?;
        let said = prepared.query_map([], |row| {
            let (table, parent, count): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(orphans(count.unsigned_abs(), &table, &parent))
        });
        let said = said.map_err(error)?.collect::<Result<_, _>>();
        said.map_err(error)
    }

    /// Runs the statements in the open transaction.
    fn changed(&self, changes: &[Change]) -> Result<bool, StoreError> {
        for change in changes {
            let mut prepared = self.raw.prepare_cached(&change.sql).map_err(error)?;
            let mut count = 0;
            for row in &change.rows {
                for (at, value) in row.iter().enumerate() {
                    prepared.raw_bind_parameter(at + 1, borrowed(value)).map_err(error)?;
                }
                count += prepared.raw_execute().map_err(error)? as u64;
            }
            if change.exactly.is_some_and(|due| due != count) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn texts(&mut self, sql: &str) -> Result<Vec<String>, StoreError> {
        let mut texts = Vec::new();
        self.scan(sql, &[], &mut |mut row| {
            texts.push(row.take(0)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(texts)
    }
}

impl Raw for Whole {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn tables(&mut self) -> Result<Vec<Table>, StoreError> {
        let names = self.texts(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') \
             AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
        )?;
        let mut tables = Vec::with_capacity(names.len());
        for name in names {
            let of = quoted(&name);
            let columns = self.texts(&format!("SELECT name FROM pragma_table_info({of}) ORDER BY name"))?;
            let key =
                self.texts(&format!("SELECT name FROM pragma_table_info({of}) WHERE pk > 0 ORDER BY pk"))?;
            let references =
                self.texts(&format!("SELECT DISTINCT \"table\" FROM pragma_foreign_key_list({of})"))?;
            tables.push(Table { name, columns, key, references, ..Table::default() });
        }
        Ok(tables)
    }

    fn parts(&mut self) -> Result<Vec<Part>, StoreError> {
        parts::parts(&self.raw)
    }

    fn parts_due(&mut self, owners: &Owners) -> Result<Vec<Part>, StoreError> {
        parts::due(owners)
    }

    fn misfits(&mut self, table: &Table, found: &mut dyn FnMut(Misfit<'_>)) -> Result<(), StoreError> {
        kinds::misfits(&self.raw, table, found)
    }

    fn snapshot(&mut self) -> Result<(), StoreError> {
        self.release()?;
        // A transaction sees what is there when it first reads.
        self.run("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1")
    }

    fn release(&mut self) -> Result<(), StoreError> {
        if self.raw.is_autocommit() { Ok(()) } else { self.run("ROLLBACK") }
    }

    fn scan(&mut self, sql: &str, parameters: &[Value], each: &mut Each<'_>) -> Result<(), StoreError> {
        let mut prepared = self.raw.prepare_cached(sql).map_err(error)?;
        let columns = prepared.column_count();
        for (at, value) in parameters.iter().enumerate() {
            prepared.raw_bind_parameter(at + 1, borrowed(value)).map_err(error)?;
        }
        let mut rows = prepared.raw_query();
        while let Some(row) = rows.next().map_err(error)? {
            if each(values(row, columns)?)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn change(&mut self, changes: &[Change]) -> Result<bool, StoreError> {
        self.run("BEGIN IMMEDIATE")?;
        let done = self.changed(changes);
        if matches!(done, Ok(true)) {
            self.run("COMMIT").inspect_err(|_| drop(self.run("ROLLBACK")))?;
        } else {
            self.run("ROLLBACK")?;
        }
        done
    }

    fn emptying(&self, index: &str) -> String {
        format!("INSERT INTO {0} ({0}) VALUES ('delete-all')", quoted(index))
    }

    fn entries(&mut self, index: &str) -> Result<String, StoreError> {
        // What an index without content holds is read by its vocabulary alone, which is in the order of the
        // terms: put beside it in that of the rows.
        self.run(&format!(
            "DROP TABLE IF EXISTS temp.upkeep_entries; DROP TABLE IF EXISTS temp.upkeep_terms; \
             CREATE VIRTUAL TABLE temp.upkeep_terms USING fts5vocab (main, {index}, 'instance'); \
             CREATE TABLE temp.upkeep_entries (number INTEGER, term TEXT); \
             INSERT INTO temp.upkeep_entries SELECT doc, term FROM temp.upkeep_terms; \
             CREATE INDEX temp.upkeep_in_order ON upkeep_entries (number)",
            index = quoted(index)
        ))?;
        let within = "> ?1 AND";
        Ok(format!(
            "SELECT rowid, NULL FROM {index} WHERE rowid {within} rowid <= ?2 UNION ALL \
             SELECT number, term FROM temp.upkeep_entries WHERE number {within} number <= ?2",
            index = quoted(index)
        ))
    }

    fn damage(&mut self) -> Result<Vec<String>, StoreError> {
        let mut damage = match self.texts(&format!("PRAGMA integrity_check({DAMAGE_LINES})")) {
            Ok(lines) => lines,
            Err(error @ StoreError::Busy(_)) => return Err(error),
            Err(error) => vec![error.to_string()],
        };
        damage.retain(|line| line != "ok");
        match self.orphans() {
            Ok(orphans) => damage.extend(orphans),
            Err(error @ StoreError::Busy(_)) => return Err(error),
            Err(error) => damage.push(error.to_string()),
        }
        Ok(damage)
    }
}

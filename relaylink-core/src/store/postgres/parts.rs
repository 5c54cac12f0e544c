//! What the tables of a schema consist of, by its catalog.

use super::migrate::collated;
use crate::store::{
    Dialect,
    migrations::{Owners, VERSIONS},
};

/// Answers the table, what it consists of, and how that is made, of the tables of one schema. Names stand
/// without the schema's, and how an index fills its pages is an administrator's to say.
pub(super) fn parts(schema: &str) -> String {
    format!(
        "SELECT c.relname, 'column ' || a.attname, format_type(a.atttypid, a.atttypmod) \
             || COALESCE(' COLLATE ' || quote_ident(l.collname), '') \
             || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END \
             || COALESCE(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') \
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
         LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
         LEFT JOIN pg_collation l ON l.oid = a.attcollation \
         WHERE c.relnamespace = {schema} AND c.relkind IN ('r', 'p') \
         UNION ALL \
         SELECT c.relname, 'constraint ' || pg_get_constraintdef(o.oid, true), '' \
         FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid \
         WHERE c.relnamespace = {schema} AND o.contype IN ('c', 'f', 'p', 'u') \
         UNION ALL \
         SELECT c.relname, 'index ' || n.relname, \
             regexp_replace(pg_get_indexdef(i.indexrelid, 0, true), ' WITH \\([^)]*\\)', '') \
         FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class n ON n.oid = i.indexrelid \
         WHERE c.relnamespace = {schema} AND NOT EXISTS \
             (SELECT 1 FROM pg_constraint o WHERE o.conindid = i.indexrelid AND o.contype IN ('p', 'u')) \
         ORDER BY 1, 2"
    )
}

/// Begins a transaction in which these have made their tables, as temporary ones: it is to be undone.
pub(super) fn made(owners: &Owners) -> String {
    let mut text = "BEGIN READ WRITE; SET LOCAL search_path = pg_temp;".to_owned();
    let steps = owners.iter().flat_map(|(_, steps)| *steps).map(|step| step.text(Dialect::Postgres));
    for step in [VERSIONS].into_iter().chain(steps) {
        text.push_str(&collated(step));
        text.push(';');
    }
    text
}

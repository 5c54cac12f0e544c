//! Whether a narrow role may do more than the access it stands for: by a grant to everybody or to itself,
//! as a member of another role, as what was there under its name before.

use tokio_postgres::Client;

use super::{connection::Fault, roles::Roles};
use crate::store::StoreError;

/// What is too wide: of which role, in words, and the statement that mends it. To read is covered by every
/// access. What makes tables is asked of the role itself alone: in a database of `PostgreSQL` 14's, everybody
/// may in the schema `public`, and no text of a work's does.
const TOO_WIDE: &str = "WITH \
    narrow AS (SELECT r.oid, r.rolname, r.rolsuper, at FROM unnest(CAST($1 AS TEXT[])) WITH ORDINALITY AS n (name, at) \
        JOIN pg_roles r ON r.rolname = n.name), \
    covered AS (SELECT * FROM unnest(CAST($2 AS TEXT[]), CAST($3 AS TEXT[]), CAST($4 AS TEXT[])) AS d (what, t, role)), \
    ours AS (SELECT c.oid, c.relname, c.relowner, c.relacl FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') \
        AND (c.relname = 'migrations' OR c.relname IN (SELECT t FROM covered))), \
    granted AS (SELECT ours.relname, acl.grantee, acl.privilege_type FROM ours CROSS JOIN LATERAL \
        (SELECT * FROM aclexplode(ours.relacl) UNION ALL SELECT a.* FROM pg_attribute c \
         CROSS JOIN LATERAL aclexplode(c.attacl) a WHERE c.attrelid = ours.oid) acl), \
    excess AS (SELECT DISTINCT at, narrow.rolname, relname, privilege_type AS what, \
            CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(narrow.rolname) END AS grantee \
        FROM granted JOIN narrow ON grantee IN (0, narrow.oid) \
        WHERE privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE') AND NOT EXISTS (SELECT 1 FROM covered \
            WHERE covered.what = privilege_type AND covered.t = relname AND covered.role = narrow.rolname)) \
    SELECT CAST(rolname AS TEXT), said, remedy FROM ( \
        SELECT 1 AS kind, at, rolname, '' AS t, 'is a superuser' AS said, \
            format('ALTER ROLE %I NOSUPERUSER;', rolname) AS remedy FROM narrow WHERE rolsuper \
        UNION ALL SELECT 2, at, narrow.rolname, '', format('is a member of %s', wide.rolname), \
            format('REVOKE %I FROM %I;', wide.rolname, narrow.rolname) \
        FROM narrow JOIN pg_auth_members m ON m.member = narrow.oid JOIN pg_roles wide ON wide.oid = m.roleid \
        UNION ALL SELECT 3, at, rolname, relname, format('owns the table %s', relname), \
            format('ALTER TABLE %I.%I OWNER TO %I;', current_schema(), relname, session_user) \
        FROM narrow JOIN ours ON relowner = narrow.oid \
        UNION ALL SELECT 4, at, rolname, relname, format('may %s in the table %s%s', string_agg(what, ', ' ORDER BY what), \
                relname, CASE grantee WHEN 'PUBLIC' THEN ', as everybody' ELSE '' END), \
            format('REVOKE %s ON TABLE %I.%I FROM %s;', string_agg(what, ', ' ORDER BY what), \
                current_schema(), relname, grantee) \
        FROM excess GROUP BY at, rolname, relname, grantee \
        UNION ALL SELECT 5, at, rolname, '', format('may make tables in the schema %s', current_schema()), \
            format('REVOKE CREATE ON SCHEMA %I FROM %I;', current_schema(), rolname) \
        FROM narrow WHERE EXISTS (SELECT 1 FROM pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) acl \
            WHERE n.nspname = current_schema() AND acl.grantee = narrow.oid AND acl.privilege_type = 'CREATE')) AS found \
    ORDER BY kind, at, t COLLATE \"C\"";

impl Roles {
    /// Refuses narrow roles of which one may do more than its access.
    pub(super) async fn refuse_wide(&self, client: &Client, tables: &[String]) -> Result<(), StoreError> {
        let names: Vec<&str> = self.names().iter().map(String::as_str).collect();
        let (whats, ons, whose) = self.due(tables);
        let rows = client.query(TOO_WIDE, &[&names, &whats, &ons, &whose]).await.map_err(Fault::of)?;
        let mut remedies: Vec<String> = Vec::new();
        let mut found = None;
        for row in &rows {
            let get = |at| row.try_get::<_, String>(at).map_err(Fault::of);
            let (role, said, remedy) = (get(0)?, get(1)?, get(2)?);
            found.get_or_insert_with(|| format!("the narrow role {role} {said}"));
            if !remedies.contains(&remedy) {
                remedies.push(remedy);
            }
        }
        let Some(found) = found else { return Ok(()) };
        Err(StoreError::Unusable(format!(
            "{found}, which is more than the tools of this role may do; by these roles the database holds each \
             tool to its effects. Have an administrator run: {}",
            remedies.join(" ")
        )))
    }
}

//! Whether the tables are made as the migrations make them.

use relaylink_core::{
    relay::{Clock, SystemClock},
    store::{
        StoreError,
        postgres::{self, Postgres},
        sqlite::{self, Sqlite},
        upkeep::{Finding, Rooms, Weight, check},
    },
};

use super::{Place, checked, copied};

/// What is done to the tables, where it is told, and a part of what is said. Where nothing is done, it is said of
/// what was done last.
const BOTH: &[(&str, &str, &str)] = &[
    ("ALTER TABLE drafts DROP COLUMN subject", "drafts", "the column subject is not there any more"),
    (
        "DROP INDEX contacts_person; CREATE INDEX contacts_person ON contacts (accepted)",
        "contacts",
        "the index contacts_person is not made as it should be",
    ),
];
/// A file's table can only be made anew.
const FILE: &[(&str, &str, &str)] = &[
    (
        "CREATE TABLE other (hash TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE); DROP TABLE key_hashes; \
         ALTER TABLE other RENAME TO key_hashes",
        "key_hashes",
        "the constraint FOREIGN KEY (key) REFERENCES api_keys (id) is not there any more",
    ),
    (
        "CREATE TABLE other (hash TEXT, key TEXT REFERENCES api_keys (id)); DROP TABLE key_hashes; \
         ALTER TABLE other RENAME TO key_hashes",
        "key_hashes",
        "the constraint UNIQUE (key) is not there any more",
    ),
    ("", "key_hashes", "the column hash is not made as it should be, which is: TEXT PRIMARY KEY 1"),
    ("", "key_hashes", "the column key is not made as it should be, which is: TEXT NOT NULL"),
];
const DATABASE: &[(&str, &str, &str)] = &[
    (
        "ALTER TABLE packages ALTER COLUMN subject DROP NOT NULL",
        "packages",
        "the column subject is not made as it should be, which is: text COLLATE \"C\" NOT NULL",
    ),
    (
        "ALTER TABLE drafts ALTER COLUMN created TYPE NUMERIC",
        "drafts",
        "the column created is not made as it should be, which is: bigint NOT NULL",
    ),
    ("ALTER TABLE outbox DROP CONSTRAINT outbox_state_check", "outbox", "the constraint CHECK (state"),
    (
        "ALTER TABLE packages DROP CONSTRAINT packages_sender_fkey",
        "packages",
        "the constraint FOREIGN KEY (sender) REFERENCES accounts(id) is not there any more",
    ),
    (
        "ALTER TABLE outbox DROP CONSTRAINT outbox_message_id_key",
        "outbox",
        "the constraint UNIQUE (message_id) is not there any more",
    ),
    (
        "ALTER TABLE key_use DROP CONSTRAINT key_use_pkey",
        "key_use",
        "the constraint PRIMARY KEY (key) is not there any more",
    ),
];

#[test]
fn a_table_that_is_made_otherwise_is_found_with_the_part_that_is() {
    for place in Place::each() {
        if !place.is_file() {
            copied(&Place::filled(), &place);
        }
        drop(place.open().unwrap());
        let before = checked(&place);
        assert!(before.is_well(), "{before:?}");
        let own = if place.is_file() { FILE } else { DATABASE };
        for (damage, about, says) in BOTH.iter().chain(own) {
            place.execute(damage);
            let health = checked(&place);
            let found = |finding: &Finding| {
                finding.weight == Weight::Fault && finding.about == *about && finding.says.contains(says)
            };
            assert!(health.findings.iter().any(found), "{damage}: {health:?}");
        }
    }
}

#[test]
fn what_somebody_added_to_a_table_is_let_be() {
    for place in Place::each() {
        drop(place.open().unwrap());
        place.execute("ALTER TABLE drafts ADD COLUMN mine BIGINT; CREATE INDEX mine ON drafts (mine)");
        place.execute("DROP INDEX packages_sent; create index packages_sent on packages(sender,thread,id)");
        if !place.is_file() {
            place.execute("ALTER INDEX packages_sent SET (fillfactor = 80)");
        }
        let health = checked(&place);
        assert!(health.findings.is_empty(), "{health:?}");
    }
}

#[test]
fn a_schema_may_have_any_name() {
    let Some(place) = Place::database() else { return };
    let Place::Database(database) = &place else { unreachable!() };
    place.execute("CREATE SCHEMA \"An odd.one\"");
    let url = format!("{}&options=-csearch_path%3D%22An%5C%20odd.one%22", database.url());
    drop(Postgres::open(&url).unwrap());
    let mut store = Postgres::source(&url, postgres::Options::default()).unwrap();
    assert!(store.name().contains("An odd.one"), "{store:?}");
    let health = check(&mut store, &Rooms::relay(), SystemClock.now()).unwrap();
    assert!(health.findings.is_empty(), "{health:?}");
}

#[test]
fn a_user_who_may_make_no_temporary_table_is_told_what_was_not_looked_at() {
    let Some(place) = Place::database() else { return };
    drop(place.open().unwrap());
    let Place::Database(database) = &place else { unreachable!() };
    let user = format!("no_temporary_{}", std::process::id());
    let whole = database.url().split_once('?').unwrap().0.rsplit_once('/').unwrap().1.to_owned();
    place.execute(&format!(
        "CREATE ROLE {user} LOGIN PASSWORD 'plain'; REVOKE TEMPORARY ON DATABASE {whole} FROM PUBLIC; \
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO {user}"
    ));
    let url = format!("postgres://{user}:plain@{}", database.url().split_once('@').unwrap().1);
    place.execute("DROP TABLE blocks");
    let health = Postgres::source(&url, postgres::Options::default())
        .and_then(|mut store| check(&mut store, &Rooms::relay(), SystemClock.now()));
    place.execute(&format!("DROP OWNED BY {user}; DROP ROLE {user}"));
    let health = health.unwrap();
    let found = |about: &str| health.findings.iter().find(|finding| finding.about == about);
    assert!(found("blocks").is_some_and(|finding| finding.weight == Weight::Fault), "{health:?}");
    let Some(finding) = found("store") else { panic!("{health:?}") };
    assert!(finding.weight == Weight::Note && finding.advice.contains("GRANT TEMPORARY"), "{finding:?}");
}

#[test]
fn a_store_that_forgot_what_was_applied_is_told_apart_from_an_older_one() {
    for place in Place::each() {
        drop(place.open().unwrap());
        place.execute("DELETE FROM migrations WHERE version = 2");
        let source = match &place {
            Place::File(_) => Sqlite::source(place.path(), sqlite::Options::default()),
            Place::Database(database) => Postgres::source(&database.url(), postgres::Options::default()),
        };
        for error in [source.err(), place.open().err()] {
            let Some(StoreError::Unusable(told)) = error else { panic!("{error:?}") };
            assert!(told.contains("holds the table accounts") && told.contains("restore a backup"), "{told}");
        }
    }
}

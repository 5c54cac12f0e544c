//! What the start of a store waits for, and for how long.

use std::time::{Duration, Instant};

use relaylink_core::store::{
    StoreError,
    migrations::Migration,
    postgres::{Options, Postgres},
};

use crate::database::Database;

/// What it must have ended by, and far less than what it waits when nothing else is set.
const SOON: Duration = Duration::from_secs(10);

/// Opens the store while another process has run these statements in a transaction that goes on.
fn opened_beside(database: &Database, held: &str, lock_timeout: &str) -> Result<Postgres, StoreError> {
    let url = format!("{}&options=-c%20lock_timeout%3D{lock_timeout}", database.url());
    database.on(|client| {
        let mut transaction = client.transaction().unwrap();
        transaction.batch_execute(held).unwrap();
        Postgres::open_with(&url, Options::default().connections(1))
    })
}

const ADVISORY: &str = "SELECT pg_advisory_xact_lock(1919247470, hashtext(current_schema()))";

#[test]
fn a_lock_that_another_process_holds_is_not_waited_for_without_end() {
    let Some(database) = Database::new() else { return };
    drop(Postgres::open(&database.url()).unwrap());
    for held in [ADVISORY, "LOCK TABLE migrations IN ACCESS EXCLUSIVE MODE"] {
        let begun = Instant::now();
        let opened = opened_beside(&database, held, "200ms");
        let Err(StoreError::Unusable(told)) = opened else { panic!("{held}: {opened:?}") };
        assert!(told.contains("another process holds a lock") && told.contains("Start again"), "{told}");
        assert!(begun.elapsed() < SOON, "{held}: {:?}", begun.elapsed());
    }
    Postgres::open(&database.url()).unwrap();
}

#[test]
fn where_nothing_is_set_a_lock_is_waited_for_and_held_idle_for_a_minute() {
    static KEPT: [Migration; 1] = [Migration::new(
        1,
        "settings",
        "CREATE TABLE probe_settings (held BIGINT PRIMARY KEY, wait TEXT NOT NULL, idle TEXT NOT NULL);
         INSERT INTO probe_settings (held, wait, idle) SELECT 1, current_setting('lock_timeout'),
             current_setting('idle_in_transaction_session_timeout');",
    )];
    let Some(database) = Database::new() else { return };
    drop(Postgres::open_with(&database.url(), Options::default().migrations("probe", &KEPT)).unwrap());
    let kept: (String, String) = database.on(|client| {
        let row = client.query_one("SELECT wait, idle FROM probe_settings", &[]).unwrap();
        (row.get(0), row.get(1))
    });
    assert_eq!(kept, ("1min".to_owned(), "1min".to_owned()));
}

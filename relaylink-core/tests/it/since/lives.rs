//! Each life of a PostgreSQL server, from one crash or restore to the next, has cursors of its own.

use std::{collections::BTreeSet, sync::Arc};

use relaylink_core::{relay::Since, store::postgres::Postgres};

use super::{NewNotes, add, caller, in_database, is_stale, new, relay, served};
use crate::database::Database;

/// What a dump of a store has of its order of commits, as the statements that restore it.
fn dumped(database: &Database) -> String {
    let (era, life): (String, String) = database.on(|client| {
        let row = client.query_one("SELECT era, life FROM changes, server_life", &[]).unwrap();
        (row.get(0), row.get(1))
    });
    format!(
        "UPDATE changes SET era = '{era}'; TRUNCATE server_life; \
         INSERT INTO server_life (one, life) VALUES (1, '{life}')"
    )
}

/// Cursors from before are refused by all that serve the store, which agree on those that they give.
async fn begins_another_life(database: &Database, before: &Since) {
    let servers = [served(database), served(database)];
    let asked = (0..8).map(|at| {
        let relay = servers[at % 2].clone();
        tokio::spawn(async move { new(&relay, None).await.1.to_string() })
    });
    let mut eras = BTreeSet::new();
    for cursor in asked.collect::<Vec<_>>() {
        eras.insert(cursor.await.unwrap().split_once('.').unwrap().0.to_owned());
    }
    assert_eq!(eras.len(), 1, "{eras:?}");
    for server in &servers {
        is_stale(server, before).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_or_a_copy_that_is_restored_on_the_same_server_begins_another_life() {
    let Some(database) = Database::new() else { return };
    let relay = served(&database);
    add(&relay, "ana", "a").await;
    let (_, before) = new(&relay, None).await;
    drop(relay);
    let dump = dumped(&database);

    // An end that is no crash leaves what was named, and so does what looks after tables.
    database.execute("VACUUM (FREEZE) server_life");
    database.execute("VACUUM (FULL) server_life");
    assert!(new(&served(&database), Some(&before)).await.0.is_empty());

    let copy = database.copied();
    begins_another_life(&copy, &before).await;
    drop(copy);
    let other = Database::new().unwrap();
    drop(served(&other));
    other.execute(&dump);
    begins_another_life(&other, &before).await;
    assert!(new(&served(&database), Some(&before)).await.0.is_empty(), "the store itself goes on in its own");

    // A crash, and then the dump in the place of the store.
    database.execute("TRUNCATE server_life");
    begins_another_life(&database, &before).await;
    database.execute(&dump);
    begins_another_life(&database, &before).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_life_that_somebody_took_away_is_told_and_named_by_the_next_start() {
    let Some(database) = Database::new() else { return };
    // The next connection would name one.
    let one = in_database().connections(1);
    let relay = relay(Arc::new(Postgres::open_with(&database.url(), one).unwrap()));
    let (_, before) = new(&relay, None).await;
    database.execute("DELETE FROM server_life");
    for since in [None, Some(before.clone())] {
        let told = relay.run(&caller("reader"), NewNotes { since }).await.err().unwrap();
        assert!(told.to_string().contains("`server_life` has no row: start RelayLink again"), "{told}");
    }
    drop(relay);
    begins_another_life(&database, &before).await;
}

//! Copied to another store, on the same engine or not.

use std::ops::ControlFlow;

use relaylink_core::{
    relay::Relay,
    store::{
        migrations::CORE,
        postgres::{self, Postgres},
        sqlite::{self, Sqlite},
        upkeep::{Outcome, Progress, Report, Rooms, Step, copy},
    },
};
use serde_json::{Value as Json, json};

use super::{ENDED, Place, call, caller, checked, copied, digests, go_on, moved, wait, write};
use crate::database::Database;

/// What a few tools answer.
fn replies(place: &Place) -> Vec<Json> {
    wait(async {
        let relay = Relay::new(place.open().unwrap()).unwrap();
        let (ana, ben) = (caller(&relay, "ana@example.org").await, caller(&relay, "ben@example.org").await);
        let search = |query: &str| json!({ "query": query, "limit": 100 });
        vec![
            call(&relay, &ben, "check_inbox", json!({})).await,
            call(&relay, &ana, "list_drafts", json!({})).await,
            call(&relay, &ana, "list_contacts", json!({})).await,
            call(&relay, &ana, "list_api_keys", json!({})).await,
            call(&relay, &ana, "memory_search", search("coffee")).await,
            call(&relay, &ana, "memory_search", search("東京 ελλαδα")).await,
            call(&relay, &ben, "memory_search", search("n3")).await,
        ]
    })
}

#[test]
fn a_filled_store_goes_to_another_engine_and_back_and_is_the_same() {
    let from = Place::filled();
    let before = replies(&from);
    assert_eq!(before[5]["memories"].as_array().unwrap().len(), 100, "a page is full");
    for there in Place::each() {
        let first = copied(&from, &there);
        assert!(first.iter().all(|(table, rows, _)| *rows > 0 || table == "key_hashes"), "{first:?}");
        assert!(first.iter().any(|(table, rows, _)| table == "ended_drafts" && *rows >= ENDED as u64));
        assert_eq!(replies(&there), before);
        let back = Place::file();
        assert_eq!(copied(&there, &back), first);
        assert_eq!(replies(&back), before);
        for place in [&there, &back] {
            let health = checked(place);
            assert!(health.is_well(), "{health:?}");
            assert!(health.tables.iter().any(|(table, rows)| table == "packages" && *rows > 0));
        }
        // Writing goes on where it was.
        wait(async {
            let relay = Relay::new(there.open().unwrap()).unwrap();
            let ana = caller(&relay, "ana@example.org").await;
            call(&relay, &ana, "memory_add", json!({ "text": "Said afterwards" })).await;
            let found = call(&relay, &ana, "memory_search", json!({ "query": "afterwards" })).await;
            assert_eq!(found["memories"].as_array().unwrap().len(), 1);
        });
        assert!(checked(&there).is_well());
    }
}

#[test]
fn what_was_copied_is_copied_once_and_a_store_in_use_is_no_target() {
    let (from, to) = (Place::filled(), Place::file());
    let first = copied(&from, &to);
    let again = moved(&from, &to, &mut go_on).unwrap();
    assert_eq!((again.outcome, digests(&again)), (Outcome::AlreadyThere, first));

    to.execute("UPDATE packages SET body = body || '.'");
    let refused = moved(&from, &to, &mut go_on).unwrap_err().to_string();
    assert!(refused.contains("holds rows of its own"), "{refused}");
    to.execute("DELETE FROM invites");
    let refused = moved(&from, &to, &mut go_on).unwrap_err().to_string();
    assert!(refused.contains("holds rows of its own"), "{refused}");
    for place in Place::each() {
        place.open().unwrap();
        let refused = moved(&place, &place, &mut go_on).unwrap_err().to_string();
        assert!(refused.contains("is both"), "{refused}");
    }
}

/// Stops at the n-th word of progress, counted from this run's beginning.
fn stopped_at(n: usize) -> impl FnMut(&Progress<'_>) -> ControlFlow<()> {
    let mut told = 0;
    move |_| {
        told += 1;
        if told > n { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn a_move_that_is_stopped_again_and_again_goes_on_where_it_was_and_ends_equal() {
    let from = Place::filled();
    let straight = copied(&from, &Place::file());
    for to in Place::each() {
        let (mut done, mut runs) = (std::collections::BTreeMap::new(), 0);
        loop {
            runs += 1;
            assert!(runs < 200, "it never ends");
            // Each run gets a little farther than the one before.
            let mut stop = stopped_at(runs * 2);
            let report = moved(&from, &to, &mut |progress| {
                if progress.step != Step::Compare {
                    let before = done.insert(progress.table.to_owned(), progress.done).unwrap_or_default();
                    assert!(progress.done >= before, "{progress:?} after {before}: it has begun anew");
                }
                stop(progress)
            })
            .unwrap();
            if report.outcome == Outcome::Copied {
                assert_eq!(digests(&report), straight);
                break;
            }
            assert_eq!(report.outcome, Outcome::Stopped);
            // Half of a store is no store.
            let refused = to.open().err().unwrap().to_string();
            assert!(refused.contains("half filled"), "{refused}");
            let health = checked(&to);
            assert!(health.findings.iter().any(|found| found.says.contains("half filled")), "{health:?}");
            let onward = moved(&to, &Place::file(), &mut go_on).unwrap_err().to_string();
            assert!(onward.contains("half filled"), "{onward}");
            let other = moved(&Place::filled(), &to, &mut go_on).unwrap_err().to_string();
            assert!(other.contains("half filled from"), "{other}");
        }
        assert!(runs > 5, "{runs} runs");
        assert!(checked(&to).is_well());
    }
}

#[test]
fn a_move_that_another_has_taken_over_from_adds_nothing_more() {
    let from = Place::filled();
    for to in Place::each() {
        let mut taken = false;
        let refused = moved(&from, &to, &mut |progress| {
            if !std::mem::replace(&mut taken, progress.table == "ended_drafts" && progress.done > 0) && taken
            {
                let other = moved(&from, &to, &mut stopped_at(1)).unwrap();
                assert_eq!(other.outcome, Outcome::Stopped);
            }
            ControlFlow::Continue(())
        });
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("has taken over"), "{refused}");
        copied(&from, &to);
    }
}

#[test]
fn a_move_that_begins_at_the_same_moment_as_another_is_told_of_it() {
    let Some(to) = Place::database() else { return };
    let Place::Database(database) = &to else { panic!("it is a file") };
    let from = Place::filled();
    let (mut source, mut target) = (from.source(), to.target());
    let told = database.on(|client| {
        let mut other = client.transaction().unwrap();
        other
            .batch_execute(
                "CREATE TABLE unfinished_move \
                 (source TEXT NOT NULL PRIMARY KEY, run TEXT NOT NULL, spoiled BIGINT NOT NULL); \
                 INSERT INTO unfinished_move VALUES ('x', 'y', 0)",
            )
            .unwrap();
        std::thread::scope(|scope| {
            let moved = scope.spawn(|| copy(&mut source, &mut target, &Rooms::relay(), &mut go_on));
            // It has seen no other, and waits for one.
            let waits = "SELECT COUNT(*) FROM pg_stat_activity \
                 WHERE datname = current_database() AND wait_event_type = 'Lock'";
            while !moved.is_finished() && other.query_one(waits, &[]).unwrap().get::<_, i64>(0) == 0 {
                // What is seen of the others stays as it is within a transaction.
                other.batch_execute("SELECT pg_stat_clear_snapshot(), pg_sleep(0.01)").unwrap();
            }
            other.commit().unwrap();
            moved.join().unwrap().unwrap_err().to_string()
        })
    });
    assert!(told.starts_with("another move is filling the database "), "{told}");
}

/// Runs a move, and does something once when it comes to this step and table.
fn moved_while(from: &Place, to: &Place, step: Step, table: &str, act: impl Fn()) -> Report {
    let mut done = false;
    moved(from, to, &mut |progress| {
        if progress.step == step && progress.table == table && !std::mem::replace(&mut done, true) {
            act();
        }
        ControlFlow::Continue(())
    })
    .unwrap()
}

fn different(report: &Report) -> Vec<&str> {
    report.tables.iter().filter(|table| !table.is_equal()).map(|table| &*table.table).collect()
}

#[test]
fn a_changed_byte_in_the_target_and_a_source_that_changes_are_found_and_the_next_run_begins_anew() {
    for to in Place::each() {
        let from = Place::filled();
        let report = moved_while(&from, &to, Step::Index, "memory_terms", || {
            to.execute("UPDATE packages SET body = replace(body, 'e', 'E') WHERE body LIKE '%e%'");
        });
        assert_eq!((report.outcome, different(&report)), (Outcome::Differs, vec!["packages"]));
        let refused = to.open().err().unwrap().to_string();
        assert!(refused.contains("half filled"), "{refused}");

        let report = moved_while(&from, &to, Step::Index, "memory_terms", || {
            from.execute("UPDATE key_use SET last_used = last_used + 1; UPDATE invites SET at = at + 1");
        });
        assert_eq!((report.outcome, different(&report)), (Outcome::Differs, vec!["invites", "key_use"]));
        copied(&from, &to);
        assert!(checked(&to).is_well());
    }
}

#[test]
fn a_source_that_changed_between_two_runs_is_found_where_its_rows_no_longer_fit() {
    for to in Place::each() {
        let from = Place::filled();
        let mut stop = |progress: &Progress<'_>| {
            if progress.table == "memories" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        assert_eq!(moved(&from, &to, &mut stop).unwrap().outcome, Outcome::Stopped);
        from.execute(
            "INSERT INTO accounts (number, id, address, address_key, name, created) \
             VALUES (99, 'acc_0', 'zoe@example.org', 'zoe@example.org', 'Zoe', 1); \
             INSERT INTO memories_gone (id, account) VALUES ('mem_0', 'acc_0'); \
             INSERT INTO drafts (id, account, created, size, subject, body) VALUES ('drf_0', 'acc_0', 1, 1, '', '')",
        );
        let refused = moved(&from, &to, &mut go_on).unwrap_err().to_string();
        assert!(refused.contains("the source has changed") && refused.contains("begins anew"), "{refused}");
        copied(&from, &to);
    }
}

#[test]
fn a_source_whose_rows_point_nowhere_is_damaged_and_has_not_changed() {
    for to in Place::each() {
        let from = Place::filled();
        from.execute("DELETE FROM accounts WHERE number = 1");
        // It is so in each run that begins anew.
        for _ in 0..2 {
            let refused = moved(&from, &to, &mut go_on).unwrap_err().to_string();
            let begins = format!("{} is damaged", from.source().name());
            assert!(refused.starts_with(&begins), "{refused}");
            assert!(refused.contains("`relaylink check FROM`") && !refused.contains("changed"), "{refused}");
        }
    }
}

#[test]
fn rows_that_came_after_the_index_was_made_are_found_by_their_words() {
    for to in Place::each() {
        let from = Place::filled();
        let mut stop = |progress: &Progress<'_>| {
            if progress.step == Step::Compare { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        assert_eq!(moved(&from, &to, &mut stop).unwrap().outcome, Outcome::Stopped);
        wait(async {
            let relay = Relay::new(from.open().unwrap()).unwrap();
            for address in ["ana@example.org", "ben@example.org"] {
                let who = caller(&relay, address).await;
                call(&relay, &who, "memory_add", json!({ "text": "Said in between" })).await;
            }
        });
        copied(&from, &to);
        let health = checked(&to);
        assert!(health.is_well(), "{health:?}");
    }
}

#[test]
fn a_snapshot_of_the_source_is_copied_while_its_server_writes() {
    for from in Place::each() {
        copied(&Place::filled(), &from);
        let to = Place::file();
        // An account that comes behind the accounts that were read, and what belongs to it.
        let report = moved_while(&from, &to, Step::Copy, "contacts", || {
            from.execute(
                "INSERT INTO accounts (number, id, address, address_key, name, created) \
                 VALUES (99, 'acc_0', 'zoe@example.org', 'zoe@example.org', 'Zoe', 1); \
                 INSERT INTO memories_gone (id, account) VALUES ('mem_0', 'acc_0')",
            );
        });
        assert_eq!(
            (report.outcome, different(&report)),
            (Outcome::Differs, vec!["accounts", "memories_gone"])
        );
    }
}

#[test]
fn a_store_with_tables_that_the_program_does_not_know_is_not_moved() {
    for from in Place::each() {
        from.open().unwrap();
        from.execute("CREATE TABLE zoo (animal TEXT PRIMARY KEY)");
        let refused = moved(&from, &Place::file(), &mut go_on).unwrap_err().to_string();
        assert!(refused.contains("holds the table zoo") && refused.contains("leave behind"), "{refused}");
        from.execute("DROP TABLE zoo");
        copied(&from, &Place::file());
    }
    let from = Place::filled();
    from.execute("CREATE VIRTUAL TABLE zoo_terms USING fts5 (animal)");
    let refused = moved(&from, &Place::file(), &mut go_on).unwrap_err().to_string();
    assert!(refused.contains("holds the table zoo_terms"), "{refused}");
}

#[test]
fn a_store_that_is_not_there_or_not_up_to_date_is_no_source() {
    let folder = tempfile::tempdir().unwrap();
    let source = |name: &str| {
        let opened = Sqlite::source(folder.path().join(name), sqlite::Options::default());
        opened.err().unwrap().to_string()
    };
    assert!(source("nothing.db").contains("there is no store in"));
    assert!(!folder.path().join("nothing.db").exists());
    std::fs::write(folder.path().join("empty.db"), "").unwrap();
    assert!(source("empty.db").contains("holds no store"));
    std::fs::write(folder.path().join("text.db"), "no store ".repeat(1_000)).unwrap();
    assert!(source("text.db").contains("no SQLite file"));
    let made = |name: &str, change: &str| {
        let path = folder.path().join(name);
        drop(Sqlite::open(&path).unwrap());
        write(&path).execute_batch(change).unwrap();
        source(name)
    };
    let last = CORE.len();
    let stores = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores");
    std::fs::copy(stores.join(format!("{:04}.db", last - 1)), folder.path().join("old.db")).unwrap();
    let old = source("old.db");
    assert!(old.contains(&format!("lacks the tables of relaylink at version {last}")), "{old}");
    let newer = made(
        "newer.db",
        "INSERT INTO migrations (owner, version, name, digest) VALUES ('relaylink', 99, 'x', '')",
    );
    assert!(newer.contains("written by a newer program"), "{newer}");
    let other =
        made("other.db", "INSERT INTO migrations (owner, version, name, digest) VALUES ('zoo', 1, 'x', '')");
    assert!(other.contains("tables of zoo"), "{other}");
    let edited = made("edited.db", "UPDATE migrations SET digest = 'x' WHERE version = 1");
    assert!(edited.contains("is not the one that this store was made with"), "{edited}");
    let Some(database) = Database::new() else { return };
    let nothing = Postgres::source(&database.url(), postgres::Options::default()).unwrap_err().to_string();
    assert!(nothing.contains("there is no store in"), "{nothing}");
}

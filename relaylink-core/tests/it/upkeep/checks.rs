//! Whether all is well with a store.

use relaylink_core::{
    relay::{Clock, Relay, SystemClock, Timestamp},
    store::{
        sqlite::{self, Sqlite},
        upkeep::{Finding, Weight},
    },
    tool::{Caller, Ceiling},
};
use serde_json::json;

use super::{MEMORIES, Place, call, checked, copied, wait, write};

/// What damages a store, where it is told, and a part of what is said.
const DAMAGES: &[(&str, &str, &str)] = &[
    ("DELETE FROM drafts", "draft_people", "named by a draft that is not there"),
    (
        "INSERT INTO ended_drafts (draft, account, at) SELECT id, account, 1 FROM drafts",
        "drafts",
        "there and were sent",
    ),
    (
        "UPDATE ended_drafts SET package = 'pkg_x' WHERE package IS NOT NULL",
        "ended_drafts",
        "as a package that is not there",
    ),
    ("DELETE FROM deliveries", "packages", "went to nobody"),
    (
        "UPDATE packages SET sender = (SELECT MAX(id) FROM accounts WHERE id <> sender)",
        "deliveries",
        "do not agree",
    ),
    ("DELETE FROM deliveries", "receipts", "not delivered"),
    ("DELETE FROM deliveries", "acknowledgements", "not delivered"),
    ("UPDATE invites SET account = 'acc_x'", "invites", "by no account"),
    ("DELETE FROM invites", "contacts", "never counted"),
    ("INSERT INTO key_use (key, last_used) VALUES ('key_x', 1)", "key_use", "of no key"),
    (
        "INSERT INTO key_hashes (hash, key) SELECT 'x', id FROM api_keys WHERE revoked IS NOT NULL",
        "key_hashes",
        "open the account still",
    ),
    (
        "INSERT INTO memories_gone (id, account) SELECT id, account FROM memories",
        "memories",
        "were taken away",
    ),
    ("DELETE FROM changes", "changes", "it holds 0 rows"),
    ("DELETE FROM draft_people", "drafts", "name nobody"),
    (
        "DELETE FROM contacts WHERE accepted IS NOT NULL AND request IS NULL",
        "contacts",
        "not the other's contact",
    ),
    (
        "DELETE FROM contacts WHERE accepted IS NOT NULL AND request IS NOT NULL",
        "contacts",
        "not the other's contact",
    ),
    (
        "INSERT INTO api_keys (id, account, name, name_key, shown, created, ceiling) \
         SELECT 'key_x', id, 'x', 'x', 'rlk_ab…cdefgh', 1, '{}' FROM accounts WHERE number = 1",
        "api_keys",
        "open nothing",
    ),
    ("DELETE FROM outbox", "outbox", "deliveries have no letter"),
    ("DROP INDEX contacts_person", "contacts", "the index contacts_person is not there"),
    ("UPDATE outbox SET account = 'acc_x'", "outbox", "of no account"),
    ("UPDATE outbox SET state = 'waiting', lease = 'l', due = 1", "outbox", "not looked after"),
    (
        "UPDATE memories SET text = 'other words' WHERE number = (SELECT MAX(number) FROM memories)",
        "memory_terms",
        "other words than theirs",
    ),
    (
        "INSERT INTO memories (number, id, account, text, created) \
         SELECT MAX(number) + 1, 'mem_x', MAX(account), 'no entry', 1 FROM memories",
        "memory_terms",
        "cannot be found",
    ),
    (
        "DELETE FROM memories WHERE number = (SELECT MAX(number) FROM memories)",
        "memory_terms",
        "of no row of memories",
    ),
    (
        "CREATE TABLE unfinished_move (source TEXT, run TEXT, spoiled BIGINT); \
         INSERT INTO unfinished_move (source, run, spoiled) VALUES ('x', 'y', 0)",
        "store",
        "half filled",
    ),
];

#[test]
fn each_kind_of_damage_is_found_on_each_engine() {
    for engine in [true, false] {
        for (damage, about, says) in DAMAGES {
            let place = if engine { Some(Place::filled()) } else { Place::database() };
            let Some(place) = place else { return };
            if !place.is_file() {
                copied(&Place::filled(), &place);
            }
            let before = checked(&place);
            assert!(before.is_well(), "{before:?}");
            place.execute(damage);
            let health = checked(&place);
            let found = |finding: &Finding| {
                finding.weight == Weight::Fault
                    && finding.about == *about
                    && finding.says.contains(says)
                    && !finding.advice.is_empty()
            };
            assert!(health.findings.iter().any(found), "{damage}: {health:?}");
            assert!(!health.is_well());
        }
    }
}

#[test]
fn a_store_whose_order_of_commits_is_gone_is_moved_and_has_one_again() {
    for from in Place::each() {
        copied(&Place::filled(), &from);
        from.execute("DELETE FROM changes");
        assert!(checked(&from).findings.iter().any(|found| found.advice.starts_with("Move the store")));
        let to = Place::file();
        copied(&from, &to);
        let health = checked(&to);
        assert!(health.is_well(), "{health:?}");
    }
}

#[test]
fn keys_with_a_secret_are_well_open_and_revoked() {
    for place in Place::each() {
        wait(async {
            let relay = Relay::new(place.open().unwrap()).unwrap();
            let accounts = relay.accounts();
            let address = "ana@example.org".parse().unwrap();
            let ana = accounts.create_account(address, "Ana".parse().unwrap()).await.unwrap().id;
            for (name, expires) in
                [("laptop", None), ("phone", None), ("old", Some(Timestamp::from_millis(1)))]
            {
                accounts
                    .create_key(&ana, name.parse().unwrap(), Ceiling::everything(), expires)
                    .await
                    .unwrap();
            }
            accounts.key_without_secret(&ana, "local".parse().unwrap(), None).await.unwrap();
            let phone = accounts.key(&ana, &"phone".parse().unwrap()).await.unwrap().unwrap();
            let revoke = json!({ "key": phone.id.as_str() });
            call(&relay, &Caller::local(ana.as_str()), "revoke_api_key", revoke).await;
        });
        let health = checked(&place);
        assert!(health.is_well(), "{health:?}");
    }
}

#[test]
fn a_foreign_key_that_points_nowhere_is_found_in_a_file() {
    let place = Place::filled();
    place.execute("DELETE FROM accounts WHERE number = 1");
    let health = checked(&place);
    let says = "rows of memories point to rows of accounts";
    assert!(health.findings.iter().any(|found| found.says.contains(says)), "{health:?}");
}

#[test]
fn a_foreign_key_that_points_nowhere_is_found_in_a_database() {
    let Some(place) = Place::database() else { return };
    copied(&Place::filled(), &place);
    place.execute(
        "CREATE TABLE \"a?b\" (one TEXT, \"tw\"\"o\" BIGINT, PRIMARY KEY (one, \"tw\"\"o\")); \
         CREATE TABLE zoo (number BIGINT PRIMARY KEY, n BIGINT, t TEXT, \
             FOREIGN KEY (n, t) REFERENCES \"a?b\" (\"tw\"\"o\", one)); \
         INSERT INTO \"a?b\" VALUES ('x', 1); \
         INSERT INTO zoo VALUES (1, 1, 'x'), (2, NULL, 'z'), (3, 9, NULL)",
    );
    let before = checked(&place);
    assert!(before.is_well(), "{before:?}");
    place.execute("INSERT INTO zoo VALUES (4, 1, 'y'); DELETE FROM accounts");
    let health = checked(&place);
    for says in [
        "1 row of zoo points to a row of a?b that is not there".to_owned(),
        format!("{} rows of memories point to rows of accounts that are not there", MEMORIES + 2),
    ] {
        assert!(health.findings.iter().any(|found| found.says == says), "{says}: {health:?}");
    }
}

#[test]
fn a_table_that_is_gone_is_found_and_the_rest_is_still_looked_at() {
    for place in Place::each() {
        if place.is_file() {
            std::fs::write(place.path(), super::filled()).unwrap();
        } else {
            copied(&Place::filled(), &place);
        }
        let gone = ["outbox", "memory_terms"];
        place.execute("DROP TABLE outbox; DROP TABLE memory_terms; UPDATE invites SET account = 'acc_x'");
        let health = checked(&place);
        for about in gone.into_iter().chain(["invites"]) {
            let found = |finding: &Finding| finding.about == about && finding.weight == Weight::Fault;
            assert!(health.findings.iter().any(found), "{about}: {health:?}");
        }
        assert!(health.findings.iter().any(|found| found.says == "the table is not there any more"));
        assert!(
            !health.tables.is_empty() && health.tables.iter().all(|(table, _)| !gone.contains(&&**table))
        );
    }
}

#[test]
fn a_database_without_the_life_of_its_server_is_found_and_mended_by_a_start() {
    let Some(place) = Place::database() else { return };
    drop(place.open().unwrap());
    assert!(checked(&place).findings.is_empty());
    place.execute("DROP TABLE server_life");
    let health = checked(&place);
    let [found] = &*health.findings else { panic!("{health:?}") };
    assert_eq!((&*found.about, found.weight), ("server_life", Weight::Fault), "{found:?}");
    assert_eq!(found.says, "the table is not there any more");
    assert_eq!(found.advice, "Start RelayLink again, which makes it.");
    drop(place.open().unwrap());
    assert!(checked(&place).findings.is_empty());
}

#[test]
fn an_index_that_is_out_of_step_is_found_by_its_entries() {
    let place = Place::filled();
    for (damage, says) in [
        (
            "DELETE FROM memory_terms WHERE rowid = (SELECT MAX(rowid) FROM memory_terms)",
            "1 rows of memories cannot be found",
        ),
        (
            "INSERT INTO memory_terms (rowid, terms) VALUES (7, '1~tea')",
            "1 entries are of no row of memories, by number: 7",
        ),
    ] {
        place.execute(damage);
        let health = checked(&place);
        assert!(health.findings.iter().any(|found| found.says.contains(says)), "{health:?}");
    }
    let Some(place) = Place::database() else { return };
    copied(&Place::filled(), &place);
    place.execute(
        "UPDATE memory_terms SET terms = array_to_tsvector(tsvector_to_array(terms) || '1~more'::text)",
    );
    let says = format!("{} rows of memories are found by other words", MEMORIES + 2);
    let health = checked(&place);
    assert!(health.findings.iter().any(|found| found.says.contains(&says)), "{health:?}");
}

#[test]
fn letters_that_did_not_go_are_counted_and_what_is_no_damage_is_a_note() {
    let place = Place::filled();
    place.execute("UPDATE outbox SET state = 'sent'");
    let health = checked(&place);
    assert!(health.findings.is_empty(), "{health:?}");
    place.execute(
        "UPDATE outbox SET state = 'unknown' WHERE id = (SELECT MIN(id) FROM outbox); \
         UPDATE outbox SET state = 'waiting', due = 1 WHERE id = (SELECT MAX(id) FROM outbox)",
    );
    let health = checked(&place);
    let says: Vec<_> = health.findings.iter().map(|found| (found.weight, found.says.as_str())).collect();
    assert!(health.is_well() && says.len() == 2, "{says:?}");
    assert!(says.iter().all(|(weight, _)| *weight == Weight::Note));
    assert!(says[0].1.starts_with("1 letters wait for longer"), "{says:?}");
    assert!(says[1].1.starts_with("1 letters may have gone out"), "{says:?}");
    place.execute("UPDATE outbox SET state = 'failed'");
    let says = checked(&place).findings.pop().unwrap().says;
    assert!(says.contains(" letters could not be sent: mal_"), "{says}");
    // What began just now is looked after.
    let now = SystemClock.now().as_millis();
    place.execute(&format!("UPDATE outbox SET state = 'waiting', lease = 'l', due = {now}"));
    assert!(checked(&place).findings.is_empty());
}

#[test]
fn a_page_that_is_damaged_on_the_disk_is_found() {
    let place = Place::filled();
    let connection = write(&place.path());
    let page: i64 = connection
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'packages_sent'", [], |row| row.get(0))
        .unwrap();
    let size: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
    connection.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap_or_default();
    drop(connection);
    let mut bytes = std::fs::read(place.path()).unwrap();
    let from = usize::try_from((page - 1) * size).unwrap();
    bytes[from..from + 64].fill(0xa5);
    std::fs::write(place.path(), bytes).unwrap();
    let health = checked(&place);
    assert!(!health.is_well(), "{health:?}");
    let refused =
        Sqlite::backup(place.path(), place.path().with_file_name("copy.db"), sqlite::Options::default());
    assert!(refused.is_err());
    assert_eq!(
        std::fs::read_dir(place.path().parent().unwrap())
            .unwrap()
            .flatten()
            .filter(|file| file.file_name().to_string_lossy().starts_with("copy"))
            .count(),
        0
    );
}

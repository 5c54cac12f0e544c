//! Values that SQLite takes in and nothing else would hold: a check finds them, and a move says which row
//! it is.

use relaylink_core::store::{
    StoreError,
    upkeep::{Finding, Outcome, Weight},
};

use super::{Place, checked, copied, go_on, moved};

/// What puts one in, its table and column, what is said of it and of its row.
const MISFITS: &[(&str, &str, &str, &str, &str)] = &[
    ("UPDATE packages SET subject = x'ff00'", "packages", "subject", "are no text", "pkg_"),
    ("UPDATE packages SET subject = CAST(x'ff41' AS TEXT)", "packages", "subject", "are no UTF-8", "pkg_"),
    ("UPDATE packages SET subject = 'a' || char(0) || 'b'", "packages", "subject", "hold a NUL", "pkg_"),
    ("UPDATE packages SET sent = 'abc'", "packages", "sent", "are no whole numbers", "pkg_"),
    (
        "UPDATE outbox SET due = 1.5 WHERE id = (SELECT MAX(id) FROM outbox)",
        "outbox",
        "due",
        "are no whole numbers",
        "mal_",
    ),
    (
        "INSERT INTO key_use (key, last_used) VALUES (NULL, 1)",
        "key_use",
        "key",
        "are missing, and part of the key",
        "NULL",
    ),
    // The rest of its key is what people wrote.
    (
        "UPDATE contact_names SET address = x'41' WHERE rowid = 1",
        "contact_names",
        "address",
        "are no text",
        "acc_",
    ),
];

/// Whether it shows what a person wrote, or what was put in.
fn shows_content(told: &str) -> bool {
    ["abc", "example.org", "ben", "ana", "1.5", "ff"].iter().any(|content| {
        told.split(|c: char| c.is_whitespace() || ",:;()".contains(c)).any(|word| word == *content)
    })
}

#[test]
fn a_value_of_the_wrong_kind_is_found_with_its_column_and_its_row() {
    for (damage, table, column, says, row) in MISFITS {
        let place = Place::filled();
        place.execute(damage);
        let health = checked(&place);
        let begins = format!("1 values of {column} {says}, in the rows: {row}");
        let found = |found: &&Finding| found.about == *table && found.says.starts_with(&begins);
        let found = health.findings.iter().find(found);
        let found = found.unwrap_or_else(|| panic!("{damage}: {health:?}"));
        assert!(found.weight == Weight::Fault && !found.advice.is_empty(), "{found:?}");
        assert!(!shows_content(&found.says), "{found:?}");
    }
    let place = Place::filled();
    place.execute("UPDATE changes SET place = 'x'; UPDATE ended_drafts SET at = 'x'");
    let says: Vec<_> = checked(&place).findings.into_iter().map(|found| found.says).collect();
    assert!(
        says.iter().any(|says| says == "1 values of place are no whole numbers, in the rows: 1"),
        "{says:?}"
    );
    assert!(says.iter().any(|says| says.contains(" values of at ") && says.ends_with(", …")), "{says:?}");
}

#[test]
fn a_move_that_meets_a_value_of_the_wrong_kind_names_its_row_and_the_next_one_begins_anew() {
    let Some(to) = Place::database() else { return };
    for (damage, table, column, says, row) in MISFITS {
        let from = Place::filled();
        from.execute(damage);
        let name = from.source().name().to_owned();
        let due = format!("{name} is damaged: values of {column} in {table} {says}, as in the row {row}");
        // It is so in each run.
        for _ in 0..2 {
            let Err(StoreError::Unusable(told)) = moved(&from, &to, &mut go_on) else { panic!("{damage}") };
            assert!(told.starts_with(&due) && told.contains("`relaylink check FROM`"), "{told}");
            assert!(!shows_content(&told), "{told}");
        }
        std::fs::write(from.path(), super::filled()).unwrap();
        // What was copied before is of the store as it was.
        from.execute("UPDATE accounts SET created = created + 1");
        copied(&from, &to);
        to.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    }
}

#[test]
fn a_move_to_a_file_says_which_text_is_none() {
    let (from, to) = (Place::filled(), Place::file());
    from.execute("UPDATE packages SET subject = CAST(x'ff41' AS TEXT)");
    let told = moved(&from, &to, &mut go_on).unwrap_err().to_string();
    assert!(told.contains("values of subject in packages are no UTF-8, as in the row pkg_"), "{told}");
    from.execute("UPDATE packages SET subject = 'A'");
    assert_eq!(moved(&from, &to, &mut go_on).unwrap().outcome, Outcome::Copied);
}

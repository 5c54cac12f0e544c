//! The page for whoever runs a store says what the engines' options say.

use relaylink_core::store::{postgres, sqlite};

const PAGE: &str = include_str!("../../STORAGE.md");

#[test]
fn the_pages_figures_are_the_options() {
    let seconds = [
        ("one statement, or its wait for a lock, in PostgreSQL", postgres::DEADLINE),
        ("a connection to PostgreSQL", postgres::CONNECT_TIMEOUT),
        ("a call, for its turn, for a database that is away, and through its repeats", postgres::PATIENCE),
        ("one work on a thread of SQLite's", sqlite::DEADLINE),
        ("a write of SQLite's, for other processes'", sqlite::BUSY_TIMEOUT),
    ];
    for (what, due) in seconds {
        let row = format!("| {what} | {} s ", due.as_secs());
        assert!(PAGE.contains(&row), "{row}");
    }
    assert_eq!((postgres::QUEUE, sqlite::QUEUE), (1_024, 1_024), "the page says 1,024 of both");
    assert_eq!((postgres::CONNECTIONS, sqlite::READERS), (8, 4), "the page says eight, and 4");
    assert!(PAGE.contains("| one write; a read a core (16 at most); 4 long reads | 8 transactions"));
    assert_eq!(sqlite::INLINE_MAX, 16);
}

#[test]
fn an_embedder_finds_the_features_of_the_engines_on_the_page() {
    let manifest = include_str!("../../Cargo.toml");
    assert!(manifest.contains("\ndefault = [\"sqlite\"]\n") && manifest.contains("\npostgres = ["));
    let says = "The crate has this engine with its feature\n`postgres`";
    assert!(PAGE.contains(says) && PAGE.contains("`features = [\"postgres\"]`"), "{says}");
}

#[test]
fn an_administrator_finds_each_narrow_role_on_the_page() {
    for of in 0..8 {
        let mut role = format!("{}_reads", postgres::ROLES);
        for (at, word) in ["_writes", "_removes", "_mails"].into_iter().enumerate() {
            role.push_str(if of >> at & 1 == 1 { word } else { "" });
        }
        for due in [format!("CREATE ROLE {role} NOLOGIN;"), format!("GRANT {role} TO relaylink;")] {
            assert!(PAGE.contains(&due), "{due}");
        }
    }
}

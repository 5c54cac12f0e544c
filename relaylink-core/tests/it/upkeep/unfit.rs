//! What is said of a file that cannot be opened, or is found damaged when it is.

use relaylink_core::store::{
    StoreError,
    sqlite::{self, Sqlite},
};

use super::{Place, write};

/// What is said where the file is read as a whole, backed up and opened by a server.
fn told(place: &Place) -> [String; 3] {
    let options = sqlite::Options::default;
    let copy = place.path().with_file_name("copy.db");
    let said = [
        Sqlite::source(place.path(), options()).err(),
        Sqlite::backup(place.path(), copy, options()).err(),
        Sqlite::open(place.path()).err(),
    ];
    said.map(|error| match error {
        Some(StoreError::Unusable(told)) => told,
        other => panic!("{other:?}"),
    })
}

/// Where the page of this name begins in the file.
fn page(place: &Place, name: &str) -> usize {
    let file = write(&place.path());
    let find =
        "SELECT (rootpage - 1) * (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = ?1";
    usize::try_from(file.query_row(find, [name], |row| row.get::<_, i64>(0)).unwrap()).unwrap()
}

fn damage(place: &Place, at: usize) {
    let mut bytes = std::fs::read(place.path()).unwrap();
    bytes[at..at + 64].fill(0xa5);
    std::fs::write(place.path(), bytes).unwrap();
}

#[test]
fn of_a_file_that_is_damaged_it_is_said_how_to_have_a_whole_one() {
    let of = |name| {
        let place = Place::filled();
        let at = page(&place, name);
        (place, at)
    };
    let (schema, rows, index) =
        ((Place::filled(), 100), of("migrations"), of("sqlite_autoindex_migrations_1"));
    for (place, at) in [schema, rows, index] {
        damage(&place, at);
        said_to_be_damaged(&place);
    }
    // A store can be opened from this one, and no copy be made.
    let (place, at) = of("memories");
    damage(&place, at);
    let copy = place.path().with_file_name("copy.db");
    let told = Sqlite::backup(place.path(), copy, sqlite::Options::default()).unwrap_err().to_string();
    assert!(told.contains("relaylink.db is damaged ("), "{told}");

    let short = Place::filled();
    let bytes = std::fs::read(short.path()).unwrap();
    std::fs::write(short.path(), &bytes[..bytes.len() / 2]).unwrap();
    said_to_be_damaged(&short);
}

fn said_to_be_damaged(place: &Place) {
    for told in told(place) {
        assert!(told.contains("is damaged (") && told.contains("`relaylink backup`"), "{told}");
        assert!(told.contains("`.recover` of a sqlite3 of 3.43"), "{told}");
    }
}

#[test]
fn of_a_file_whose_log_cannot_be_made_it_is_said_what_it_takes() {
    let place = Place::filled();
    let log = place.path().with_file_name("relaylink.db-wal");
    let _ = std::fs::remove_file(&log);
    std::fs::create_dir(&log).unwrap();
    for told in told(&place) {
        let takes = format!("to make them in {}", place.path().parent().unwrap().display());
        assert!(told.contains("relaylink.db-wal") && told.contains(&takes), "{told}");
        assert!(told.contains("Run this as the user who serves the store"), "{told}");
    }
}

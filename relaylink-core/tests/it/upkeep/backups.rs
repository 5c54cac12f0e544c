//! Copies of a file that is served.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use relaylink_core::{
    relay::{Clock, Relay, SystemClock},
    store::{
        Store,
        sqlite::{self, Sqlite},
        upkeep::{Rooms, check},
    },
};
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use super::{Place, call, caller, wait};

#[test]
fn a_backup_made_while_writes_go_on_holds_all_that_was_answered_before_it_began() {
    let place = Place::filled();
    let store: Arc<dyn Store> = place.open().unwrap();
    let relay = Relay::new(store).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let (told, answers) = std::sync::mpsc::channel();
    let writing = {
        let (relay, stop) = (relay.clone(), Arc::clone(&stop));
        thread::spawn(move || {
            wait(async {
                let ana = caller(&relay, "ana@example.org").await;
                let mut n = 0;
                while !stop.load(SeqCst) {
                    n += 1;
                    call(&relay, &ana, "memory_add", json!({ "text": format!("While it ran: w{n}") })).await;
                    let _ = told.send(n);
                }
            });
        })
    };
    for round in 0..5 {
        while answers.recv().unwrap() < (round + 1) * 10 {}
        let answered = answers.try_iter().last().unwrap_or((round + 1) * 10);
        let to = place.path().with_file_name(format!("copy{round}.db"));
        let size = Sqlite::backup(place.path(), &to, sqlite::Options::default()).unwrap();
        assert_eq!(size, to.metadata().unwrap().len());
        let read = Connection::open_with_flags(&to, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let kept: i64 = read
            .query_row("SELECT COUNT(*) FROM memories WHERE text LIKE 'While it ran: %'", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert!(kept >= answered, "{kept} kept, {answered} answered");
        drop(read);
        let copy = check(
            &mut Sqlite::source(&to, sqlite::Options::default()).unwrap(),
            &Rooms::relay(),
            SystemClock.now(),
        );
        assert!(copy.unwrap().is_well());
        drop(Sqlite::open(&to).unwrap());
    }
    stop.store(true, SeqCst);
    writing.join().unwrap();
}

#[test]
fn a_store_that_is_half_filled_is_not_backed_up() {
    let place = Place::filled();
    place.execute(
        "CREATE TABLE unfinished_move (source TEXT, run TEXT, spoiled BIGINT); \
         INSERT INTO unfinished_move (source, run, spoiled) VALUES ('x', 'y', 0)",
    );
    let to = place.path().with_file_name("copy.db");
    let told = Sqlite::backup(place.path(), &to, sqlite::Options::default()).unwrap_err();
    assert!(told.to_string().contains("half filled"), "{told}");
    assert!(!to.exists());
}

#[test]
fn a_backup_is_its_owners_alone_replaces_nothing_and_holds_no_row_that_was_deleted() {
    let place = Place::filled();
    wait(async {
        let relay = Relay::new(place.open().unwrap()).unwrap();
        let ana = caller(&relay, "ana@example.org").await;
        let said = call(&relay, &ana, "memory_add", json!({ "text": "Xylophone lessons" })).await;
        call(&relay, &ana, "memory_forget", json!({ "memory": said["memory"] })).await;
    });
    let to = place.path().with_file_name("copy.db");
    let backup = || Sqlite::backup(place.path(), &to, sqlite::Options::default());
    backup().unwrap();
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&to.metadata().unwrap().permissions()) & 0o777, 0o600);
    let bytes = std::fs::read(&to).unwrap();
    let holds = |text: &str| bytes.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text.as_bytes()));
    assert!(holds("Ben likes coffee") && !holds("Xylophone lessons"));
    let refused = backup().unwrap_err().to_string();
    assert!(refused.contains("is there already"), "{refused}");
    assert_eq!(std::fs::read(&to).unwrap(), bytes);
    let mut names: Vec<_> =
        std::fs::read_dir(to.parent().unwrap()).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.retain(|name| !name.to_string_lossy().starts_with("relaylink.db"));
    assert_eq!(names, ["copy.db"]);
    let nowhere = Sqlite::backup(
        place.path().with_file_name("x.db"),
        to.with_file_name("y.db"),
        sqlite::Options::default(),
    );
    assert!(nowhere.unwrap_err().to_string().contains("there is no store in"));
    assert!(!to.with_file_name("y.db").exists());
}

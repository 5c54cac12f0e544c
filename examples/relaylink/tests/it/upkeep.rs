//! A store as a whole, in the hands of whoever runs it: moved, checked, backed up.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead, BufReader, ErrorKind},
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::Path,
    process::{Child, Command},
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value as Json, json};

use crate::program::{Data, Ended, Server, ended};

/// More rows than are copied until a program is killed that is told to when it has told of some.
const ENDED: usize = 50_000;
const SOME: u64 = 2_000;

/// A store in a file, with much in one table.
fn filled() -> Data {
    let data = Data::with_ana();
    let server = serve(&data);
    let key = data.done("key create ana@example.org --name Laptop");
    for text in ["Ben likes tea", "Zoe is away in May"] {
        server.call(&key, "memory_add", &json!({ "text": text }));
    }
    drop(server);
    change(
        &data,
        &format!(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {ENDED}) \
             INSERT INTO ended_drafts (draft, account, at) \
             SELECT 'drf_' || printf('%026d', n), (SELECT id FROM accounts), n FROM n"
        ),
    );
    data
}

fn serve(data: &Data) -> Server {
    Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]))
}

fn change(data: &Data, statements: &str) {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    Connection::open_with_flags(data.store(), flags).unwrap().execute_batch(statements).unwrap();
}

fn moving(from: &Data, to: &Data) -> Command {
    let mut program = from.program(["move", "--json"]);
    program.env("RELAYLINK_FROM", from.place()).env("RELAYLINK_TO", to.place());
    program
}

/// The lines of progress, and how it ended.
fn lines(ended: &Ended) -> (Vec<Json>, Json) {
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut lines: Vec<Json> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.pop().unwrap();
    (lines, last)
}

/// Kills it when it has copied some rows of the large table.
fn kill_in_the_middle(mut program: Child) {
    let mut told = BufReader::new(program.stdout.take().unwrap()).lines();
    let some = |line: &Json| line["table"] == "ended_drafts" && line["done"].as_u64() >= Some(SOME);
    assert!(told.any(|line| some(&serde_json::from_str(&line.unwrap()).unwrap())), "it ended");
    program.kill().unwrap();
    program.wait().unwrap();
}

#[test]
fn a_move_that_is_killed_goes_on_where_it_was_and_back_again_is_the_same() {
    let from = filled();
    for to in Data::each() {
        kill_in_the_middle(moving(&from, &to).spawn().unwrap());
        for (arguments, says) in [("serve --listen 127.0.0.1:0", "is half filled"), ("check", "half filled")]
        {
            let ended = to.run(arguments);
            assert_eq!(ended.code, Some(1), "{arguments}");
            assert!((ended.stdout + &ended.stderr).contains(says), "{arguments}");
        }

        let (told, last) = lines(&ended(moving(&from, &to)));
        let first = told.iter().find(|line| line["table"] == "ended_drafts").unwrap();
        let done = first["done"].as_u64().unwrap();
        assert!((SOME..ENDED as u64).contains(&done), "it goes on from {done}");
        assert_eq!(last["outcome"], "copied");
        let (_, again) = lines(&ended(moving(&from, &to)));
        assert_eq!(again["outcome"], "already_there");
        let checked = to.done("check");
        assert!(checked.contains(": no damage; ") && checked.lines().count() == 1, "{checked}");

        let back = Data::new();
        let (_, returned) = lines(&ended(moving(&to, &back)));
        assert_eq!(returned, last, "the digests of each table");
        let served = serve(&back);
        let key = back.done("key create ana@example.org --name Phone");
        let found = served.call(&key, "memory_search", &json!({ "query": "tea" }));
        assert_eq!(found["structuredContent"]["memories"].as_array().unwrap().len(), 1, "{found}");
    }
}

#[test]
fn what_is_said_of_a_move_is_for_people_too_and_shows_no_password() {
    let (from, to) = (Data::with_ana(), Data::new());
    let run = |arguments: &str| {
        let ended = from.run(&format!("move {arguments}"));
        (ended.code, ended.stdout, ended.stderr)
    };
    let stores = format!("--from {} --to {}", from.store().display(), to.place());
    let (code, table, told) = run(&stores);
    assert_eq!(code, Some(0), "{told}");
    let accounts = table.lines().find(|line| line.starts_with("accounts\t1\t")).unwrap();
    assert!(accounts.ends_with("\tequal"), "{table}");
    assert!(told.contains("copy accounts: 1 of 1\n") && told.contains("and equal."), "{told}");

    to.done("account create ben@example.org --name Ben");
    let (code, _, told) = run(&stores);
    assert!(code == Some(1) && told.contains("holds rows of its own"), "{told}");
    for wrong in [
        "mysql://ana:hunter2@db/relay",
        "postgres://ana:a@b?hunter2=x@db/relay",
        "postgres:/ana:hunter2@db/relay",
        "Postgres:ana:hunter2@db/relay",
        "host=db password=hunter2",
    ] {
        for (command, place) in [
            (vec!["move", "--to", &to.place(), "--from", wrong], "--from or RELAYLINK_FROM"),
            (vec!["move", "--from", &from.place(), "--to", wrong], "--to or RELAYLINK_TO"),
            (vec!["check", wrong], "STORE"),
        ] {
            let ended = ended(from.program(command));
            assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{}", ended.stderr);
            assert!(ended.stderr.contains(&format!("what {place} says")), "{}", ended.stderr);
            assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
        }
    }
    let (code, _, told) = run(&format!("--from nowhere --to {}", to.place()));
    assert!(code == Some(1) && told.contains("there is no store in nowhere"), "{told}");
}

#[test]
fn a_move_that_its_source_stands_in_the_way_of_names_the_row_and_is_not_to_be_run_again() {
    for to in Data::each() {
        let from = Data::with_ana();
        change(&from, "UPDATE accounts SET name = CAST(x'ff41' AS TEXT)");
        let told = ended(moving(&from, &to));
        assert_eq!(told.code, Some(1));
        for says in
            ["values of name in accounts are no UTF-8, as in the row acc_", "Run `relaylink check FROM`"]
        {
            assert!(told.stderr.contains(says), "{}", told.stderr);
        }
        assert!(!told.stderr.contains("goes on where it stopped"), "{}", told.stderr);
        let found = from.run("check");
        assert!(found.stdout.contains("accounts: 1 values of name are no UTF-8, in the rows: acc_"));
    }
}

#[test]
fn a_check_says_what_is_wrong_and_what_to_do_and_ends_with_a_failure() {
    let data = Data::with_ana();
    let well: Json = serde_json::from_str(&data.done("check --json")).unwrap();
    assert_eq!((&well["well"], &well["findings"]), (&json!(true), &json!([])));

    change(&data, "INSERT INTO key_use (key, last_used) VALUES ('key_x', 1)");
    change(&data, "INSERT INTO memory_terms (rowid, terms) VALUES (7, '1~tea')");
    let told = data.run("check");
    assert_eq!(told.code, Some(1));
    for says in [
        "fault: key_use: 1 uses are of no key: key_x\n  ",
        "keep a copy of it as it is, and restore a backup",
        "fault: memory_terms: 1 entries are of no row of memories, by number: 7\n  Move the store",
    ] {
        assert!(told.stdout.contains(says), "{}", told.stdout);
    }
    assert!(told.stderr.contains("faults that were found in") && told.stderr.ends_with(": 2\n"));
    let told = data.run("check --json");
    let found: Json = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((told.code, &found["well"]), (Some(1), &json!(false)));
    assert_eq!(found["findings"][0]["about"], "key_use");
}

/// Runs the program as somebody who may write to nothing of this data.
fn as_a_reader(data: &Data, arguments: &[&str]) -> Ended {
    let store = data.store();
    let folder = store.parent().unwrap();
    let outer = folder.parent().unwrap();
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    allow(outer, 0o755);
    allow(&store, 0o644);
    let copy = outer.join("program");
    fs::copy(env!("CARGO_BIN_EXE_relaylink"), &copy).unwrap();
    let own = data.program(arguments);
    let mut program = Command::new(&copy);
    program.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?)))).args(arguments);
    // Who may do everything takes nobody's number.
    if outer.metadata().unwrap().uid() == 0 {
        program.uid(65_534).gid(65_534);
    }
    allow(folder, 0o555);
    let output = loop {
        match program.output() {
            // A program that another test began meanwhile holds the copy until it is its own.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(10));
            }
            output => break output.unwrap(),
        }
    };
    allow(folder, 0o755);
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn who_may_only_read_the_file_is_told_what_it_takes() {
    let data = Data::with_ana();
    let to = data.store().with_file_name("copy.db");
    let (store, to) = (data.store(), to.to_str().unwrap().to_owned());
    let store = store.to_str().unwrap();
    for arguments in [vec!["check", store], vec!["move", "--from", store, "--to", &to]] {
        let told = as_a_reader(&data, &arguments);
        assert_eq!(told.code, Some(1), "{}", told.stderr);
        assert!(
            told.stderr.starts_with(&format!("error: {store} cannot be opened by this user")),
            "{}",
            told.stderr
        );
        assert!(told.stderr.contains("Run this as the user who serves the store"), "{}", told.stderr);
    }
    data.done("check");
    // The log is there, and may be read: so may the store.
    let server = serve(&data);
    let told = as_a_reader(&data, &["check", store]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    drop(server);
}

#[test]
fn a_backup_is_made_while_a_server_writes_and_is_whole() {
    let data = Data::with_ana();
    let key = data.done("key create ana@example.org --name Laptop");
    let server = serve(&data);
    let add = |n: usize| {
        let text = format!("Fact {n}");
        assert_eq!(server.call(&key, "memory_add", &json!({ "text": text }))["isError"], false);
    };
    (0..20).for_each(add);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    let stop = AtomicBool::new(false);
    let backup = format!("backup {}", copy.display());
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(SeqCst) {
                add(20);
            }
        });
        data.done(&backup);
        stop.store(true, SeqCst);
    });
    data.done(&format!("check {}", copy.display()));
    let again = data.run(&backup);
    assert!(again.code == Some(1) && again.stderr.contains("is there already"), "{}", again.stderr);
    assert!(again.stderr.starts_with(&format!("error: {}", copy.display())), "{}", again.stderr);

    let restored = Data::with_ana();
    std::fs::copy(&copy, restored.store()).unwrap();
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(restored.store().with_extension(format!("db{end}")));
    }
    let server = serve(&restored);
    let found = server.call(&key, "memory_search", &json!({ "query": "fact", "limit": 100 }));
    assert!(found["structuredContent"]["memories"].as_array().unwrap().len() >= 20, "{found}");
    restored.done("check");

    let Some(data) = Data::each().find(|data| !data.is_in_file()) else { return };
    let told = data.run(&backup);
    assert!(told.code == Some(2) && told.stderr.contains("pg_dump: see “Backing up”"), "{}", told.stderr);
}

//! The program on each engine: a file in its folder, or a PostgreSQL database.

use std::{
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

use crate::{
    database::Database,
    program::{Client, Data, Ended, ended},
};

/// As much as can be asked for.
const LOG: &str = "trace,tokio_postgres=trace,hyper=trace";

#[test]
fn accounts_and_keys_are_made_listed_and_revoked_on_each_engine() {
    for data in Data::each() {
        let id = data.done("account create Ana@example.org --name Ana");
        let again = data.run("account create ana@example.org --name Other");
        assert_eq!((again.code, again.stdout.as_str()), (Some(1), ""));
        assert!(
            again.stderr.contains("There is an account for ana@example.org already."),
            "{}",
            again.stderr
        );
        let accounts: Json = serde_json::from_str(&data.done("account list --json")).unwrap();
        assert_eq!(
            (&accounts[0]["account"], &accounts[0]["address"]),
            (&json!(id), &json!("Ana@example.org"))
        );
        assert_eq!(accounts.as_array().unwrap().len(), 1);

        let key = data.done("key create ana@example.org --name Laptop --may writes --expires 90d");
        let listed: Json = serde_json::from_str(&data.done("key list ana@example.org --json")).unwrap();
        assert_eq!(listed[0]["shown"], format!("{}…{}", &key[..6], &key[34..]));
        assert!(listed[0]["expires"].is_string() && listed[0]["revoked"].is_null(), "{listed}");
        let tools = data.done("tools --key ana@example.org laptop");
        let may = |tool: &str| tools.lines().find(|line| line.starts_with(tool)).unwrap().split('\t').nth(4);
        assert_eq!((may("draft_package"), may("confirm_send")), (Some("may"), Some("may not")));

        let first = data.done("key revoke ana@example.org laptop");
        assert_eq!(data.done("key revoke ana@example.org Laptop"), first);
        let mails = data.mails();
        assert!(mails.len() == 1 && mails[0].contains("was revoked"), "{mails:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_briefing_goes_from_a_server_to_a_client_on_each_engine() {
    for data in Data::each() {
        data.done("account create ana@example.org --name Ana");
        data.done("account create ben@example.org --name Ben");
        let key = data.done("key create ana@example.org --name Laptop");
        let server = crate::program::Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
        let mut ben = Client::start(data.program(["stdio", "--account", "ben@example.org"]));
        let reply = |answer: Json| {
            assert_eq!(answer["isError"], false, "{answer}");
            answer["structuredContent"].clone()
        };
        let ana = |tool: &str, arguments: Json| reply(server.call(&key, tool, &arguments));

        let invited = ana("invite_contact", json!({ "email": "ben@example.org" }));
        reply(ben.call("accept_contact", &json!({ "request": invited["request"] })));
        let words = json!({ "to": ["ben@example.org"], "subject": "Numbers", "body": "Up by four.", "asks": "Agreed?" });
        let draft = ana("draft_package", words);
        assert_eq!(
            reply(ben.call("check_inbox", &json!({})))["packages"],
            json!([]),
            "a draft reaches nobody"
        );
        let sent = ana("confirm_send", json!({ "draft": draft["draft"] }));
        assert_eq!(ana("confirm_send", json!({ "draft": draft["draft"] })), sent, "a repeat sends nothing");

        let inbox = reply(ben.call("check_inbox", &json!({ "unread": true })));
        assert_eq!(inbox["packages"].as_array().unwrap().len(), 1, "{inbox}");
        let package = reply(ben.call("get_package", &json!({ "package": sent["package"] })));
        assert_eq!(package["body"], json!({ "writtenBy": "ana@example.org", "content": "Up by four." }));
        reply(ben.call("acknowledge_package", &json!({ "package": sent["package"] })));
        let status = ana("thread_status", json!({ "thread": sent["thread"] }));
        let seen = &status["packages"][0]["recipients"][0];
        assert!(seen["seen"] == true && seen["acknowledged"].is_string(), "{status}");

        let until = Instant::now() + Duration::from_secs(20);
        while data.mails().len() < 3 && Instant::now() < until {
            sleep(Duration::from_millis(50));
        }
        assert_eq!(data.mails().len(), 3, "the invitation, its acceptance, the package");
        assert_eq!(ben.end().code, Some(0));
        let ended = server.terminate();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(data.store().exists(), data.is_in_file(), "the folder holds the store or mail alone");
        let keys: Json = serde_json::from_str(&data.done("key list --json")).unwrap();
        assert!(keys.as_array().unwrap().iter().all(|key| key["lastUsed"].is_string()), "{keys}");
    }
}

#[test]
fn the_flag_and_its_variable_name_one_store_and_two_folders_share_it() {
    let Some(database) = Database::new() else { return };
    let (here, there) = (Data::new(), Data::new());
    let mut made = here.program(["account", "create", "ana@example.org", "--name", "Ana", "--store"]);
    made.arg(database.url());
    assert_eq!(ended(made).code, Some(0));
    let mut listed = there.program(["account", "list"]);
    listed.env("RELAYLINK_STORE", database.url());
    assert!(ended(listed).stdout.starts_with("ana@example.org\t"));
    assert_eq!(there.done("account list"), "", "without it, the folder's own store");
}

/// What a run with this store and as much of a log as there is says.
fn told(data: &Data, url: &str, arguments: &str) -> Ended {
    let mut program: Command = data.program(arguments.split(' '));
    program.env("RELAYLINK_STORE", url).env("RELAYLINK_LOG", LOG);
    ended(program)
}

#[test]
fn a_store_that_cannot_be_used_is_told_with_a_remedy_and_without_its_password() {
    const REMEDY: &str = "postgres://USER:PASSWORD@HOST:PORT/DATABASE";
    let data = Data::new();
    for (url, code, says, remedy) in [
        ("hunter2-relay.db", 2, "does not begin with postgres://", REMEDY),
        ("mysql://ana:hunter2-a@db/relay", 2, "does not begin with postgres://", REMEDY),
        ("postgres://ana:hunter2-a@b@db/relay", 2, "more than one @", "%40"),
        ("postgres://ana:hunter2-a@db:port/relay", 1, "cannot be read", REMEDY),
        (
            "postgres://ana:hunter2-a@127.0.0.1:1/relay",
            1,
            "the database is away",
            "--store or RELAYLINK_STORE",
        ),
    ] {
        let (code, says, remedy) = if cfg!(feature = "postgres") || code == 2 {
            (code, says, remedy)
        } else {
            (2, "was built without PostgreSQL", "with its feature postgres")
        };
        for arguments in ["account list", "serve --listen 127.0.0.1:0", "stdio"] {
            let ended = told(&data, url, arguments);
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{url}: {}", ended.stderr);
            assert!(ended.stderr.contains(says) && ended.stderr.contains(remedy), "{url}: {}", ended.stderr);
            assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
        }
        // What needs no store asks for none, and shows none.
        for arguments in ["--help", "serve --help", "tools", "nonsense", "serve --listen nonsense"] {
            let ended = told(&data, url, arguments);
            assert!(!(ended.stdout + &ended.stderr).contains("hunter2"), "{arguments}");
        }
    }
}

#[cfg(feature = "postgres")]
#[test]
fn why_a_database_is_away_is_in_the_log_as_the_remedy_says() {
    let data = Data::new();
    let told = |log: &str| {
        let mut program = data.program(["account", "list"]);
        program.env("RELAYLINK_STORE", "postgres://ana@127.0.0.1:1/relay").env("RELAYLINK_LOG", log);
        ended(program).stderr
    };
    let usual = told("");
    let (log, remedy) = usual.split_once("the database is away").unwrap();
    assert!(log.contains("WARN") && log.contains("refused"), "{usual}");
    assert!(remedy.contains("the log above has a warning, unless RELAYLINK_LOG keeps those out"), "{usual}");
    assert!(!told("error").contains("WARN"));
}

#[test]
fn a_database_that_refuses_is_told_with_a_remedy() {
    let Some(database) = Database::new() else { return };
    let data = Data::new();
    let url = database.url();
    let (server, database_and_more) = url.rsplit_once('/').unwrap();
    let options = database_and_more.split_once('?').unwrap().1;
    for (url, says) in [
        (format!("{server}/relaylink_nowhere?{options}"), "\"relaylink_nowhere\" does not exist"),
        (url.replacen("://", "://nobody_", 1), "nobody_"),
    ] {
        let ended = told(&data, &url, "account list");
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
        assert!(ended.stderr.contains("error: the database cannot be used: "), "{}", ended.stderr);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
        assert!(ended.stderr.contains("See the user, the password and the database"), "{}", ended.stderr);
        assert!(!ended.stderr.contains(&database.password()), "{}", ended.stderr);
    }
}

#[cfg(unix)]
#[test]
fn no_part_of_the_databases_password_or_of_what_is_written_is_logged_at_trace_level() {
    let Some(database) = Database::new() else { return };
    let data = Data::new();
    let mut log = String::new();
    let mut run = |arguments: &str| {
        let ended = told(&data, &database.url(), arguments);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        log += &ended.stderr;
        ended.stdout.trim_end().to_owned()
    };
    run("account create ana@example.org --name Ana");
    let key = run("key create ana@example.org --name Laptop");
    let mut program = data.program(["serve", "--listen", "127.0.0.1:0"]);
    program.env("RELAYLINK_STORE", database.url()).env("RELAYLINK_LOG", LOG);
    let server = crate::program::Server::start(program);
    assert_eq!(server.call(&key, "memory_add", &json!({ "text": "I like tea" }))["isError"], false);
    assert_eq!(server.get("/readyz", "localhost").0, 200);
    log += &server.terminate().stderr;
    assert!(log.contains("the data directory is open"), "it does log: {log}");
    let secret = database.password();
    for at in 0..=secret.len().saturating_sub(8) {
        let part = &secret[at..(at + 8).min(secret.len())];
        assert!(!log.contains(part), "{part} in {log}");
    }
    assert!(!log.contains("I like tea"), "{log}");
}

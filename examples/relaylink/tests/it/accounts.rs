//! Accounts and keys are made, listed and revoked at the machine.

use std::sync::Arc;

use relaylink_core::{
    account::everything_listed,
    relay::{Clock, Relay, SystemClock},
    store::sqlite::Sqlite,
};
use serde_json::{Value as Json, json};

use crate::program::{Client, Data, Server, ended};

#[test]
fn an_account_is_made_once_and_listed() {
    let data = Data::new();
    let id = data.done("account create Ana@Example.org --name Ana");
    assert!(id.starts_with("acc_"));
    let again = data.run("account create ana@example.org --name Other");
    assert_eq!((again.code, again.stdout.as_str()), (Some(1), ""));
    assert!(again.stderr.contains("There is an account for ana@example.org already."), "{}", again.stderr);
    data.done("account create ben@example.org --name Ben");
    let listed = data.done("account list");
    let rows: Vec<Vec<_>> = listed.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0][0], rows[0][1], rows[0][3]), ("Ana@example.org", "Ana", id.as_str()));
    let json: Json = serde_json::from_str(&data.done("account list --json")).unwrap();
    assert_eq!(json[1]["address"], "ben@example.org");
}

#[test]
fn what_makes_no_sense_ends_with_two_and_what_cannot_be_done_with_one() {
    let data = Data::with_ana();
    for (arguments, code, says) in [
        ("", 2, "Usage"),
        ("nonsense", 2, "unrecognized subcommand 'nonsense'"),
        ("account create ana --name Ana", 2, "this is not an e-mail address"),
        ("account create ben@example.org", 2, "--name"),
        ("key create ana@example.org --name K --may everything", 2, "external-mail"),
        (
            "key create ana@example.org --name K --may writes --read-only",
            2,
            "error: --read-only and --may exclude each other",
        ),
        ("key create ana@example.org --name K --expires soon", 2, "expected a number and h, d or w"),
        ("key create ben@example.org --name K", 1, "relaylink account create ben@example.org --name NAME"),
        ("key list ben@example.org", 1, "there is no account for ben@example.org"),
        ("key revoke ana@example.org K", 1, "relaylink key list ana@example.org"),
        ("tools --key ana@example.org K", 1, "relaylink key list ana@example.org"),
        ("serve --listen localhost:8787", 2, "an IP address and a port, as 127.0.0.1:8787"),
        ("serve --listen 127.0.0.1:0 --toolsets nonsense", 2, "there is no toolset `nonsense`"),
        ("stdio --exclude-tools memory_forge", 2, "did you mean `memory_forget`?"),
        ("stdio --account ben@example.org", 1, "there is no account for ben@example.org"),
    ] {
        let ended = data.run(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{arguments}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{arguments}: {}", ended.stderr);
    }
}

#[test]
fn only_a_keys_own_variable_narrows_it() {
    let data = Data::with_ana();
    let made = |variable: &str, value: &str, arguments: &str| {
        let mut program = data.program(format!("key create ana@example.org --name {arguments}").split(' '));
        program.env(variable, value);
        ended(program)
    };
    let offered = made("RELAYLINK_READ_ONLY", "true", "a");
    assert!(offered.stderr.contains("May read, write"), "{}", offered.stderr);
    let off = made("RELAYLINK_KEY_READ_ONLY", "false", "b --may writes");
    assert_eq!(off.code, Some(0), "{}", off.stderr);
    let on = made("RELAYLINK_KEY_READ_ONLY", "true", "c --may writes");
    assert_eq!(on.code, Some(2), "{}", on.stderr);
    let only = made("RELAYLINK_KEY_READ_ONLY", "true", "d");
    assert!(only.code == Some(0) && only.stderr.contains("May read. May not: write"), "{}", only.stderr);
}

#[test]
fn an_empty_variable_is_none() {
    let data = Data::with_ana();
    let empty = |arguments: &str, variables: &[&str]| {
        let mut program = data.program(arguments.split(' '));
        for variable in variables {
            program.env(format!("RELAYLINK_{variable}"), "");
        }
        program
    };
    let offered = ["STORE", "LOG", "READ_ONLY", "TOOLSETS", "EXCLUDE_TOOLS"];
    let key = ["NAME", "KEY_READ_ONLY", "EXPIRES"];
    let made = ended(empty("key create ana@example.org --name a", &key));
    assert!(made.code == Some(0) && made.stderr.contains("May read, write"), "{}", made.stderr);
    let nameless = ended(empty("key create ana@example.org", &key));
    assert!(nameless.code == Some(2) && nameless.stderr.contains("--name"), "{}", nameless.stderr);
    let serve = ["LISTEN", "ALLOWED_HOST", "ALLOWED_ORIGIN", "DRAIN"];
    let server = Server::start(empty("serve --listen 127.0.0.1:0", &[&serve[..], &offered].concat()));
    assert_eq!(server.post(made.stdout.trim(), "ping", &json!({})).0, 200);
    let of_stdio = ["ACCOUNT", "AS", "KEY_READ_ONLY"];
    let mut client = Client::start(empty("stdio", &[&of_stdio[..], &offered].concat()));
    assert_eq!(client.call("whoami", &json!({}))["structuredContent"]["keyName"], "stdio");
    assert!(client.end().stderr.contains("acting as"), "it logs as much as without RELAYLINK_LOG");
    for arguments in ["tools", "tools --json", "key list", "account list"] {
        let ended = ended(empty(arguments, &["JSON", "KEY"]));
        assert_eq!(ended.code, Some(0), "{arguments}: {}", ended.stderr);
    }
    // Its data is where it is by default.
    if cfg!(unix) {
        let home = data.store().with_file_name("home");
        let mut program = empty("account list", &["DATA"]);
        program.env("HOME", &home).env_remove("XDG_DATA_HOME");
        assert_eq!(ended(program).code, Some(0));
        assert!(home.exists());
    }
    // And help names it all the same.
    assert!(ended(empty("stdio --help", &["AS"])).stdout.contains("RELAYLINK_AS"));
}

#[test]
fn an_empty_list_of_what_a_key_may_do_is_refused_and_not_all() {
    let data = Data::with_ana();
    for arguments in ["key create ana@example.org --name a", "stdio"] {
        let mut program = data.program(arguments.split(' '));
        program.env("RELAYLINK_MAY", "").stdin(std::process::Stdio::null());
        let told = ended(program);
        assert_eq!(told.code, Some(2), "{arguments}: {}", told.stderr);
        assert!(told.stderr.contains("'--may <MAY>'"), "{arguments}: {}", told.stderr);
    }
    assert!(!data.done("key list").contains("stdio"), "no key was made");
}

#[test]
fn a_key_is_named_by_two_arguments_or_by_one_variable() {
    let data = Data::with_ana();
    data.done("key create ana@example.org --name w");
    data.done("key create ana@example.org --name a,b --read-only");
    let argued = data.done("tools --key ana@example.org a,b");
    assert!(argued.contains("\tmay not"), "{argued}");
    let by_variable = |value: &str| {
        let mut program = data.program(["tools"]);
        program.env("RELAYLINK_KEY", value);
        ended(program)
    };
    for value in ["ana@example.org w", "ana@example.org,w", " ana@example.org, w "] {
        let told = by_variable(value);
        assert!(told.code == Some(0) && told.stdout.contains("\tmay\n"), "{value}: {}", told.stderr);
    }
    assert_eq!(by_variable("ana@example.org a,b").stdout.trim_end(), argued);
    assert!(!by_variable("").stdout.contains("\tmay"), "an empty one names none");
    for value in [" ", "w", "ana@example.org"] {
        let told = by_variable(value);
        assert_eq!((told.code, told.stdout.as_str()), (Some(2), ""), "{value}: {}", told.stderr);
        assert!(told.stderr.contains("--key EMAIL NAME"), "{value}: {}", told.stderr);
    }
}

#[tokio::test]
async fn what_an_expired_key_can_do_is_nothing() {
    let data = Data::with_ana();
    let store = Arc::new(Sqlite::open(data.store()).unwrap());
    let relay = Relay::new(store).unwrap();
    let ana = relay.accounts().account(&"ana@example.org".parse().unwrap()).await.unwrap().unwrap();
    let past = Some(SystemClock.now().plus_millis(-1_000));
    relay
        .accounts()
        .create_key(&ana.id, "old".parse().unwrap(), everything_listed(), past)
        .await
        .map(drop)
        .unwrap();
    let told = data.run("tools --key ana@example.org old");
    assert_eq!((told.code, told.stdout.as_str()), (Some(1), ""));
    assert!(told.stderr.contains("the key \"old\" expired at "), "{}", told.stderr);
}

#[test]
fn a_store_that_cannot_be_written_is_told_with_its_path_and_a_remedy() {
    let data = Data::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("relaylink.db");
    std::fs::create_dir(&file).unwrap();
    let told = data.run(&format!("--data {} account list", folder.path().display()));
    assert_eq!(told.code, Some(1));
    let path = file.display().to_string();
    assert!(told.stderr.contains(&path) && told.stderr.contains("is a directory"), "{}", told.stderr);
    assert!(told.stderr.contains("--data DIR"), "{}", told.stderr);
    std::fs::remove_dir(&file).unwrap();
    std::fs::write(&file, "no store at all, but words in a file").unwrap();
    let told = data.run(&format!("--data {} account list", folder.path().display()));
    assert!(told.code == Some(1) && told.stderr.contains(&path), "{}", told.stderr);
    assert!(told.stderr.contains("--data DIR"), "{}", told.stderr);
}

#[test]
fn a_data_directory_that_cannot_be_is_told_with_a_remedy() {
    let data = Data::new();
    let ended = data.run("--data /proc/nowhere account list");
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("/proc/nowhere") && ended.stderr.contains("--data DIR"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_key_is_on_stdout_once_and_alone() {
    let data = Data::with_ana();
    let made = data.run("key create ana@example.org --name Laptop --expires 90d");
    assert_eq!(made.code, Some(0));
    let key = made.stdout.strip_suffix('\n').unwrap();
    assert!(key.len() == 40 && key.starts_with("rlk_"));
    assert!(!made.stderr.contains(&key[6..34]) && made.stderr.contains("May read, write, delete, send mail"));
    let listed = data.done("key list");
    let row: Vec<_> = listed.split('\t').collect();
    assert_eq!((row[0], row[1]), ("ana@example.org", "Laptop"));
    assert_eq!(row[2], format!("{}…{}", &key[..6], &key[34..]));
    let json: Json = serde_json::from_str(&data.done("key list ana@example.org --json")).unwrap();
    assert!(json[0]["expires"].is_string() && json[0]["lastUsed"].is_null());
    let again = data.run("key create ana@example.org --name LAPTOP");
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("Choose another name"), "{}", again.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_key_that_could_not_be_shown_is_told_with_how_to_revoke_it() {
    let data = Data::with_ana();
    let mut program = data.program(["key", "create", "ana@example.org", "--name", "Laptop"]);
    program.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let ended = ended(program);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("relaylink key revoke ana@example.org \"Laptop\""), "{}", ended.stderr);
}

#[test]
fn a_key_is_revoked_for_good_and_one_mail_says_so() {
    let data = Data::with_ana();
    data.done("key create ana@example.org --name Laptop");
    let first = data.done("key revoke ana@example.org laptop");
    assert!(first.contains("It opens nothing."));
    assert_eq!(data.done("key revoke ana@example.org Laptop"), first);
    let mails = data.mails();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains("To: ana@example.org") && mails[0].contains("was revoked"));
    let json: Json = serde_json::from_str(&data.done("key list --json")).unwrap();
    assert!(json[0]["revoked"].is_string());
    let again = data.run("key create ana@example.org --name Laptop");
    assert_eq!(again.code, Some(1));
    let tools = data.run("tools --key ana@example.org Laptop");
    assert_eq!(tools.code, Some(1));
    assert!(tools.stderr.contains("can do nothing"), "{}", tools.stderr);
}

#[test]
fn tools_are_listed_with_what_a_key_can_do() {
    let data = Data::with_ana();
    data.done("key create ana@example.org --name Reader --read-only");
    data.done("key create ana@example.org --name Writer --may writes,removes");
    let grades = |key: &str| -> Vec<(String, String)> {
        let listed = data.done(&format!("tools --key ana@example.org {key}"));
        let rows = listed.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
        rows.map(|row| (row[0].clone(), row[4].clone())).collect()
    };
    let of = |grades: &[(String, String)], tool: &str| {
        grades.iter().find(|(name, _)| name == tool).unwrap().1.clone()
    };
    let (reader, writer) = (grades("Reader"), grades("Writer"));
    assert_eq!((of(&reader, "whoami").as_str(), of(&reader, "memory_add").as_str()), ("may", "may not"));
    assert_eq!(
        (of(&writer, "memory_add").as_str(), of(&writer, "revoke_api_key").as_str()),
        ("may", "may not")
    );

    // Without a key, no data directory is made or asked.
    let nowhere = data.run("--data /proc/nowhere tools --json");
    assert_eq!(nowhere.code, Some(0), "{}", nowhere.stderr);
    let json: Json = serde_json::from_str(&nowhere.stdout).unwrap();
    let revoke = json.as_array().unwrap().iter().find(|tool| tool["name"] == "revoke_api_key").unwrap();
    assert_eq!(revoke["effects"], serde_json::json!(["Writes", "Removes", "ExternalMail"]));
    assert_eq!(revoke["annotations"]["title"], "Revoke an API key (irreversible)");
    assert_eq!(revoke["alwaysAsk"], true);
}

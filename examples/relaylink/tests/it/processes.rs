//! Several processes on one data directory, since each client starts its own.
#![cfg(unix)]

use std::{
    collections::HashMap,
    io::Write,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

use crate::{
    program::{Client, Data, Server},
    switches,
};

/// Seconds of load where the variable does not say: enough to meet each other's locks.
const SECONDS: u64 = 4;
const SECONDS_VARIABLE: &str = "RELAYLINK_TEST_LOAD";
/// Calls in flight of each client.
const IN_FLIGHT: usize = 16;
/// Drafts that each client confirms: all together stay under what one may send another in a day.
const CONFIRMED: usize = 100;

fn draft() -> Json {
    json!({ "name": "draft_package", "arguments": {
        "to": ["ben@example.org"], "subject": "Numbers", "body": "As agreed. ".repeat(20),
    } })
}

/// A success, and what it holds.
fn reply(answer: &Json) -> &Json {
    assert_eq!(answer["isError"], false, "{answer}");
    &answer["structuredContent"]
}

/// Drafts, so many at a time, until the time is over and enough are confirmed: the first of them. Gives how many
/// drafts were answered, and how many sends.
fn work(client: &mut Client, until: Instant) -> (usize, usize) {
    let draft = draft();
    let (mut flying, mut drafted, mut sent, mut asked) = (0, 0, 0, 0);
    loop {
        while flying < IN_FLIGHT && (Instant::now() < until || asked < CONFIRMED) {
            client.send("tools/call", &draft);
            flying += 1;
        }
        if flying == 0 {
            return (drafted, sent);
        }
        let answer = client.answer();
        let reply = reply(&answer["result"]);
        flying -= 1;
        if reply.get("package").is_some() {
            sent += 1;
            continue;
        }
        drafted += 1;
        if asked < CONFIRMED {
            client.send(
                "tools/call",
                &json!({ "name": "confirm_send", "arguments": { "draft": reply["draft"] } }),
            );
            (asked, flying) = (asked + 1, flying + 1);
        }
    }
}

#[test]
fn three_clients_and_a_server_at_once_answer_every_call_and_each_mail_leaves_once() {
    let seconds = switches::number(SECONDS_VARIABLE).map(u64::from);
    if seconds.is_none() {
        // Past the capture of a passing test's output.
        writeln!(std::io::stderr(), "short: {SECONDS} seconds of load; {SECONDS_VARIABLE}=20 for all")
            .unwrap();
    }
    let data = Data::with_ana();
    data.done("account create ben@example.org --name Ben");
    let ana = data.done("key create ana@example.org --name Laptop");
    let ben = data.done("key create ben@example.org --name Laptop");
    let server = Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]));
    let invited = server.call(&ana, "invite_contact", &json!({ "email": "ben@example.org" }));
    let request = json!({ "request": reply(&invited)["request"] });
    reply(&server.call(&ben, "accept_contact", &request));

    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(SECONDS));
    let (drafted, sent) = thread::scope(|scope| {
        let clients = ["one", "two", "three"].map(|name| {
            let program = data.program(["stdio", "--account", "ana@example.org", "--as", name]);
            scope.spawn(move || {
                let mut client = Client::start(program);
                let done = work(&mut client, until);
                let ended = client.end();
                assert_eq!(ended.code, Some(0), "{}", ended.stderr);
                assert!(!ended.stderr.contains("locked"), "{}", ended.stderr);
                done
            })
        });
        let posts = [(); IN_FLIGHT].map(|()| {
            scope.spawn(|| {
                let mut drafted = 0;
                while Instant::now() < until {
                    reply(&server.call(&ana, "draft_package", &draft()["arguments"]));
                    drafted += 1;
                }
                (drafted, 0)
            })
        });
        let done = clients.into_iter().map(|client| client.join().unwrap());
        let done = done.chain(posts.into_iter().map(|post| post.join().unwrap()));
        done.fold((0, 0), |(drafts, sends), (drafted, sent)| (drafts + drafted, sends + sent))
    });
    assert_eq!(sent, 3 * CONFIRMED, "of {drafted} drafts");
    assert_eq!(open_drafts(&server, &ana), drafted - sent);

    // Each letter once: the request, the answer to it, and the packages.
    let letters = sent + 2;
    let patience = Instant::now() + Duration::from_secs(30);
    while data.mails().len() < letters && Instant::now() < patience {
        thread::sleep(Duration::from_millis(100));
    }
    let ended = server.terminate();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains("locked"), "{}", ended.stderr);
    let mut attempts: HashMap<String, usize> = HashMap::new();
    for mail in data.mails() {
        let id = mail.lines().find(|line| line.to_ascii_lowercase().starts_with("message-id:"));
        *attempts.entry(id.unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(attempts.len(), letters);
    assert!(attempts.values().all(|attempts| *attempts == 1), "{attempts:?}");
}

fn open_drafts(server: &Server, key: &str) -> usize {
    let (mut found, mut cursor) = (0, Json::Null);
    loop {
        let page = server.call(key, "list_drafts", &json!({ "limit": 100, "cursor": cursor }));
        let page = reply(&page).clone();
        found += page["drafts"].as_array().unwrap().len();
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => return found,
        }
    }
}

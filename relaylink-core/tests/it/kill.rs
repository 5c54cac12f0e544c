//! A call that was answered survives kill -9, and a mail that went out never goes out again.
//!
//! The test runs its own binary as a child that drafts, confirms and mails for as long as it is
//! let, and kills it at random. What the child said on its standard output was answered.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use mail_parser::MessageParser;
use relaylink_core::{
    mail::{Courier, DirectoryMailer, Post},
    relay::{Clock, Relay, SystemClock, Timestamp},
    store::sqlite::Sqlite,
    tool::Caller,
};
use rusqlite::Connection;
use serde_json::json;

use crate::{rows, switches, world::call};

/// Rounds where the variable does not say: enough to see a store that forgets.
const ROUNDS: u64 = 20;
/// Drafts and sends that must have been answered for the test to say anything. A machine so busy that
/// its children answer little is given more rounds, up to this many times as many.
const ENOUGH: (usize, usize) = (100, 50);
const PATIENCE: u64 = 10;
const ROUNDS_VARIABLE: &str = "RELAYLINK_TEST_KILLS";
const CHILD_VARIABLE: &str = "RELAYLINK_TEST_KILL_CHILD";
const DAY_VARIABLE: &str = "RELAYLINK_TEST_KILL_DAY";
/// Tasks of a child that draft and confirm at once.
const TASKS: usize = 8;

/// The machine's clock, so many days on. Each round is a day of its own: the caps on a day's mails
/// do not meet, and the leases of the round before are over.
#[derive(Clone, Copy)]
struct Day(i64);

impl Clock for Day {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_millis(self.0 * 86_400_000)
    }
}

struct Place(PathBuf);

impl Place {
    fn data(&self) -> PathBuf {
        self.0.join("data.db")
    }

    fn mail(&self) -> DirectoryMailer {
        DirectoryMailer::new(self.0.join("mail"))
    }

    fn relay(&self, day: Day) -> (Arc<Sqlite>, Relay) {
        let store = Arc::new(Sqlite::open(self.data()).unwrap());
        (store.clone(), Relay::builder(store).clock(day).build().unwrap())
    }

    fn courier(&self, store: Arc<Sqlite>, day: Day) -> Courier {
        Courier::new(store, Arc::new(self.mail()), Arc::new(day), Post::default())
    }

    fn read(&self) -> Connection {
        rows::read(&self.data())
    }
}

/// Not a test: what the killed child does. Without its variable there is nothing to do.
#[test]
fn child() {
    let Some(place) = std::env::var_os(CHILD_VARIABLE) else { return };
    let place = Place(place.into());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let day = Day(std::env::var(DAY_VARIABLE).unwrap().parse().unwrap());
        let (store, relay) = place.relay(day);
        let accounts = relay.accounts().list_accounts().await.unwrap();
        let ana = Caller::local(accounts[0].id.as_str());
        let courier = place.courier(store, day);
        let mailing = tokio::spawn(async move { courier.run(std::future::pending()).await });
        let tasks = (0..TASKS).map(|task| {
            let (relay, ana) = (relay.clone(), ana.clone());
            tokio::spawn(async move {
                for n in 0.. {
                    let draft = json!({
                        "to": ["ben@example.org"], "subject": format!("{task} {n}"), "body": "As agreed."
                    });
                    let draft = call(&relay, &ana, "draft_package", draft).await["draft"].clone();
                    eprintln!("drafted {}", draft.as_str().unwrap());
                    if n % 2 == 0 {
                        let sent = call(&relay, &ana, "confirm_send", json!({ "draft": draft })).await;
                        eprintln!("sent {} {}", draft.as_str().unwrap(), sent["package"].as_str().unwrap());
                    }
                }
            })
        });
        futures_util::future::join_all(tasks).await;
        mailing.await.unwrap().unwrap();
    });
}

/// Runs a child and kills it this long after its first answer; gives what it had answered.
fn kill_after(place: &Place, day: u64, wait: Duration) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child", "--nocapture", "-q"])
        .env(CHILD_VARIABLE, &place.0)
        .env(DAY_VARIABLE, day.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    stderr.read_line(&mut said).unwrap();
    let reading = std::thread::spawn(move || {
        stderr.read_to_string(&mut said).unwrap();
        said
    });
    std::thread::sleep(wait);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    let said = reading.join().unwrap();
    assert!(status.code().is_none(), "the child ended by itself: {status}; it said {said:?}");
    // A line that the kill cut short was not answered in full.
    let whole = said.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(str::to_owned).collect()
}

fn ids(connection: &Connection, sql: &str) -> BTreeSet<String> {
    let mut query = connection.prepare(sql).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// How many files there are for each Message-ID.
fn attempts(folder: &Path) -> BTreeMap<String, usize> {
    let mut attempts = BTreeMap::new();
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|ending| ending == "eml") {
            let bytes = std::fs::read(file).unwrap();
            let message = MessageParser::default().parse(&bytes).unwrap();
            *attempts.entry(message.message_id().unwrap().to_owned()).or_default() += 1;
        }
    }
    attempts
}

#[test]
fn what_was_answered_survives_kill_9_and_no_mail_goes_out_twice() {
    let rounds = switches::number(ROUNDS_VARIABLE).map(u64::from);
    if rounds.is_none() {
        // Past the capture of a passing test's output.
        writeln!(std::io::stderr(), "short: {ROUNDS} rounds of kill -9; {ROUNDS_VARIABLE}=200 for all")
            .unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let place = Place(folder.path().to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(prepare(&place));

    let (mut drafted, mut sent) = (BTreeSet::new(), BTreeMap::new());
    let (asked, mut round) = (rounds.unwrap_or(ROUNDS), 0);
    while round < asked || drafted.len() < ENOUGH.0 || sent.len() < ENOUGH.1 {
        let few = (drafted.len(), sent.len());
        assert!(round < asked * PATIENCE, "{few:?} drafts and sends answered in {round} rounds");
        // Spread over 0 to 60 ms without a pattern that a group commit could fall in step with.
        let wait = Duration::from_micros(round.wrapping_mul(2_654_435_761) % 60_000);
        for line in kill_after(&place, round, wait) {
            let words: Vec<_> = line.split(' ').collect();
            match words[..] {
                ["drafted", draft] => drop(drafted.insert(draft.to_owned())),
                ["sent", draft, package] => drop(sent.insert(draft.to_owned(), package.to_owned())),
                _ => panic!("the child said {line:?}"),
            }
        }
        if round % 20 == 0 {
            whole(&place);
        }
        round += 1;
    }
    whole(&place);

    let connection = place.read();
    let open = ids(&connection, "SELECT id FROM drafts");
    let gone = ids(&connection, "SELECT draft FROM ended_drafts");
    let lost: Vec<_> = drafted.iter().filter(|id| !open.contains(*id) && !gone.contains(*id)).collect();
    assert!(lost.is_empty(), "drafts that were answered and are lost: {lost:?}");
    let packages = ids(&connection, "SELECT id FROM packages");
    for (draft, package) in &sent {
        assert!(packages.contains(package), "{package} was answered and is lost");
        assert!(!open.contains(draft), "{draft} was sent and is still open");
    }

    // The day after, every lease is over: what was begun is unknown, the rest goes out now.
    runtime.block_on(async {
        let after = Day(i64::try_from(round).unwrap());
        let (store, _) = place.relay(after);
        place.courier(store, after).drain().await.unwrap();
    });
    let states: BTreeMap<String, String> = connection
        .prepare("SELECT message_id, state FROM outbox")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let attempts = attempts(place.mail().folder());
    let bare = |id: &str| id.trim_matches(['<', '>']).to_owned();
    for (id, state) in &states {
        let files = attempts.get(&bare(id)).copied().unwrap_or(0);
        match state.as_str() {
            "sent" => assert_eq!(files, 1, "{id} is sent"),
            "unknown" => assert!(files <= 1, "{id} is unknown and went out {files} times"),
            state => panic!("{id} is {state} after the courier was through"),
        }
    }
    let letters = ids(&connection, "SELECT about FROM outbox");
    let unmailed: Vec<_> = packages.iter().filter(|id| !letters.contains(*id)).collect();
    assert!(unmailed.is_empty(), "packages without a letter: {unmailed:?}");
}

async fn prepare(place: &Place) {
    let (store, relay) = place.relay(Day(0));
    let mut callers = Vec::new();
    for who in ["ana", "ben"] {
        let address = format!("{who}@example.org").parse().unwrap();
        let account = relay.accounts().create_account(address, who.parse().unwrap()).await.unwrap();
        callers.push(Caller::local(account.id.as_str()));
    }
    let invited = call(&relay, &callers[0], "invite_contact", json!({ "email": "ben@example.org" })).await;
    call(&relay, &callers[1], "accept_contact", json!({ "request": invited["request"] })).await;
    store.close();
}

/// The file is whole and nothing in it hangs in the air.
fn whole(place: &Place) {
    let connection = place.read();
    let integrity: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
    let orphans =
        connection.prepare("PRAGMA foreign_key_check").unwrap().query([]).unwrap().next().unwrap().is_some();
    assert!(!orphans, "a foreign key points nowhere");
}

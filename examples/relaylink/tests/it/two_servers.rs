//! Two servers over one database, one of them killed and started anew again and again: nothing that was
//! answered is lost or there twice, no mail is attempted twice, and whoever calls the other sees nothing of it.
#![cfg(unix)]

use std::{
    collections::{BTreeMap, HashMap},
    io::{ErrorKind, Write},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

use crate::{
    database::Database,
    program::{Data, Server, call_at},
    switches,
};

/// Seconds of load where the variable does not say, and kills at least.
const SECONDS: u64 = 10;
const KILLS: u64 = 3;
const SECONDS_VARIABLE: &str = "RELAYLINK_TEST_LOAD";
/// Where it lasts, there is a kill in so many seconds.
const A_KILL_IN: u64 = 5;
/// From a kill to the start of the next process.
const DOWN: Duration = Duration::from_millis(300);

/// All of them are contacts. The first ones call the server that stays, the others the one that is killed.
const PEOPLE: [&str; 6] = ["ana", "ben", "cara", "dan", "eve", "finn"];
const AT_THE_ONE_THAT_STAYS: usize = 3;
/// What each of them sends at most: under the cap of an account in a day, and shared by five, of a pair.
const SENDS: usize = 1_900;
/// Between the end of one send and the next, so that the caps last for two minutes.
const PAUSE: Duration = Duration::from_millis(30);
/// How long a client waits for an answer: longer than a server has patience with its store.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the mails may take that wait at the end.
const MAILED: Duration = Duration::from_mins(1);

fn address(who: &str) -> String {
    format!("{who}@example.org")
}

/// A success, and what it holds.
fn reply(answer: &Json) -> Json {
    assert_eq!(answer["isError"], false, "{answer}");
    answer["structuredContent"].clone()
}

/// A package whose sending was answered.
struct Sent {
    draft: String,
    package: String,
    subject: String,
}

/// Where the servers are, and what went wrong on the way.
struct Doors {
    stays: String,
    killed: Mutex<String>,
    cut: AtomicUsize,
    timed_out: AtomicUsize,
}

impl Doors {
    fn killed(&self) -> String {
        self.killed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Calls the server that stays, which answers; or is late, and is called again.
    fn stays(&self, key: &str, tool: &str, arguments: &Json) -> Json {
        loop {
            match call_at(&self.stays, key, tool, arguments, PATIENCE) {
                Ok(answer) => return reply(&answer),
                Err(late) if matches!(late.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    self.timed_out.fetch_add(1, Relaxed);
                }
                Err(error) => panic!("{tool} at the server that stays: {error}"),
            }
        }
    }

    /// Calls the server that is killed; no answer where it was.
    fn killed_or(&self, key: &str, tool: &str, arguments: &Json) -> Option<Json> {
        let answer = call_at(&self.killed(), key, tool, arguments, PATIENCE).ok();
        if answer.is_none() {
            self.cut.fetch_add(1, Relaxed);
            thread::sleep(Duration::from_millis(50));
        }
        answer.as_ref().map(reply)
    }
}

/// Somebody who drafts, confirms and reads.
struct Person<'a> {
    name: &'static str,
    key: &'a str,
    at_the_killed: bool,
    doors: &'a Doors,
}

impl Person<'_> {
    fn call(&self, tool: &str, arguments: &Json) -> Option<Json> {
        if self.at_the_killed {
            self.doors.killed_or(self.key, tool, arguments)
        } else {
            Some(self.doors.stays(self.key, tool, arguments))
        }
    }

    fn work(&self, until: Instant) -> Vec<Sent> {
        let others: Vec<_> = PEOPLE.into_iter().filter(|other| *other != self.name).collect();
        let mut sent = Vec::new();
        for number in 0.. {
            if Instant::now() >= until || sent.len() >= SENDS {
                break;
            }
            let subject = format!("{} {number}", self.name);
            let to = [address(others[number % others.len()])];
            let draft = json!({ "to": to, "subject": subject, "body": "As agreed. ".repeat(20) });
            let Some(draft) = self.call("draft_package", &draft) else { continue };
            let draft = json!({ "draft": draft["draft"] });
            // Where the answer is lost, the other server knows what became of it.
            let confirmed = self
                .call("confirm_send", &draft)
                .unwrap_or_else(|| self.doors.stays(self.key, "confirm_send", &draft));
            let text = |value: &Json| value.as_str().unwrap().to_owned();
            sent.push(Sent { draft: text(&draft["draft"]), package: text(&confirmed["package"]), subject });
            self.call("check_inbox", &json!({}));
            thread::sleep(PAUSE);
        }
        sent
    }
}

/// Everybody with a key, and contacts of one another.
fn people(data: &Data, server: &Server) -> Vec<String> {
    let keys: Vec<_> = thread::scope(|scope| {
        let making = PEOPLE.map(|who| {
            scope.spawn(move || {
                data.done(&format!("account create {0} --name {who}", address(who)));
                data.done(&format!("key create {} --name Laptop", address(who)))
            })
        });
        making.into_iter().map(|made| made.join().unwrap()).collect()
    });
    for (at, key) in keys.iter().enumerate() {
        for (who, other) in PEOPLE.iter().zip(&keys).skip(at + 1) {
            let invited = reply(&server.call(key, "invite_contact", &json!({ "email": address(who) })));
            reply(&server.call(other, "accept_contact", &json!({ "request": invited["request"] })));
        }
    }
    keys
}

fn serve(data: &Data) -> Server {
    Server::start(data.program(["serve", "--listen", "127.0.0.1:0"]))
}

#[test]
fn a_server_that_is_killed_again_and_again_loses_nothing_and_the_other_goes_on() {
    let Some((data, database)) = Data::in_database() else { return };
    let seconds = switches::number(SECONDS_VARIABLE).map(u64::from);
    let mut stderr = std::io::stderr();
    if seconds.is_none() {
        // Past the capture of a passing test's output.
        writeln!(stderr, "short: {SECONDS} seconds of load; {SECONDS_VARIABLE}=120 for all").unwrap();
    }
    let seconds = seconds.unwrap_or(SECONDS);
    let kills = (seconds / A_KILL_IN).max(KILLS);
    let other = data.beside();
    let (stays, mut killed) = (serve(&data), Some(serve(&other)));
    let keys = people(&data, &stays);
    let doors = Doors {
        stays: stays.address().to_owned(),
        killed: Mutex::new(killed.as_ref().unwrap().address().to_owned()),
        cut: AtomicUsize::new(0),
        timed_out: AtomicUsize::new(0),
    };

    let begun = Instant::now();
    let until = begun + Duration::from_secs(seconds);
    let sent: Vec<Vec<Sent>> = thread::scope(|scope| {
        let working: Vec<_> = PEOPLE
            .into_iter()
            .enumerate()
            .map(|(at, name)| {
                let (key, doors) = (keys[at].as_str(), &doors);
                let person = Person { name, key, at_the_killed: at >= AT_THE_ONE_THAT_STAYS, doors };
                scope.spawn(move || person.work(until))
            })
            .collect();
        for kill in 0..kills {
            // In the middle of its part of the time.
            let due = Duration::from_millis(seconds * 1_000 * (2 * kill + 1) / (2 * kills));
            thread::sleep((begun + due).saturating_duration_since(Instant::now()));
            // With SIGKILL.
            drop(killed.take());
            thread::sleep(DOWN);
            let anew = serve(&other);
            anew.address().clone_into(&mut doors.killed.lock().unwrap());
            killed = Some(anew);
        }
        working.into_iter().map(|person| person.join().unwrap()).collect()
    });
    let took = begun.elapsed();

    mailed(&database);
    for server in [stays, killed.unwrap()] {
        let ended = server.terminate();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    }
    let [there, at_the_killed] = [&sent[..AT_THE_ONE_THAT_STAYS], &sent[AT_THE_ONE_THAT_STAYS..]]
        .map(|sent| sent.iter().flatten().count());
    writeln!(
        stderr,
        "two servers: {kills} kills in {took:?}; {there} sends answered to clients of the one that stays, \
         {at_the_killed} to the other's; {} time-outs at the one, {} calls cut at the other",
        doors.timed_out.into_inner(),
        doors.cut.load(Relaxed),
    )
    .unwrap();
    assert!(there > 0 && at_the_killed > 0 && doors.cut.load(Relaxed) > 0, "nothing was tried");
    each_is_there_once(&database, sent.iter().flatten());
    let mails = [data.mails(), other.mails()];
    assert!(mails.iter().all(|mails| !mails.is_empty()), "one courier did all the work");
    let letters = none_was_attempted_twice(&database, mails.iter().flatten());
    writeln!(stderr, "two servers: letters {letters:?}").unwrap();
}

/// Waits until each letter that nobody has begun to send is through.
fn mailed(database: &Database) {
    let until = Instant::now() + MAILED;
    let waiting = "SELECT id FROM outbox WHERE state = 'waiting' AND lease IS NULL";
    while !database.rows::<1>(waiting).is_empty() {
        assert!(Instant::now() < until, "mails wait that no courier takes");
        thread::sleep(Duration::from_millis(200));
    }
}

fn by_first<const COLUMNS: usize>(rows: Vec<[String; COLUMNS]>) -> HashMap<String, Vec<[String; COLUMNS]>> {
    let mut groups: HashMap<_, Vec<_>> = HashMap::new();
    for row in rows {
        groups.entry(row[0].clone()).or_default().push(row);
    }
    groups
}

fn each_is_there_once<'a>(database: &Database, sent: impl Iterator<Item = &'a Sent>) {
    let packages = by_first(database.rows::<2>("SELECT subject, id FROM packages"));
    let ended = by_first(database.rows::<2>("SELECT draft, coalesce(package, '') FROM ended_drafts"));
    let deliveries = by_first(database.rows::<1>("SELECT package FROM deliveries"));
    let letters = by_first(database.rows::<1>("SELECT about FROM outbox"));
    for Sent { draft, package, subject } in sent {
        let there = packages.get(subject).map(|rows| rows.iter().map(|row| &row[1]).collect::<Vec<_>>());
        assert_eq!(there, Some(vec![package]), "{subject} was answered");
        assert_eq!(ended[draft].iter().map(|row| &row[1]).collect::<Vec<_>>(), [package], "{draft}");
    }
    // Also of those whose answer was lost.
    for (subject, packages) in &packages {
        let [[_, package]] = &packages[..] else { panic!("{subject} was sent as {packages:?}") };
        let rows = [&deliveries, &letters].map(|rows| rows.get(package).map_or(0, Vec::len));
        assert_eq!(rows, [1, 1], "deliveries and letters of {package}");
    }
}

/// How many letters there are in each state.
fn none_was_attempted_twice<'a>(
    database: &Database,
    mails: impl Iterator<Item = &'a String>,
) -> BTreeMap<String, usize> {
    let mut states: BTreeMap<_, usize> = BTreeMap::new();
    let mut attempts: HashMap<&str, usize> = HashMap::new();
    for mail in mails {
        let header = |line: &&str| line.to_ascii_lowercase().starts_with("message-id:");
        let id = mail.lines().find(header).unwrap().split_once(':').unwrap().1.trim();
        *attempts.entry(id).or_default() += 1;
    }
    let letters = database.rows::<3>("SELECT message_id, state, coalesce(lease, '') FROM outbox");
    for [id, state, lease] in &letters {
        let begun = if state == "waiting" && !lease.is_empty() { ", begun" } else { "" };
        *states.entry(format!("{state}{begun}")).or_default() += 1;
        let attempts = attempts.remove(id.as_str()).unwrap_or(0);
        match (state.as_str(), lease.as_str()) {
            ("sent", _) => assert_eq!(attempts, 1, "{id} is sent"),
            ("waiting", "") => assert_eq!(attempts, 0, "{id} waits"),
            // The killed server had begun to send it, and perhaps it did: it will be unknown.
            ("waiting" | "unknown", _) => assert!(attempts <= 1, "{id} was attempted {attempts} times"),
            (state, _) => panic!("{id} is {state}"),
        }
    }
    assert!(attempts.is_empty(), "mails that are in no outbox: {attempts:?}");
    states
}

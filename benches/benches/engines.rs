//! Calls a second on either engine, and the statements of a call: one call after another, and many in
//! flight by several people. Medians of interleaved rounds; SQLite is the baseline.
//!
//! PostgreSQL's part is switched on by the variable `RELAYLINK_TEST_POSTGRES`, which names a server.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]
#![allow(clippy::print_stdout, reason = "its table is its result")]

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use benches::{Database, ROUNDS, Recorder, Rounds};
use relaylink_core::{
    relay::{
        Clock, Relay, SystemClock, Timestamp,
        limits::{DAY_MS, MAILS_PER_PAIR_A_DAY},
    },
    store::{Store, postgres::Postgres, sqlite::Sqlite},
    tool::{Caller, Ceiling},
};
use serde_json::{Map, Value as Json, json};
use tokio::{runtime::Runtime, task::JoinSet};

const TOOLS: [&str; 3] = ["check_inbox", "draft_package", "confirm_send"];
/// Pairs of people who write to each other.
const PAIRS: usize = 16;
/// Calls in flight.
const IN_FLIGHT: usize = 64;
/// Packages in the inbox that is read.
const INBOX: usize = 60;

/// How much is done.
struct Size {
    rounds: usize,
    /// Reads of a round, one after another and in flight.
    reads: [usize; 2],
    /// Writes likewise.
    writes: [usize; 2],
}

fn main() {
    let quick = std::env::args().any(|word| word == "--quick");
    let size = if quick {
        Size { rounds: 3, reads: [200, 512], writes: [64, 256] }
    } else {
        Size { rounds: ROUNDS, reads: [2_000, 8_192], writes: [256, 2_048] }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut engines = vec![Engine::make("SQLite", &runtime, sqlite(folder.path()))];
    let database = Database::new();
    match &database {
        Some(database) => {
            println!("{}", database.about());
            let store = Arc::new(Postgres::open(database.url()).unwrap());
            engines.push(Engine::make("PostgreSQL", &runtime, store));
        }
        None => {
            eprintln!("switched off: PostgreSQL. Name a server with RELAYLINK_TEST_POSTGRES=postgres://…");
        }
    }
    println!(
        "calls a second, medians of {} interleaved rounds: one call after another, and {IN_FLIGHT} in flight by \
         {PAIRS} people\n",
        size.rounds
    );
    println!(
        "{:<14} {:<11} {:>10} {:>10} {:>8} {:>10} {:>8}",
        "tool", "engine", "statements", "one by one", "", "in flight", ""
    );
    for tool in TOOLS {
        measure(tool, &engines, &runtime, &size);
    }
    // Its connections close before the database goes.
    drop(engines);
}

fn sqlite(folder: &Path) -> Arc<dyn Store> {
    Arc::new(Sqlite::open(folder.join("relaylink.db")).unwrap())
}

/// Both ways on each engine, and a line for each.
fn measure(tool: &'static str, engines: &[Engine], runtime: &Runtime, size: &Size) {
    let [alone, flight] = if tool == "check_inbox" { size.reads } else { size.writes };
    let mut ways: Vec<Box<dyn FnMut(usize) -> Duration + '_>> = Vec::new();
    for engine in engines {
        for (calls, lanes) in [(alone, 1), (flight, IN_FLIGHT)] {
            ways.push(Box::new(move |_| engine.time(runtime, tool, calls, lanes)));
        }
    }
    let mut named: Vec<(&'static str, &mut dyn FnMut(usize) -> Duration)> =
        ways.iter_mut().map(|way| ("", &mut **way as _)).collect();
    let rounds = Rounds::interleaved(&mut named, size.rounds);
    let rate = |way: usize| 1.0 / rounds.median(way).as_secs_f64();
    for (at, engine) in engines.iter().enumerate() {
        let [alone, flight] = [2 * at, 2 * at + 1].map(rate);
        println!(
            "{tool:<14} {:<11} {:>10} {alone:>10.0} {:>6.2} × {flight:>10.0} {:>6.2} ×",
            engine.name,
            engine.statements(runtime, tool),
            alone / rate(0),
            flight / rate(1),
        );
    }
}

/// A clock that can be set some days forward: what is counted by the day is to stand in nobody's way.
#[derive(Clone, Default)]
struct Days(Arc<AtomicI64>);

impl Days {
    fn next(&self) {
        self.0.fetch_add(1, Relaxed);
    }
}

impl Clock for Days {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_millis(self.0.load(Relaxed) * DAY_MS)
    }
}

/// A store with people in it, and a Relay that counts its statements beside one that does not.
struct Engine {
    name: &'static str,
    relay: Relay,
    counting: Relay,
    recorder: Arc<Recorder>,
    days: Days,
    /// Callers, each with the address of a contact.
    people: Vec<(Caller, String)>,
    reader: Caller,
}

impl Engine {
    fn make(name: &'static str, runtime: &Runtime, store: Arc<dyn Store>) -> Self {
        let days = Days::default();
        let recorder = Arc::new(Recorder::over(Arc::clone(&store)));
        let over = |store| Relay::builder(store).clock(days.clone()).build().unwrap();
        let (relay, counting) = (over(store), over(recorder.clone()));
        runtime.block_on(async {
            let mut people = Vec::new();
            for number in 0..PAIRS {
                people.push(pair(&relay, &format!("{number}")).await.0);
            }
            let (writer, reader) = pair(&relay, "read").await;
            for number in 0..INBOX {
                let (tool, arguments) = draft(&writer.1, number);
                let draft = call(&relay, &writer.0, tool, arguments).await["draft"].clone();
                call(&relay, &writer.0, "confirm_send", json!({ "draft": draft })).await;
            }
            Self { name, relay, counting, recorder, days, people, reader }
        })
    }

    /// The calls that are to be made, with what must be there before them.
    async fn calls(&self, tool: &str, calls: usize) -> Vec<(Caller, Json)> {
        self.days.next();
        if tool == "check_inbox" {
            return vec![(self.reader.clone(), json!({})); calls];
        }
        assert!(calls.div_ceil(PAIRS) <= usize::try_from(MAILS_PER_PAIR_A_DAY).unwrap());
        let mut made = Vec::new();
        for (number, (caller, contact)) in self.people.iter().cycle().take(calls).enumerate() {
            made.push((caller.clone(), draft(contact, number).1));
        }
        if tool == "confirm_send" {
            let drafted = fly(&self.relay, "draft_package", made.clone(), IN_FLIGHT).await;
            for (call, draft) in made.iter_mut().zip(drafted) {
                call.1 = json!({ "draft": draft["draft"] });
            }
        }
        made
    }

    /// The time of one call among so many.
    fn time(&self, runtime: &Runtime, tool: &'static str, calls: usize, lanes: usize) -> Duration {
        let made = runtime.block_on(self.calls(tool, calls));
        let begun = Instant::now();
        std::hint::black_box(runtime.block_on(fly(&self.relay, tool, made, lanes)));
        begun.elapsed() / u32::try_from(calls).unwrap()
    }

    /// The statements of one call.
    fn statements(&self, runtime: &Runtime, tool: &str) -> usize {
        runtime.block_on(async {
            for (caller, arguments) in self.calls(tool, 1).await {
                self.recorder.take();
                call(&self.counting, &caller, tool, arguments).await;
            }
        });
        self.recorder.take().iter().map(Vec::len).sum()
    }
}

/// Makes the calls, so many at a time, and gives the replies in their order.
async fn fly(relay: &Relay, tool: &'static str, calls: Vec<(Caller, Json)>, lanes: usize) -> Vec<Json> {
    let mut tasks = JoinSet::new();
    let calls: Vec<_> = calls.into_iter().enumerate().collect();
    for lane in 0..lanes {
        let mine: Vec<_> = calls.iter().skip(lane).step_by(lanes).cloned().collect();
        let relay = relay.clone();
        tasks.spawn(async move {
            let mut replies = Vec::new();
            for (at, (caller, arguments)) in mine {
                replies.push((at, call(&relay, &caller, tool, arguments).await));
            }
            replies
        });
    }
    let mut replies: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    replies.sort_unstable_by_key(|(at, _)| *at);
    replies.into_iter().map(|(_, reply)| reply).collect()
}

/// Two contacts with a key each: one with the other's address, and the other.
async fn pair(relay: &Relay, name: &str) -> ((Caller, String), Caller) {
    let (one, other) = (format!("ana-{name}@example.org"), format!("ben-{name}@example.org"));
    let (ana, ben) = (key(relay, &one).await, key(relay, &other).await);
    let invited = call(relay, &ana, "invite_contact", json!({ "email": other })).await;
    call(relay, &ben, "accept_contact", json!({ "request": invited["request"] })).await;
    ((ana, other), ben)
}

fn draft(to: &str, number: usize) -> (&'static str, Json) {
    let body = format!("Number {number} is as it should be, and so are those before it. ").repeat(8);
    ("draft_package", json!({ "to": [to], "subject": format!("Numbers {number}"), "body": body }))
}

async fn key(relay: &Relay, address: &str) -> Caller {
    let accounts = relay.accounts();
    let account =
        accounts.create_account(address.parse().unwrap(), "Someone".parse().unwrap()).await.unwrap();
    accounts.key_without_secret(&account.id, "bench".parse().unwrap(), None::<Ceiling>).await.unwrap()
}

async fn call(relay: &Relay, caller: &Caller, tool: &str, arguments: Json) -> Json {
    let arguments: Map<String, Json> = serde_json::from_value(arguments).unwrap();
    relay.call(caller, tool, arguments).await.unwrap()
}

//! A tool call against the bare statements it runs, recorded from the call itself: the key's row
//! included, on the same file, pragmas and statement cache. Medians of seven interleaved rounds.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]
#![allow(clippy::print_stdout, reason = "its table is its result")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use benches::{Bare, ROUNDS, Recorder, Rounds, Statements};
use futures_util::{StreamExt, stream};
use relaylink_core::{
    account::Whoami,
    messages::CheckInbox,
    relay::{Relay, Run},
    store::sqlite::Sqlite,
    tool::{Caller, Ceiling},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};
use tokio::runtime::Runtime;

/// Packages in the inbox that is read.
const INBOX: usize = 60;
/// Calls in flight while drafts are made durable.
const IN_FLIGHT: usize = 64;

/// How much is done.
struct Size {
    rounds: usize,
    reads: u32,
    drafts: u32,
    alone: u32,
}

fn main() {
    let quick = std::env::args().any(|word| word == "--quick");
    let size = if quick {
        Size { rounds: 3, reads: 500, drafts: 512, alone: 64 }
    } else {
        Size { rounds: ROUNDS, reads: 20_000, drafts: 8_192, alone: 1_024 }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let filled = Filled::make(&runtime, &folder.path().join("filled.db"));

    println!("medians of {} interleaved rounds; the first line of each is the baseline\n", size.rounds);
    filled.read::<Whoami>(&runtime, "whoami", &size);
    filled.read::<CheckInbox>(&runtime, "check_inbox", &size);
    filled.drafts(&runtime, folder.path(), &size);
}

/// A store with two contacts and some packages between them.
struct Filled {
    path: PathBuf,
    ana: Caller,
    ben: Caller,
}

impl Filled {
    fn make(runtime: &Runtime, path: &Path) -> Self {
        runtime.block_on(async {
            let store = Arc::new(Sqlite::open(path).unwrap());
            let relay = Relay::new(store.clone()).unwrap();
            let ana = key(&relay, "ana@example.org", "Ana").await;
            let ben = key(&relay, "ben@example.org", "Ben").await;
            let request =
                call(&relay, &ana, "invite_contact", json!({ "email": "ben@example.org" })).await["request"]
                    .clone();
            call(&relay, &ben, "accept_contact", json!({ "request": request })).await;
            for n in 0..INBOX {
                let draft = call(&relay, &ana, "draft_package", draft(n)).await["draft"].clone();
                call(&relay, &ana, "confirm_send", json!({ "draft": draft })).await;
            }
            store.close();
            Self { path: path.to_owned(), ana, ben }
        })
    }

    /// A read tool without arguments, typed and by name, against its bare statements.
    fn read<T: Run + DeserializeOwned>(&self, runtime: &Runtime, name: &str, size: &Size) {
        let store = Arc::new(Sqlite::open(&self.path).unwrap());
        let recorder = Arc::new(Recorder::over(store.clone()));
        let over_it = Relay::new(recorder.clone()).unwrap();
        runtime.block_on(call(&over_it, &self.ben, name, json!({})));
        let statements: Statements = recorder.take().pop().unwrap();
        let bare = Bare::open(&self.path);
        let relay = Relay::new(store).unwrap();

        let typed = |_| {
            let tools: Vec<T> = (0..size.reads).map(|_| serde_json::from_value(json!({})).unwrap()).collect();
            timed(size.reads, || {
                runtime.block_on(async {
                    for tool in tools {
                        std::hint::black_box(relay.run(&self.ben, tool).await.unwrap());
                    }
                });
            })
        };
        let named = |_| {
            timed(size.reads, || {
                runtime.block_on(async {
                    for _ in 0..size.reads {
                        std::hint::black_box(relay.call(&self.ben, name, Map::new()).await.unwrap());
                    }
                });
            })
        };
        let alone = |_| {
            timed(size.reads, || {
                (0..size.reads).for_each(|_| {
                    std::hint::black_box(bare.replay(&statements));
                });
            })
        };
        let snapshot = |_| {
            timed(size.reads, || {
                (0..size.reads).for_each(|_| {
                    bare.run("BEGIN");
                    std::hint::black_box(bare.replay(&statements));
                    bare.run("COMMIT");
                });
            })
        };
        let (mut alone, mut snapshot, mut typed, mut named) = (alone, snapshot, typed, named);
        println!("{name}: {} statements", statements.len());
        let rounds = Rounds::interleaved(
            &mut [
                ("bare statements", &mut alone),
                ("bare statements in BEGIN … COMMIT", &mut snapshot),
                ("typed (goal 1.5 ×)", &mut typed),
                ("by name, JSON in and out (goal 1.75 ×)", &mut named),
            ],
            size.rounds,
        );
        print(&rounds);
    }

    /// Durable drafts, many in flight, against the same statements in one transaction and in one each.
    fn drafts(&self, runtime: &Runtime, folder: &Path, size: &Size) {
        let recorded = self.record_drafts(runtime, &self.copy(folder, "recorded"), size.drafts);
        let mut together = |round| {
            let bare = Bare::open(&self.copy(folder, &format!("together-{round}")));
            timed(size.drafts, || {
                bare.run("BEGIN IMMEDIATE");
                for statements in &recorded {
                    bare.replay(statements);
                }
                bare.run("COMMIT");
            })
        };
        let mut each = |round| {
            let bare = Bare::open(&self.copy(folder, &format!("each-{round}")));
            timed(size.alone, || {
                for statements in recorded.iter().take(size.alone as usize) {
                    bare.run("BEGIN IMMEDIATE");
                    bare.replay(statements);
                    bare.run("COMMIT");
                }
            })
        };
        let mut flight = |round| {
            let store = Arc::new(Sqlite::open(self.copy(folder, &format!("flight-{round}"))).unwrap());
            let relay = Relay::new(store.clone()).unwrap();
            let time = timed(size.drafts, || {
                runtime.block_on(self.fly(&relay, size.drafts));
            });
            store.close();
            time
        };
        let rounds = Rounds::interleaved(
            &mut [
                ("same statements, one big transaction", &mut together),
                ("same statements, one commit each", &mut each),
                ("durable, 64 in flight (goal 2 ×)", &mut flight),
            ],
            size.rounds,
        );
        println!("draft_package: {} statements", recorded[0].len());
        print(&rounds);
        let rate = |way| 1.0 / rounds.median(way).as_secs_f64();
        println!(
            "  {:.0} % of the rate of one big transaction (goal 50 %), {:.1} times that of one commit each (goal 5)",
            100.0 * rate(2) / rate(0),
            rate(2) / rate(1),
        );
        println!("  a sync of this disk takes {} µs", sync(folder).as_micros());
    }

    fn record_drafts(&self, runtime: &Runtime, path: &Path, drafts: u32) -> Vec<Statements> {
        let store = Arc::new(Sqlite::open(path).unwrap());
        let recorder = Arc::new(Recorder::over(store.clone()));
        runtime.block_on(self.fly(&Relay::new(recorder.clone()).unwrap(), drafts));
        store.close();
        let mut calls = recorder.take();
        calls.truncate(drafts as usize);
        calls
    }

    async fn fly(&self, relay: &Relay, drafts: u32) {
        stream::iter(0..drafts as usize)
            .for_each_concurrent(IN_FLIGHT, |n| async move {
                std::hint::black_box(call(relay, &self.ana, "draft_package", draft(n)).await);
            })
            .await;
    }

    /// The filled file under another name.
    fn copy(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(format!("{name}.db"));
        std::fs::copy(&self.path, &path).unwrap();
        path
    }
}

fn draft(n: usize) -> Json {
    let body = format!("Number {n} is as it should be, and so are those before it. ").repeat(8);
    json!({ "to": ["ben@example.org"], "subject": format!("Numbers {n}"), "body": body })
}

async fn key(relay: &Relay, address: &str, name: &str) -> Caller {
    let accounts = relay.accounts();
    let account = accounts.create_account(address.parse().unwrap(), name.parse().unwrap()).await.unwrap();
    let ceiling = None::<Ceiling>;
    accounts.key_without_secret(&account.id, "bench".parse().unwrap(), ceiling).await.unwrap()
}

async fn call(relay: &Relay, caller: &Caller, tool: &str, arguments: Json) -> Json {
    let Json::Object(arguments) = arguments else { unreachable!("arguments are an object") };
    relay.call(caller, tool, arguments).await.unwrap()
}

/// The time of one call among so many.
fn timed(calls: u32, run: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed() / calls
}

/// How long this disk takes to sync a small append: the median of a hundred.
fn sync(folder: &Path) -> Duration {
    use std::io::Write;
    let mut file = std::fs::File::create(folder.join("sync")).unwrap();
    let mut times: Vec<_> = (0..100)
        .map(|_| {
            let begun = Instant::now();
            file.write_all(&[0; 4096]).unwrap();
            file.sync_data().unwrap();
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[50]
}

fn print(rounds: &Rounds) {
    for line in rounds.lines() {
        println!("{line}");
    }
    println!();
}

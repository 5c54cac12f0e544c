//! One account that everybody works for: 64 calls in flight on two servers over one store, and none of
//! them gives up.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use relaylink_core::{
    relay::{
        Relay,
        limits::{MAILS_PER_ACCOUNT_A_DAY, MAILS_PER_PAIR_A_DAY},
    },
    store::{
        Store,
        postgres::{Options, Postgres},
        sqlite::Sqlite,
    },
    tool::Caller,
};
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    database::server,
    load,
    place::Place,
    world::{answered, call, object},
};

/// Seconds of load where the variable does not say.
const SECONDS: u64 = 5;
const IN_FLIGHT: usize = 64;
/// Connections of both servers together.
const CONNECTIONS: usize = 8;
/// Enough that the cap of an account is met before that of a pair.
const OTHERS: usize = 5;
/// Confirmed over the whole load: under what an account may send in a day, and each of the others under
/// what they may have from it.
const CONFIRMED: u64 = 1_900;

const _: () = assert!(CONFIRMED < MAILS_PER_ACCOUNT_A_DAY.cast_unsigned());
const _: () = assert!(CONFIRMED.div_ceil(OTHERS as u64) < MAILS_PER_PAIR_A_DAY.cast_unsigned());

/// What is done by all at once.
struct Work {
    ana: Caller,
    begun: Instant,
    lasts: Duration,
    confirmed: AtomicU64,
    calls: AtomicU64,
    slowest: AtomicU64,
}

impl Work {
    fn is_over(&self) -> bool {
        self.begun.elapsed() >= self.lasts
    }

    /// Whether one more may be confirmed by now: they are spread over the time there is.
    fn confirms(&self) -> Option<u64> {
        let gone = self.begun.elapsed().min(self.lasts).as_millis();
        let due = u64::try_from(u128::from(CONFIRMED) * gone / self.lasts.as_millis()).unwrap();
        let next = |confirmed| (confirmed < due).then_some(confirmed + 1);
        self.confirmed.fetch_update(Relaxed, Relaxed, next).ok()
    }

    async fn call(&self, relay: &Relay, tool: &str, arguments: serde_json::Value) -> serde_json::Value {
        let begun = Instant::now();
        let reply = answered(relay.call(&self.ana, tool, object(arguments)).await);
        self.calls.fetch_add(1, Relaxed);
        self.slowest.fetch_max(u64::try_from(begun.elapsed().as_millis()).unwrap(), Relaxed);
        reply.unwrap_or_else(|refusal| panic!("{tool} after {:?}: {refusal:?}", begun.elapsed()))
    }

    /// Drafts, confirms or cancels, and reads.
    async fn go_on(&self, relay: &Relay) {
        while !self.is_over() {
            let confirmed = self.confirms();
            let other = other(confirmed.unwrap_or(0));
            let draft = json!({ "to": [other], "subject": "Numbers", "body": "As agreed." });
            let draft = json!({ "draft": self.call(relay, "draft_package", draft).await["draft"] });
            let end = if confirmed.is_some() { "confirm_send" } else { "cancel_draft" };
            self.call(relay, end, draft).await;
            self.call(relay, "check_inbox", json!({})).await;
            self.call(relay, "list_drafts", json!({ "limit": 100 })).await;
        }
    }
}

fn other(number: u64) -> String {
    format!("other-{}@example.org", number % OTHERS as u64)
}

async fn prepare(relay: &Relay) -> Caller {
    let make = async |address: String| {
        let name = "Someone".parse().unwrap();
        let account = relay.accounts().create_account(address.parse().unwrap(), name).await.unwrap();
        Caller::local(account.id.as_str())
    };
    let ana = make("ana@example.org".to_owned()).await;
    for number in 0..OTHERS as u64 {
        let caller = make(other(number)).await;
        let invited = call(relay, &ana, "invite_contact", json!({ "email": other(number) })).await;
        call(relay, &caller, "accept_contact", json!({ "request": invited["request"] })).await;
    }
    ana
}

/// Has both servers work for `lasts`, and says what was done.
async fn burden(engine: &str, place: &Place, servers: [Arc<dyn Store>; 2], lasts: Duration) {
    let relays = servers.map(|store| Relay::new(store).unwrap());
    let work = Arc::new(Work {
        ana: prepare(&relays[0]).await,
        begun: Instant::now(),
        lasts,
        confirmed: AtomicU64::new(0),
        calls: AtomicU64::new(0),
        slowest: AtomicU64::new(0),
    });
    let mut tasks = JoinSet::new();
    for number in 0..IN_FLIGHT {
        let (work, relay) = (Arc::clone(&work), relays[number % 2].clone());
        tasks.spawn(async move { work.go_on(&relay).await });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    let [calls, slowest, confirmed] = [&work.calls, &work.slowest, &work.confirmed].map(|n| n.load(Relaxed));
    load::say(&format!(
        "a hot account on {engine}: {calls} calls in {lasts:?}, {confirmed} of them sends; the slowest took {slowest} ms"
    ));
    let count = |table: &str| place.select(&format!("SELECT COUNT(*) AS n FROM {table}"))[0]["n"].as_u64();
    assert!(confirmed > 0);
    assert_eq!((count("packages"), count("drafts")), (Some(confirmed), Some(0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_of_a_hot_account_on_two_servers_gives_up() {
    if server().is_none() {
        return;
    }
    let place = Place::database();
    let Place::Database(database) = &place else { unreachable!() };
    let options = Options::default().connections(CONNECTIONS / 2);
    let stores = [(); 2].map(|()| Arc::new(Postgres::open_with(&database.url(), options.clone()).unwrap()));
    let servers = stores.clone().map(|store| store as Arc<dyn Store>);
    burden("PostgreSQL", &place, servers, load::lasts(SECONDS)).await;
    let repeats: u64 = stores.iter().map(|store| store.reruns()).sum();
    load::say(&format!("{repeats} works were run again"));
    assert!(repeats > 0, "the two servers never met");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_of_a_hot_account_on_one_file_gives_up() {
    let place = Place::folder();
    let servers = [(); 2].map(|()| Arc::new(Sqlite::open(place.file()).unwrap()) as Arc<dyn Store>);
    burden("SQLite", &place, servers, load::lasts(SECONDS)).await;
}

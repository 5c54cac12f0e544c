//! What is done: prepared by the test, done by the threads of its two processes.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStderr, Command, Stdio},
    sync::Barrier,
};

use relaylink_core::{
    account::everything_listed,
    relay::Relay,
    tool::{Caller, Ceiling, Refusal},
};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{
    ground::{Ground, open},
    history::{Answer, Asked, Call, Draft, Event, Invitation},
};
use crate::{
    behaviour::block_on,
    town::text,
    world::{answered, call, object},
};

const STORE_VARIABLE: &str = "RELAYLINK_TEST_RACE_STORE";
const NAME_VARIABLE: &str = "RELAYLINK_TEST_RACE_NAME";
/// Threads of each process.
const THREADS: usize = 8;
/// The thread that takes another part in what is contested, and that revokes.
const OTHER: usize = 0;
/// Calls by a key at most, and those before it is revoked.
const USES: usize = 40;
const USES_BEFORE: usize = 3;
/// Refusals after which a thread believes that a key is revoked.
const BELIEVED: usize = 3;

/// Things to do, in order.
pub(super) type Batch = Vec<Item>;

#[derive(Serialize, Deserialize)]
pub(super) enum Item {
    /// All confirm a draft; one thread of each process cancels it where it is contested.
    Confirm { account: String, draft: String, contested: bool },
    /// All accept a request.
    Accept { account: String, request: String },
    /// All use a key until it is revoked, which one thread of each process does.
    Revoke { account: String, key: String, secret: String },
}

/// Nanoseconds of a clock that is the same in all processes and never goes back.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap()
}

/// Three people who are contacts, seen by the one that writes.
pub(super) struct Stage {
    relay: Relay,
    number: usize,
    people: Vec<Person>,
}

struct Person {
    account: String,
    address: String,
}

impl Person {
    fn caller(&self) -> Caller {
        Caller::local(&*self.account)
    }
}

impl Stage {
    pub(super) fn with_people(ground: &Ground, number: usize) -> Self {
        let relay = Relay::new(open(&ground.address())).unwrap();
        let mut stage = Self { relay, number, people: Vec::new() };
        block_on(async {
            for name in ["ana", "ben", "cara"] {
                let person = stage.person(&format!("{name}-{number}")).await;
                stage.people.push(person);
            }
            for other in &stage.people[1..] {
                let request = stage.ask(&stage.people[0], other).await;
                call(&stage.relay, &other.caller(), "accept_contact", json!({ "request": request })).await;
            }
        });
        stage
    }

    async fn person(&self, name: &str) -> Person {
        let address = format!("{name}@example.org");
        let accounts = self.relay.accounts();
        let account =
            accounts.create_account(address.parse().unwrap(), "Someone".parse().unwrap()).await.unwrap();
        Person { account: account.id.as_str().to_owned(), address }
    }

    async fn ask(&self, who: &Person, other: &Person) -> String {
        let invitation = json!({ "email": other.address });
        text(&call(&self.relay, &who.caller(), "invite_contact", invitation).await["request"])
    }

    /// Four drafts, three requests to somebody new, and two keys.
    pub(super) fn batch(&self, number: usize, asked: &mut Asked) -> Batch {
        block_on(async {
            let mut batch = Batch::new();
            for n in 0..4 {
                batch.push(self.draft(&format!("{} {number} {n}", self.number), n % 2 == 1, asked).await);
            }
            let guest = self.person(&format!("guest-{}-{number}", self.number)).await;
            for asker in &self.people {
                let request = self.ask(asker, &guest).await;
                let (address, account) = (asker.address.clone(), guest.account.clone());
                let invitation = Invitation { asker: asker.account.clone(), asked: account.clone(), address };
                asked.requests.insert(request.clone(), invitation);
                batch.push(Item::Accept { account, request });
            }
            for n in 0..2 {
                let account = self.people[n].account.clone();
                let named = format!("Key {number}").parse().unwrap();
                let (key, secret) = self
                    .relay
                    .accounts()
                    .create_key(&account.parse().unwrap(), named, everything_listed(), None)
                    .await
                    .unwrap();
                let (key, secret) = (key.id.as_str().to_owned(), secret.expose().to_owned());
                asked.keys.insert(key.clone());
                batch.push(Item::Revoke { account, key, secret });
            }
            batch
        })
    }

    async fn draft(&self, subject: &str, contested: bool, asked: &mut Asked) -> Item {
        let to: Vec<_> = self.people[1..].iter().map(|person| person.address.clone()).collect();
        let draft = json!({ "to": to, "subject": subject, "body": "As agreed." });
        let sender = &self.people[0];
        let draft = text(&call(&self.relay, &sender.caller(), "draft_package", draft).await["draft"]);
        asked.drafts.insert(draft.clone(), Draft { subject: subject.to_owned(), to });
        Item::Confirm { account: sender.account.clone(), draft, contested }
    }
}

/// One of the two processes, as the test sees it.
pub(super) struct Player {
    child: Child,
    said: BufReader<ChildStderr>,
}

impl Player {
    pub(super) fn start(name: &str, ground: &Ground) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "races::child", "--nocapture", "-q"])
            .env(STORE_VARIABLE, ground.address())
            .env(NAME_VARIABLE, name)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let mut player = Self { child, said };
        assert!(player.seen().is_empty());
        player
    }

    pub(super) fn send(&mut self, batch: &Batch) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{}", serde_json::to_string(batch).unwrap()).unwrap();
    }

    /// What its threads saw of a batch.
    pub(super) fn seen(&mut self) -> Vec<Event> {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    pub(super) fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// What a process does that was started for it: it reads batches and writes what it saw.
pub(super) fn child() {
    let [Ok(store), Ok(process)] = [STORE_VARIABLE, NAME_VARIABLE].map(std::env::var) else { return };
    let relay = Relay::new(open(&store)).unwrap();
    // Open, it is ready.
    let tell = |events: &[Event]| eprintln!("{}", serde_json::to_string(events).unwrap());
    tell(&[]);
    for line in std::io::stdin().lines() {
        let batch: Batch = serde_json::from_str(&line.unwrap()).unwrap();
        let start = Barrier::new(THREADS);
        let events: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|number| {
                    let mut thread = Thread { relay: &relay, process: &process, number, seen: Vec::new() };
                    let (batch, start) = (&batch, &start);
                    scope.spawn(move || {
                        start.wait();
                        for item in batch {
                            thread.play(item);
                        }
                        thread.seen
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        tell(&events);
    }
}

struct Thread<'a> {
    relay: &'a Relay,
    process: &'a str,
    number: usize,
    seen: Vec<Event>,
}

impl Thread<'_> {
    fn play(&mut self, item: &Item) {
        let of = |reply: &Json, fields: &[&str]| {
            fields.iter().map(|field| text(&reply[*field])).collect::<Vec<_>>().join(" ")
        };
        match item {
            Item::Confirm { account, draft, contested } => {
                let caller = Caller::local(&**account);
                let arguments = json!({ "draft": draft });
                if *contested && self.number == OTHER {
                    self.call(Call::Cancel, draft, &caller, "cancel_draft", arguments, |_| String::new());
                } else {
                    let ids = |reply: &Json| of(reply, &["package", "thread", "sent"]);
                    self.call(Call::Confirm, draft, &caller, "confirm_send", arguments, ids);
                }
            }
            Item::Accept { account, request } => {
                let arguments = json!({ "request": request });
                let contact = |reply: &Json| of(reply, &["contact"]);
                let caller = Caller::local(&**account);
                self.call(Call::Accept, request, &caller, "accept_contact", arguments, contact);
            }
            Item::Revoke { account, key, secret } => self.wear_out(account, key, secret),
        }
    }

    /// Uses a key in every way there is, until it does nothing any more.
    fn wear_out(&mut self, account: &str, key: &str, secret: &str) {
        let ceiling: Ceiling = everything_listed();
        let caller = Caller::with_credential(account, key, ceiling);
        let begun = self.seen.len();
        for use_ in 0..USES {
            if use_ == USES_BEFORE && self.number == OTHER {
                let revoked = |reply: &Json| text(&reply["revoked"]);
                let (owner, arguments) = (Caller::local(account), json!({ "key": key }));
                self.call(Call::Revoke, key, &owner, "revoke_api_key", arguments, revoked);
            }
            match use_ % 3 {
                0 => self.call(Call::Use, key, &caller, "whoami", json!({}), |_| String::new()),
                1 => {
                    let start = now();
                    let answer = match block_on(self.relay.authenticate(secret)) {
                        Ok(Some(_)) => Answer::Done(String::new()),
                        Ok(None) => Answer::Refused("NotPermitted".to_owned()),
                        Err(error) => Answer::Refused(error.to_string()),
                    };
                    self.note(start, Call::Use, key, answer);
                }
                _ => {
                    let memory = json!({ "text": "A key was here" });
                    self.call(Call::Use, key, &caller, "memory_add", memory, |_| String::new());
                }
            }
            let seen = &self.seen[begun..];
            if seen.iter().filter(|event| matches!(event.answer, Answer::Refused(_))).count() >= BELIEVED {
                return;
            }
        }
    }

    fn call(
        &mut self,
        what: Call,
        about: &str,
        caller: &Caller,
        tool: &str,
        arguments: Json,
        told: impl FnOnce(&Json) -> String,
    ) {
        let start = now();
        let answer: Result<Json, Refusal> =
            answered(block_on(self.relay.call(caller, tool, object(arguments))));
        let answer = match answer {
            Ok(reply) => Answer::Done(told(&reply)),
            Err(refusal) => Answer::Refused(format!("{:?}", refusal.code)),
        };
        self.note(start, what, about, answer);
    }

    fn note(&mut self, start: u64, call: Call, about: &str, answer: Answer) {
        let (end, about, process) = (now(), about.to_owned(), self.process.to_owned());
        self.seen.push(Event { start, end, process, call, about, answer });
    }
}

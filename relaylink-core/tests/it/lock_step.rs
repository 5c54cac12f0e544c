//! Both engines are asked the same, in lock step: random sequences of calls, with clock and ids fixed, and
//! after each the replies are compared, and at the end every row.
//!
//! A sequence that tells them apart is made as short as it goes, and kept in `tests/lock_step.txt`, from
//! where it is tried first ever after.

use std::{collections::BTreeMap, io::Write as _};

use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, FileFailurePersistence, TestRunner},
};
use relaylink_core::{relay::Clock, tool::Caller};
use serde_json::{Value as Json, json};

use crate::{
    database::server,
    place::{OF_THE_ENGINE, Place},
    switches,
    town::{PEOPLE, address, nobodys},
    world::{Hand, World},
};

/// How many sequences are tried.
const SEQUENCES: &str = "RELAYLINK_TEST_SEQUENCES";
/// Unless told: enough to see that it runs.
const FEW: u32 = 25;
/// How long one that tells them apart is made shorter, in milliseconds.
const SHRINK_MS: u32 = 30_000;
/// Calls of a sequence.
const CALLS: usize = 40;

/// What somebody does. A number is one of the ids of its kind that were seen so far, or one that nobody has.
#[derive(Clone, Debug)]
enum Act {
    Wait(i64),
    Whoami,
    ListKeys(usize),
    RevokeKey(usize),
    Contacts(usize, usize),
    Invite(usize, Option<usize>),
    Accept(usize),
    Withdraw(usize),
    Block(usize),
    Draft(Vec<usize>, usize, usize),
    Drafts(usize),
    Cancel(usize),
    Confirm(usize, bool),
    Inbox(usize, bool, Option<usize>),
    Open(usize),
    Acknowledge(usize),
    Thread(usize),
    Remember(usize, Option<usize>, Option<usize>),
    Search(usize, Option<usize>, usize),
    Forget(usize),
}

/// Texts that engines may take differently.
const TEXTS: [&str; 12] = [
    "The invoice is due",
    "invoice 42~invoice AND \"due\"",
    "Ärger mit der Straße, ÄRGER",
    "会議は三時に東京で",
    "a 100 % sure_thing ' \" \\ -- ; $1 ?1",
    "İstanbul ıssız",
    "🎉 party",
    "zebra Zebra ZEBRA",
    "é e\u{301} ё",
    "*",
    "x",
    "tab\tand\nlines\r\n",
];

fn act() -> impl Strategy<Value = Act> {
    let id = 0_usize..12;
    let who = 0..PEOPLE.len();
    let text = 0..TEXTS.len();
    let some = |strategy| proptest::option::of(strategy);
    prop_oneof![
        1 => (1_i64..2 * 86_400_000).prop_map(Act::Wait),
        1 => Just(Act::Whoami),
        1 => (0_usize..4).prop_map(Act::ListKeys),
        1 => id.clone().prop_map(Act::RevokeKey),
        2 => (0_usize..5, 0_usize..4).prop_map(|(state, limit)| Act::Contacts(state, limit)),
        6 => (who.clone(), some(text.clone())).prop_map(|(who, note)| Act::Invite(who, note)),
        6 => id.clone().prop_map(Act::Accept),
        1 => id.clone().prop_map(Act::Withdraw),
        1 => who.clone().prop_map(Act::Block),
        8 => (vec(who.clone(), 1..4), text.clone(), id.clone()).prop_map(|(to, text, thread)| Act::Draft(to, text, thread)),
        2 => (0_usize..4).prop_map(Act::Drafts),
        2 => id.clone().prop_map(Act::Cancel),
        8 => (id.clone(), any::<bool>()).prop_map(|(draft, exact)| Act::Confirm(draft, exact)),
        3 => (0_usize..4, any::<bool>(), some(who.clone())).prop_map(|(limit, unread, from)| Act::Inbox(limit, unread, from)),
        4 => id.clone().prop_map(Act::Open),
        3 => id.clone().prop_map(Act::Acknowledge),
        3 => id.clone().prop_map(Act::Thread),
        5 => (text.clone(), some(text.clone()), some(id.clone())).prop_map(|(text, about, replaces)| Act::Remember(text, about, replaces)),
        5 => (text.clone(), some(text), 0_usize..4).prop_map(|(query, about, limit)| Act::Search(query, about, limit)),
        2 => id.prop_map(Act::Forget),
    ]
}

/// Of so many sequences one ends with a look for damage, which takes longer than its calls.
const CHECKED: u32 = 20;

/// The two, and what was seen so far.
struct Pair {
    worlds: [World; 2],
    /// The sequences so far.
    tried: u32,
    seen: BTreeMap<&'static str, Vec<String>>,
    callers: Vec<Caller>,
}

const KINDS: [&str; 7] = ["key", "inv", "ctc", "drf", "pkg", "thr", "mem"];

impl Pair {
    fn id(&self, kind: &'static str, number: usize) -> String {
        let seen = self.seen.get(kind).map(Vec::as_slice).unwrap_or_default();
        seen.get(number % (seen.len() + 1)).cloned().unwrap_or_else(|| nobodys(kind))
    }

    /// The call that an act is.
    fn call(&self, act: &Act) -> (&'static str, Json) {
        let limit = |limit: usize| [json!(null), json!(1), json!(3), json!(100)][limit].clone();
        let text = |text: Option<usize>| text.map(|text| TEXTS[text]);
        match act {
            Act::Wait(_) | Act::Whoami => ("whoami", json!({})),
            Act::ListKeys(n) => ("list_api_keys", json!({ "limit": limit(*n) })),
            Act::RevokeKey(key) => ("revoke_api_key", json!({ "key": self.id("key", *key) })),
            Act::Contacts(state, n) => {
                let states = ["", "accepted", "incoming", "outgoing", "blocked"];
                ("list_contacts", json!({ "state": states[*state], "limit": limit(*n) }))
            }
            Act::Invite(who, note) => {
                ("invite_contact", json!({ "email": address(PEOPLE[*who]), "note": text(*note) }))
            }
            Act::Accept(request) => ("accept_contact", json!({ "request": self.id("inv", *request) })),
            Act::Withdraw(request) => ("withdraw_invite", json!({ "request": self.id("inv", *request) })),
            Act::Block(who) => ("block_contact", json!({ "contact": address(PEOPLE[*who]) })),
            Act::Draft(to, text, thread) => {
                let to: Vec<_> = to.iter().map(|who| address(PEOPLE[*who])).collect();
                let thread = (*thread < 4).then(|| self.id("thr", *thread));
                let draft =
                    json!({ "to": to, "subject": "About it", "body": TEXTS[*text], "thread": thread });
                ("draft_package", draft)
            }
            Act::Drafts(n) => ("list_drafts", json!({ "limit": limit(*n) })),
            Act::Cancel(draft) => ("cancel_draft", json!({ "draft": self.id("drf", *draft) })),
            Act::Confirm(draft, exact) => {
                let subject = exact.then_some("About it");
                ("confirm_send", json!({ "draft": self.id("drf", *draft), "subject": subject }))
            }
            Act::Inbox(n, unread, from) => {
                let from = from.map(|who| address(PEOPLE[who]));
                ("check_inbox", json!({ "limit": limit(*n), "unread": unread, "from": from }))
            }
            Act::Open(package) => ("get_package", json!({ "package": self.id("pkg", *package) })),
            Act::Acknowledge(package) => {
                ("acknowledge_package", json!({ "package": self.id("pkg", *package) }))
            }
            Act::Thread(thread) => ("thread_status", json!({ "thread": self.id("thr", *thread) })),
            Act::Remember(what, about, replaces) => {
                let replaces = replaces.map(|memory| self.id("mem", memory));
                ("memory_add", json!({ "text": TEXTS[*what], "about": text(*about), "replaces": replaces }))
            }
            Act::Search(query, about, n) => (
                "memory_search",
                json!({ "query": TEXTS[*query], "about": text(*about), "limit": limit(*n) }),
            ),
            Act::Forget(memory) => ("memory_forget", json!({ "memory": self.id("mem", *memory) })),
        }
    }

    /// Notes the ids in a reply.
    fn see(&mut self, reply: &Json) {
        match reply {
            Json::String(text) => {
                if let Some(kind) = KINDS.into_iter().find(|kind| {
                    text.strip_prefix(kind).is_some_and(|rest| rest.len() == 27 && rest.starts_with('_'))
                }) {
                    let seen = self.seen.entry(kind).or_default();
                    if !seen.contains(text) {
                        seen.push(text.clone());
                    }
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.see(item)),
            Json::Object(members) => members.values().for_each(|member| self.see(member)),
            _ => {}
        }
    }

    /// Empties both, and peoples them anew.
    async fn begin(&mut self) {
        self.seen.clear();
        self.callers.clear();
        for world in &self.worlds {
            world.place.clear();
            world.clock.set(Hand::new().now());
            world.dice.count_from(0);
        }
        for name in PEOPLE {
            let mut made = Vec::new();
            for world in &self.worlds {
                let account = world.account(&address(name)).await;
                world.key(account.id.as_str(), "laptop", relaylink_core::tool::Ceiling::everything()).await;
                made.push(account.id.as_str().to_owned());
            }
            assert_eq!(made[0], made[1]);
            self.callers.push(Caller::local(made.remove(0)));
        }
    }

    async fn play(&mut self, acts: &[(usize, Act)]) -> Result<(), TestCaseError> {
        self.begin().await;
        for (who, act) in acts {
            if let Act::Wait(time) = act {
                self.worlds.iter().for_each(|world| world.clock.forward(*time));
            }
            let (tool, arguments) = self.call(act);
            let caller = self.callers[*who].clone();
            let mut replies = Vec::new();
            for world in &self.worlds {
                replies.push(world.call(&caller, tool, arguments.clone()).await);
            }
            prop_assert_eq!(&replies[0], &replies[1], "{} {} {}", PEOPLE[*who], tool, arguments);
            if let Ok(reply) = &replies[0] {
                self.see(&reply.clone());
            }
        }
        let [embedded, served] = self.worlds.each_ref().map(|world| world.place.rows());
        let mut changes = embedded.changes_to(&served);
        changes.changed.retain(|change| !OF_THE_ENGINE.contains(&change.table.as_str()));
        changes.added.retain(|(table, _)| !OF_THE_ENGINE.contains(&table.as_str()));
        prop_assert!(changes.is_empty(), "the rows differ: {}", changes);
        // The rows of both are equal, and so is what would be found.
        if self.tried.is_multiple_of(CHECKED) {
            let [embedded, _] = &self.worlds;
            let health = embedded.place.check(embedded.clock.now());
            prop_assert!(health.is_well(), "{:?}", health.findings);
        }
        self.tried += 1;
        Ok(())
    }
}

#[test]
fn both_engines_answer_and_keep_the_same() {
    if server().is_none() {
        return;
    }
    let sequences = switches::number(SEQUENCES);
    if sequences.is_none() {
        let mut stderr = std::io::stderr();
        writeln!(stderr, "short: {FEW} sequences of {CALLS} calls; {SEQUENCES}=2000 for all").unwrap();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let places = [Place::folder(), Place::database()];
    let worlds = places.map(|place| World::over(place, Hand::new(), |store| store, |relay| relay));
    let mut pair = Pair { worlds, tried: 0, seen: BTreeMap::new(), callers: Vec::new() };
    let config = Config {
        cases: sequences.unwrap_or(FEW),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/lock_step.txt"))),
        max_shrink_time: SHRINK_MS,
        ..Config::default()
    };
    let acts = vec((0..PEOPLE.len(), act()), CALLS);
    let pair = std::cell::RefCell::new(&mut pair);
    let found = TestRunner::new(config).run(&acts, |acts| runtime.block_on(pair.borrow_mut().play(&acts)));
    if let Err(found) = found {
        panic!("{found}");
    }
}

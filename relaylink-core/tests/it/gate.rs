//! There is no single call that sends, and what keeps it so is code: the gate stands where no tool
//! claims anything.

use relaylink_core::{
    prelude::*,
    relay::Relay,
    tool::{Caller, Refusal},
};
use serde_json::{Map, Value as Json, json};

use crate::{
    cases::{Case, each, foreigners, tools},
    published::{Place, places},
    town::{Town, nobodys},
    world::{answered, object},
};

/// Any tool, under a name that claims nothing.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes, Removes, ExternalMail))]
struct Unhinted {
    /// The tool to run.
    tool: String,
    /// Its arguments.
    arguments: Map<String, Json>,
}

/// What that tool answered.
#[derive(Serialize, JsonSchema)]
struct Answer {
    /// Its reply.
    reply: Map<String, Json>,
}

impl Run for Unhinted {
    type Reply = Answer;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Answer, Stop> {
        let reply = tx.perform_named(&self.tool, self.arguments.clone())?;
        Ok(Answer { reply: reply.as_object().cloned().unwrap_or_default() })
    }
}

/// The town's Relay again, with one tool more, that claims nothing.
fn unhinted(town: &Town) -> Relay {
    let builder = Relay::builder(town.store.clone()).clock(town.clock.clone()).seeds(town.dice.clone());
    builder.tool::<Unhinted>().build().unwrap()
}

type Told = Result<Json, Refusal>;

async fn bare(relay: &Relay, caller: &Caller, tool: &str, arguments: Map<String, Json>) -> Told {
    let outer = object(json!({ "tool": tool, "arguments": arguments }));
    answered(relay.call(caller, "unhinted", outer).await).map(|answer| answer["reply"].clone())
}

/// Everybody gets through the bare tool what they get from the tool itself.
async fn the_same(case: &'static Case) {
    let (frozen, scene) = case.ready().await;
    for who in ["itself", "ana", "ben", "dan"] {
        let mut outcomes = Vec::new();
        for hinted in [true, false] {
            let town = frozen.thaw();
            let caller = if who == "itself" { scene.caller.clone() } else { town.caller(who) };
            let arguments = scene.arguments.clone();
            let answer = if hinted {
                answered(town.relay.call(&caller, case.tool, arguments).await)
            } else {
                bare(&unhinted(&town), &caller, case.tool, arguments).await
            };
            outcomes.push((answer, town.rows()));
        }
        assert_eq!(outcomes[0], outcomes[1], "{case}, by {who}: with hints and without");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_hint_everybody_is_answered_the_same() {
    each(the_same).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_any_hint_confirm_send_asks_again_whether_it_may() {
    let start = Town::new().await;
    start.contacts("ana", "ben").await;
    let draft = start.draft("ana", &["ben"], "Budget").await;
    let frozen = start.freeze();
    let unknown = nobodys("drf");
    // Who confirms, which draft, what happened since it was shown, and the answer.
    let nothing: &[(&str, &str, Json)] = &[];
    let blocked = [("ben", "block_contact", json!({ "contact": "ana@example.org" }))];
    let blocking = [("ana", "block_contact", json!({ "contact": "ben@example.org" }))];
    let cancelled = [("ana", "cancel_draft", json!({ "draft": draft }))];
    let tries = [
        ("ana", unknown.as_str(), nothing, Code::NotFound),
        ("ben", &draft, nothing, Code::NotFound),
        ("dan", &draft, nothing, Code::NotFound),
        ("ana", &draft, &blocked, Code::NotPermitted),
        ("ana", &draft, &blocking, Code::NotPermitted),
        ("ana", &draft, &cancelled, Code::Conflict),
    ];
    for (who, draft, since, code) in tries {
        let town = frozen.thaw();
        for (who, tool, arguments) in since {
            town.ok(who, tool, arguments.clone()).await;
        }
        let before = town.rows();
        let arguments = object(json!({ "draft": draft }));
        let caller = town.caller(who);
        let hinted = answered(town.relay.call(&caller, "confirm_send", arguments.clone()).await);
        let bare = bare(&unhinted(&town), &caller, "confirm_send", arguments).await;
        assert_eq!(hinted, bare, "{who} confirms {draft} after {since:?}");
        assert_eq!(hinted.unwrap_err().code, code, "{who} confirms {draft} after {since:?}");
        let changes = before.changes_to(&town.rows());
        assert!(changes.is_empty(), "{who} confirms {draft} after {since:?}: {changes}");
    }
    let town = frozen.thaw();
    let arguments = object(json!({ "draft": draft }));
    bare(&unhinted(&town), &town.caller("ana"), "confirm_send", arguments).await.unwrap();
    assert_eq!(town.count("packages"), 1);
}

/// The next of a sequence of numbers that is the same at every run.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap()
}

/// Some value for a place, often one that means something.
fn some(place: &Place, pool: &[String], state: &mut u64) -> Json {
    match (&*place.kind, &place.choices) {
        ("integer" | "number", _) => json!(1 + next(state) % 50),
        ("boolean", _) => json!(next(state).is_multiple_of(2)),
        ("array", _) => json!([pool[next(state) % pool.len()]]),
        ("object", _) => json!({}),
        (_, Some(choices)) => choices[next(state) % choices.len()].clone(),
        (_, None) => json!(pool[next(state) % pool.len()]),
    }
}

/// Calls tried of each tool.
const TRIES: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn no_single_call_sends() {
    let town = Town::new().await;
    town.contacts("dan", "eve").await;
    let mut pool: Vec<_> =
        ["ana@example.org", "ben@example.org", "Ben", "zoe@example.org", "Budget"].map(str::to_owned).into();
    for foreign in foreigners() {
        pool.push((foreign.make)(&town).await);
    }
    // Somebody with contacts, and without a draft.
    town.contacts("ana", "ben").await;
    town.contacts("cara", "ana").await;
    let frozen = town.freeze();
    let sent = |town: &Town| {
        (
            town.count("packages"),
            town.count("deliveries"),
            town.mails().iter().filter(|mail| mail.about.starts_with("pkg_")).count(),
        )
    };
    let before = sent(&town);
    let (mut state, mut answering) = (1, 0);
    for tool in tools().list() {
        let places: Vec<_> = places(tool).into_iter().filter(|place| place.path.len() == 1).collect();
        let (mut town, mut replies) = (frozen.thaw(), 0);
        for _ in 0..TRIES {
            let mut arguments = Map::new();
            for place in &places {
                if place.required || !next(&mut state).is_multiple_of(3) {
                    arguments.insert(place.path[0].clone(), some(place, &pool, &mut state));
                }
            }
            let said = format!("{} {arguments:?}", tool.name);
            let answer = answered(town.relay.call(&town.caller("ana"), tool.name, arguments).await);
            assert_eq!(sent(&town), before, "{said}: {answer:?}");
            if answer.is_ok() {
                replies += 1;
                if !tool.effects.is_empty() {
                    town = frozen.thaw();
                }
            }
        }
        answering += usize::from(replies > 0);
    }
    assert!(answering * 3 > tools().list().count(), "only {answering} tools answered any of these calls");
}

//! What is somebody else's does not exist: with another account's id every tool answers, byte for
//! byte, what it answers to an id that nobody has, and changes nothing. The arguments that are ids
//! are found by asking the tools themselves.

use std::collections::BTreeSet;

use futures_util::future::BoxFuture;
use relaylink_core::tool::{Caller, Code, Refusal};
use serde_json::{Map, Value as Json, json};
use tokio::sync::OnceCell;

use crate::{
    cases::{CASES, Case, each, foreigners, tools},
    published::{Place, places},
    town::{Frozen, Town, nobodys},
    world::answered,
};

/// How the caller stands to `dan`, whose objects these are.
struct Relation {
    name: &'static str,
    /// Done before there are objects of his.
    before: for<'t> fn(&'t Town) -> BoxFuture<'t, ()>,
    /// Done when there are.
    after: for<'t> fn(&'t Town) -> BoxFuture<'t, ()>,
}

const CAST: [&str; 3] = ["ana", "ben", "cara"];

fn nothing(_: &Town) -> BoxFuture<'_, ()> {
    Box::pin(async {})
}

fn befriend(town: &Town) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        for who in CAST {
            town.contacts("dan", who).await;
        }
    })
}

fn blocked_by_dan(town: &Town) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        for who in CAST {
            town.ok("dan", "block_contact", json!({ "contact": format!("{who}@example.org") })).await;
        }
    })
}

fn block_dan(town: &Town) -> BoxFuture<'_, ()> {
    Box::pin(async move {
        for who in CAST {
            town.ok(who, "block_contact", json!({ "contact": "dan@example.org" })).await;
        }
    })
}

const RELATIONS: [Relation; 4] = [
    Relation { name: "a stranger", before: nothing, after: nothing },
    Relation { name: "a contact", before: befriend, after: nothing },
    Relation { name: "a former contact, blocked by the owner", before: befriend, after: blocked_by_dan },
    Relation { name: "a former contact who blocked the owner", before: befriend, after: block_dan },
];

/// An object of dan's: the prefix of its id, what it is, its id.
type Object = (&'static str, &'static str, String);

/// A town for each relation, with dan's objects in it.
async fn towns() -> &'static [(Frozen, Vec<Object>)] {
    static TOWNS: OnceCell<Vec<(Frozen, Vec<Object>)>> = OnceCell::const_new();
    let made = TOWNS.get_or_init(|| async {
        let mut towns = Vec::new();
        for relation in &RELATIONS {
            let town = Town::new().await;
            (relation.before)(&town).await;
            town.contacts("dan", "eve").await;
            let mut objects = Vec::new();
            for foreign in foreigners() {
                let id = (foreign.make)(&town).await;
                assert!(id.starts_with(&format!("{}_", foreign.prefix)), "{} is {id}", foreign.name);
                objects.push((foreign.prefix, foreign.name, id));
            }
            (relation.after)(&town).await;
            towns.push((town.freeze(), objects));
        }
        towns
    });
    made.await
}

/// The answer to a call, refusal or not.
async fn answer(
    town: &Town,
    caller: &Caller,
    tool: &str,
    arguments: Map<String, Json>,
) -> Result<Json, Refusal> {
    answered(town.relay.toolset().call(caller, tool, arguments).await)
}

/// The kinds of id that a place takes: what it asks for when it gets none, or that it finds nothing.
async fn kinds(
    town: &Town,
    caller: &Caller,
    case: &Case,
    place: &Place,
    arguments: &Map<String, Json>,
) -> Vec<String> {
    if place.kind != "string" || place.choices.is_some() {
        return Vec::new();
    }
    let Some(malformed) = place.set(arguments, "?".into()) else { return Vec::new() };
    if let Err(refusal) = answer(town, caller, case.tool, malformed).await
        && let Some((_, rest)) = refusal.message.split_once("expected an id: `")
    {
        return vec![rest.split_once("_`").unwrap().0.to_owned()];
    }
    let mut kinds = Vec::new();
    for prefix in foreigners().iter().map(|foreign| foreign.prefix).collect::<BTreeSet<_>>() {
        let unknown = place.set(arguments, nobodys(prefix).into()).unwrap();
        if let Err(refusal) = answer(town, caller, case.tool, unknown).await
            && refusal.code == Code::NotFound
            && refusal.field.as_deref().is_some_and(|field| field.starts_with(&place.path[0]))
        {
            kinds.push(prefix.to_owned());
        }
    }
    kinds
}

/// The places of a case's tool that take ids, each with the kinds it takes. Asked in a town of its own.
pub(crate) async fn takes(case: &'static Case) -> Vec<(Place, Vec<String>)> {
    let town = towns().await[0].0.thaw();
    let scene = case.set(&town).await;
    assert!(CAST.contains(&scene.who), "{case}: one of {CAST:?} calls");
    let mut takes = Vec::new();
    for place in places(tools().get(case.tool).unwrap()) {
        let kinds = kinds(&town, &scene.caller, case, &place, &scene.arguments).await;
        if !kinds.is_empty() {
            takes.push((place, kinds));
        }
    }
    takes
}

/// What is wrong with a case, in every relation, and which of its places take which ids.
async fn try_case(case: &'static Case) -> (Vec<String>, Vec<(Place, Vec<String>)>) {
    let mut wrong = Vec::new();
    let takes = takes(case).await;
    for (relation, (frozen, objects)) in RELATIONS.iter().zip(towns().await) {
        if takes.is_empty() {
            break;
        }
        let town = frozen.thaw();
        let scene = case.set(&town).await;
        let before = town.rows();
        for (place, kinds) in &takes {
            for (prefix, what, id) in objects.iter().filter(|(prefix, ..)| kinds.iter().any(|k| k == prefix))
            {
                let with = |id: &str| place.set(&scene.arguments, id.into()).unwrap();
                let unknown = nobodys(prefix);
                let none = answer(&town, &scene.caller, case.tool, with(&unknown)).await;
                let other = answer(&town, &scene.caller, case.tool, with(id)).await;
                let (none, other) = (written(&none, &unknown), written(&other, id));
                if none != other {
                    let relation = relation.name;
                    wrong.push(format!(
                        "{case}, {relation}: `{place}` with {what} of another account\n  {other}\nwith an id of nobody\n  {none}"
                    ));
                }
            }
        }
        let changes = before.changes_to(&town.rows());
        if !changes.is_empty() {
            wrong.push(format!("{case}, {}: the calls {changes}", relation.name));
        }
    }
    (wrong, takes)
}

/// An answer as text, the id in it left out.
fn written(answer: &Result<Json, Refusal>, id: &str) -> String {
    let text = match answer {
        Ok(reply) => format!("answered {reply}"),
        Err(refusal) => format!("refused {}", serde_json::to_string(refusal).unwrap()),
    };
    text.replace(id, "<id>")
}

#[tokio::test(flavor = "multi_thread")]
async fn another_accounts_id_is_answered_as_one_that_nobody_has() {
    let made: BTreeSet<_> = foreigners().iter().map(|foreign| foreign.prefix).collect();
    let (mut wrong, mut ids) = (Vec::new(), 0);
    for (case, (case_wrong, takes)) in CASES.iter().zip(each(try_case).await) {
        wrong.extend(case_wrong);
        for (place, kinds) in takes {
            ids += kinds.len();
            for kind in kinds.iter().filter(|kind| !made.contains(&***kind)) {
                wrong.push(format!("{}: `{place}` takes `{kind}_…`, and no fixture makes one", case.tool));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ids > 0, "no tool takes an id");
}

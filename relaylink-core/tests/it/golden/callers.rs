//! Who gets what: every case called by those who have something to do with it, and by those who
//! have not. Kept as a golden file.

use std::fmt::Write as _;

use relaylink_core::{
    account::everything_listed,
    tool::{Caller, Code},
};
use serde_json::json;

use super::compare;
use crate::{
    cases::{CASES, Case, Scene, each},
    town::{Town, address},
    world::{answered, may},
};

/// The columns of the table. The other side of a case is `ben` where `ana` calls, and `ana` where
/// another does: contact, sender or recipient, as the case has it.
const CALLERS: [&str; 8] = [
    "owner",
    "other side",
    "other side blocked",
    "stranger",
    "full key",
    "key of writes",
    "read-only key",
    "revoked key",
];

async fn caller(town: &Town, scene: &Scene, column: &str) -> Caller {
    let other = if scene.who == "ana" { "ben" } else { "ana" };
    match column {
        "owner" => scene.caller.clone(),
        "other side" => town.caller(other),
        "other side blocked" => {
            town.ok(scene.who, "block_contact", json!({ "contact": address(other) })).await;
            town.caller(other)
        }
        "stranger" => town.caller("dan"),
        "full key" => town.key(scene.who, "full", everything_listed()).await,
        "key of writes" => town.key(scene.who, "writes", may(&["Writes"])).await,
        "read-only key" => town.key(scene.who, "reads", may(&[])).await,
        "revoked key" => {
            let key = town.key(scene.who, "revoked", everything_listed()).await;
            let id = key.credential.clone().unwrap();
            town.ok(scene.who, "revoke_api_key", json!({ "key": *id })).await;
            key
        }
        _ => unreachable!("{column}"),
    }
}

/// The code of the answer in each column. A refusal changes nothing.
async fn line(case: &'static Case) -> Vec<String> {
    let (frozen, scene) = case.ready().await;
    let mut cells = Vec::new();
    for column in CALLERS {
        let town = frozen.thaw();
        let caller = caller(&town, scene, column).await;
        let before = town.rows();
        let answer = answered(town.relay.toolset().call(&caller, case.tool, scene.arguments.clone()).await);
        cells.push(match answer {
            Ok(_) => "ok".to_owned(),
            Err(refusal) => {
                let changes = before.changes_to(&town.rows());
                assert!(changes.is_empty(), "{case}, {column}: refused, and did {changes}");
                code(refusal.code)
            }
        });
    }
    cells
}

fn code(code: Code) -> String {
    serde_json::to_value(code).unwrap().as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_caller_gets_what_is_theirs() {
    let mut text = format!("{:<66}{}", "", CALLERS.map(|column| format!("{column:<20}")).concat());
    for (case, cells) in CASES.iter().zip(each(line).await) {
        let cells: Vec<_> = cells.iter().map(|cell| format!("{cell:<20}")).collect();
        let case = case.to_string();
        write!(text, "\n{case:<66}{}", cells.concat()).unwrap();
    }
    let text: Vec<_> = text.lines().map(str::trim_end).collect();
    compare("callers.txt", &format!("{}\n", text.join("\n")));
}

//! What is published of each tool, what it claims, and what clients make of it: golden files. The
//! claims must also be those of `hints_expected.tsv`, which nothing writes.

use std::{collections::BTreeMap, fmt::Write as _};

use relaylink_core::tool::{
    Descriptor,
    policy::{Choice, Decision, Deployment, Stated, Trust, decide, may_retry},
};

use super::compare;
use crate::cases::tools;

fn effects(tool: &Descriptor) -> String {
    tool.effects.iter().map(|effect| effect.name).collect::<Vec<_>>().join("+")
}

#[test]
fn the_list_as_it_goes_over_the_wire() {
    let tools = tools();
    let lines: String = tools.list().map(|tool| serde_json::to_string(tool).unwrap() + "\n").collect();
    // The same, in the same order, with white space to be read.
    let spaced: String =
        tools.list().map(|tool| serde_json::to_string_pretty(tool).unwrap() + "\n").collect();
    compare("tools_list.json", &spaced);
    for word in ["read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint", "null"] {
        assert!(!lines.contains(word), "{word} is on the wire");
    }
    for line in lines.lines() {
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert_eq!(line.matches(&format!("\"{hint}\":")).count(), 1, "{hint} in {line}");
        }
    }
}

/// What each tool is to claim: name, effects, the four hints, the written title.
const EXPECTED: &str = include_str!("hints_expected.tsv");

#[test]
fn each_tool_claims_what_is_expected_of_it() {
    let tools = tools();
    let expected: BTreeMap<_, _> =
        EXPECTED.lines().skip(1).map(|line| (line.split('\t').next().unwrap(), line.trim_end())).collect();
    let now: BTreeMap<_, _> = tools
        .list()
        .map(|tool| {
            let hints = tool.annotations;
            let line = format!(
                "{}\t{}\t{}\t{}\t{}\t{}\t{}",
                tool.name,
                effects(tool),
                hints.read_only_hint,
                hints.destructive_hint,
                hints.idempotent_hint,
                hints.open_world_hint,
                hints.title.unwrap_or_default()
            );
            (tool.name, line.trim_end().to_owned())
        })
        .collect();
    let now: BTreeMap<_, _> = now.iter().map(|(name, line)| (*name, line.as_str())).collect();
    assert_eq!(now, expected);
}

#[test]
fn the_claims_in_a_table() {
    let tools = tools();
    let mut text = format!(
        "{:<22}{:<32}{:<10}{:<13}{:<12}{:<11}{:<11}{}\n",
        "tool", "effects", "readOnly", "destructive", "idempotent", "openWorld", "alwaysAsk", "room, sets"
    );
    for tool in tools.list() {
        let hints = tool.annotations;
        let sets: Vec<_> = tool.toolsets().collect();
        writeln!(
            text,
            "{:<22}{:<32}{:<10}{:<13}{:<12}{:<11}{:<11}{}",
            tool.name,
            effects(tool),
            hints.read_only_hint,
            hints.destructive_hint,
            hints.idempotent_hint,
            hints.open_world_hint,
            tool.always_ask,
            sets.join(" ")
        )
        .unwrap();
    }
    text.push_str("\ntitles for the person who is asked\n");
    for tool in tools.list() {
        if let Some(title) = tool.annotations.title {
            assert_eq!(tool.title, title, "{}: both titles are one", tool.name);
            writeln!(text, "{:<22}{title}", tool.name).unwrap();
        }
    }
    text.push_str("\nhints that could be claimed and are not\n");
    for tool in tools.list() {
        for decline in tool.declines {
            writeln!(text, "{:<22}{}: {}", tool.name, decline.hint, decline.reason).unwrap();
        }
    }
    compare("hints.txt", &text);
}

#[test]
fn what_clients_do() {
    let tools = tools();
    let deployments = [
        ("careful", Trust::Trusted, Deployment { additive: Choice::Ask, read_only: Choice::Ask }),
        ("easy", Trust::Trusted, Deployment { additive: Choice::Run, read_only: Choice::Run }),
        ("untrusted", Trust::Untrusted, Deployment { additive: Choice::Run, read_only: Choice::Run }),
    ];
    let mut text = format!(
        "{:<22}{:<58}{:<58}{:<12}{:<20}\n",
        "tool", "careful", "easy", "untrusted", "repeat after a time-out"
    );
    for tool in tools.list() {
        // As a client has it: from the wire.
        let wire = serde_json::to_value(tool).unwrap();
        let stated = Stated::of(&wire["annotations"]);
        write!(text, "{:<22}", tool.name).unwrap();
        for (name, trust, deployment) in deployments {
            let width = if name == "untrusted" { 12 } else { 58 };
            let decision = match decide(&stated, wire["title"].as_str(), tool.name, trust, deployment) {
                Decision::Run => "run".to_owned(),
                Decision::Ask { .. } if name == "untrusted" => "ask".to_owned(),
                Decision::Ask { title, name } => format!("ask: {title} [{name}]"),
            };
            write!(text, "{decision:<width$}").unwrap();
        }
        let retry = if may_retry(&stated, Trust::Trusted) { "yes" } else { "no" };
        assert!(!may_retry(&stated, Trust::Untrusted), "{}", tool.name);
        writeln!(text, "{retry}").unwrap();
    }
    compare("clients.txt", &text);
}

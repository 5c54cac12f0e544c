use serde_json::json;

use super::{Choice::*, *};
use crate::tool::Hints;

const HINTS: [Option<bool>; 3] = [None, Some(false), Some(true)];

fn stated(
    read_only: impl Into<Option<bool>>,
    destructive: impl Into<Option<bool>>,
    idempotent: impl Into<Option<bool>>,
    open_world: impl Into<Option<bool>>,
) -> Stated {
    Stated {
        title: None,
        read_only: read_only.into(),
        destructive: destructive.into(),
        idempotent: idempotent.into(),
        open_world: open_world.into(),
    }
}

/// Every way to state the four.
fn all() -> impl Iterator<Item = Stated> {
    HINTS.into_iter().flat_map(|read_only| {
        HINTS.into_iter().flat_map(move |destructive| {
            HINTS.into_iter().flat_map(move |idempotent| {
                HINTS.into_iter().map(move |open| stated(read_only, destructive, idempotent, open))
            })
        })
    })
}

fn deployments() -> impl Iterator<Item = Deployment> {
    [Ask, Run]
        .into_iter()
        .flat_map(|additive| [Ask, Run].into_iter().map(move |read_only| Deployment { additive, read_only }))
}

fn runs_in(stated: &Stated, deployment: Deployment) -> bool {
    decide(stated, None, "tool", Trust::Trusted, deployment) == Decision::Run
}

fn always_asks(stated: &Stated) -> bool {
    deployments().all(|deployment| !runs_in(stated, deployment))
}

fn always_runs(stated: &Stated) -> bool {
    deployments().all(|deployment| runs_in(stated, deployment))
}

/// What our own tools state, by their hints' words.
fn ours(words: &str, title: Option<&'static str>) -> Stated {
    let said = |word: &str| words.split(' ').any(|w| w == word);
    let hints = Hints {
        read_only: said("read_only"),
        additive: said("additive"),
        idempotent: said("idempotent"),
        closed_world: said("closed_world"),
    };
    Stated::from(&Annotations::new(hints, title))
}

#[test]
fn read_only_unstated_is_false() {
    assert!(!resolve(&Stated::of(&json!({}))).read_only);
}

#[test]
fn destructive_unstated_is_true() {
    assert!(resolve(&Stated::of(&json!({}))).destructive);
}

#[test]
fn idempotent_unstated_is_false() {
    assert!(!resolve(&Stated::of(&json!({}))).idempotent);
}

#[test]
fn open_world_unstated_is_true() {
    assert!(resolve(&Stated::of(&json!({}))).open_world);
}

#[test]
fn no_annotations_at_all_are_the_four_worst_values() {
    let worst = Resolved { read_only: false, destructive: true, idempotent: false, open_world: true };
    let nothing = Stated::default();
    assert_eq!(resolve(&nothing), worst);
    assert!(always_asks(&nothing) && !may_retry(&nothing, Trust::Trusted));
    let odd = json!({ "readOnlyHint": "true", "idempotentHint": 1, "destructiveHint": null, "title": 5 });
    for annotations in [json!(null), json!([]), json!("x"), json!({}), odd] {
        assert_eq!(Stated::of(&annotations), nothing, "{annotations}");
        assert_eq!(serde_json::from_value::<Stated>(annotations).unwrap(), nothing);
    }
}

#[test]
fn a_tool_of_ours_without_hints_states_the_four_worst_values() {
    assert_eq!(ours("", None), stated(false, true, false, true));
}

#[test]
fn each_word_of_ours_narrows_one_of_the_four_and_read_only_three() {
    assert_eq!(ours("read_only", None), stated(true, false, true, true));
    assert_eq!(ours("additive", None), stated(false, false, false, true));
    assert_eq!(ours("idempotent", None), stated(false, true, true, true));
    assert_eq!(ours("closed_world", None), stated(false, true, false, false));
}

#[test]
fn a_contradiction_is_not_believed() {
    for idempotent in HINTS {
        assert!(always_asks(&stated(true, true, idempotent, false)));
    }
}

#[test]
fn saying_less_never_turns_ask_into_run_nor_no_retry_into_retry() {
    let mut compared = 0;
    for more in all() {
        let narrowing = [
            (more.read_only == Some(true), Stated { read_only: None, ..more.clone() }),
            (more.read_only == Some(true), Stated { read_only: Some(false), ..more.clone() }),
            (more.destructive == Some(false), Stated { destructive: None, ..more.clone() }),
            (more.destructive == Some(false), Stated { destructive: Some(true), ..more.clone() }),
            (more.idempotent == Some(true), Stated { idempotent: None, ..more.clone() }),
            (more.idempotent == Some(true), Stated { idempotent: Some(false), ..more.clone() }),
            (more.open_world == Some(false), Stated { open_world: None, ..more.clone() }),
            (more.open_world == Some(false), Stated { open_world: Some(true), ..more.clone() }),
        ];
        for less in narrowing.into_iter().filter_map(|(narrows, less)| narrows.then_some(less)) {
            for deployment in deployments() {
                let turned = !runs_in(&more, deployment) && runs_in(&less, deployment);
                assert!(!turned, "{more:?} asks and {less:?} runs under {deployment:?}");
                compared += 1;
            }
            let retries = |stated: &Stated| may_retry(stated, Trust::Trusted);
            assert!(retries(&more) || !retries(&less), "{more:?} {less:?}");
        }
    }
    assert_eq!(compared, 81 / 3 * 8 * 4);
}

#[test]
fn read_only_and_idempotent_runs() {
    for open_world in HINTS {
        assert!(always_runs(&stated(true, false, true, open_world)));
        assert!(always_runs(&stated(true, None, true, open_world)));
    }
    assert!(always_runs(&ours("read_only closed_world", None)));
}

#[test]
fn read_only_and_not_idempotent_is_the_deployments_choice() {
    for idempotent in [None, Some(false)] {
        for deployment in deployments() {
            let runs = runs_in(&stated(true, None, idempotent, None), deployment);
            assert_eq!(runs, deployment.read_only == Run);
            let runs = runs_in(&stated(true, false, idempotent, None), deployment);
            assert_eq!(runs, deployment.read_only == Run || deployment.additive == Run);
        }
    }
}

#[test]
fn not_read_only_and_not_destructive_is_the_deployments_choice() {
    for read_only in [None, Some(false)] {
        for (idempotent, open_world) in HINTS.into_iter().flat_map(|i| HINTS.map(|o| (i, o))) {
            for deployment in deployments() {
                let runs = runs_in(&stated(read_only, false, idempotent, open_world), deployment);
                assert_eq!(runs, deployment.additive == Run);
            }
        }
    }
}

#[test]
fn destructive_asks_in_every_deployment() {
    assert!(all().filter(|stated| stated.destructive == Some(true)).all(|stated| always_asks(&stated)));
    assert!(always_asks(&ours("idempotent closed_world", None)));
}

#[test]
fn destructive_unstated_asks_in_every_deployment() {
    let unstated = |stated: &Stated| stated.destructive.is_none() && stated.read_only != Some(true);
    assert_eq!(all().filter(unstated).count(), 18);
    assert!(all().filter(unstated).all(|stated| always_asks(&stated)));
}

#[test]
fn whoever_is_asked_is_shown_the_title_if_there_is_one() {
    let asked = |stated: &Stated, title: Option<&'static str>, name: &'static str| match decide(
        stated,
        title,
        name,
        Trust::Trusted,
        Deployment::default(),
    ) {
        Decision::Ask { title, name } => (title.to_owned(), name.to_owned()),
        Decision::Run => panic!("it runs"),
    };
    let send = "Send package (irreversible)";
    let shown = asked(&ours("", Some(send)), Some("Confirm send"), "confirm_send");
    assert_eq!(shown, (send.to_owned(), "confirm_send".to_owned()));
    let cancel = ours("idempotent closed_world", None);
    assert_eq!(asked(&cancel, Some("Cancel draft"), "cancel_draft").0, "Cancel draft");
    assert_eq!(asked(&cancel, None, "cancel_draft").0, "cancel_draft");
    let blank = Stated::of(&json!({ "title": " \n" }));
    assert_eq!(asked(&blank, Some(""), "cancel_draft").0, "cancel_draft");
}

#[test]
fn what_is_not_stated_idempotent_is_never_repeated() {
    let not = |stated: &Stated| stated.idempotent != Some(true);
    assert!(all().filter(not).all(|stated| !may_retry(&stated, Trust::Trusted)));
}

#[test]
fn what_is_stated_idempotent_may_be_repeated() {
    let idempotent = |stated: &Stated| stated.idempotent == Some(true);
    assert_eq!(all().filter(idempotent).count(), 27);
    assert!(all().filter(idempotent).all(|stated| may_retry(&stated, Trust::Trusted)));
}

#[test]
fn repeating_and_asking_are_two_questions() {
    let revoke = ours("idempotent", Some("Revoke an API key (irreversible)"));
    assert!(always_asks(&revoke) && may_retry(&revoke, Trust::Trusted));
    let draft = ours("additive closed_world", None);
    assert!(!always_asks(&draft) && !may_retry(&draft, Trust::Trusted));
}

#[test]
fn the_name_decides_nothing() {
    for stated in all() {
        for deployment in deployments() {
            let runs =
                |title, name| decide(&stated, title, name, Trust::Trusted, deployment) == Decision::Run;
            assert_eq!(runs(None, "list_drafts"), runs(Some("Send package (irreversible)"), "confirm_send"));
        }
    }
}

#[test]
fn nothing_that_an_untrusted_server_states_counts() {
    assert_eq!(Trust::default(), Trust::Untrusted);
    for stated in all() {
        assert!(!may_retry(&stated, Trust::Untrusted));
        for deployment in deployments() {
            let decision = decide(&stated, None, "tool", Trust::default(), deployment);
            assert_eq!(decision, Decision::Ask { title: "tool", name: "tool" });
        }
    }
}

#[test]
fn a_deployment_asks_unless_told_otherwise() {
    assert_eq!(Deployment::default(), Deployment { additive: Ask, read_only: Ask });
}

#[test]
fn the_wire_names_are_read() {
    let wire = json!({
        "title": "Look",
        "readOnlyHint": true,
        "destructiveHint": false,
        "idempotentHint": true,
        "openWorldHint": false,
        "taskHint": true,
    });
    assert_eq!(Stated::of(&wire), Stated { title: Some("Look".into()), ..stated(true, false, true, false) });
    let ours =
        Annotations::new(Hints { read_only: true, closed_world: true, ..Hints::default() }, Some("Look"));
    assert_eq!(Stated::of(&serde_json::to_value(ours).unwrap()), Stated::from(&ours));
}

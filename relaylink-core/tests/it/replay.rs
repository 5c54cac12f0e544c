//! The replay audit over every tool: each case is called twice in a town of its own, and what the
//! tables then say is held against what the tool claims.

use std::collections::BTreeSet;

use relaylink_core::tool::audit::{self, Audit, Finding, Rule, Trial, replay};

use tokio::sync::OnceCell;

use crate::cases::{Case, by_tool, each, tools};

/// Tools that do nothing on a repeat, give the first answer again and claim no `idempotent` all the same.
const ANSWERS_THE_SAME: [(&str, &str); 1] =
    [("confirm_send", "a message cannot be recalled, so a repeat of it is to be asked about")];

/// Tools whose repeat is an error and changes nothing.
const ERRS_ON_REPEAT: [&str; 2] = ["accept_contact", "withdraw_invite"];

/// Findings that are none, and why. One that is not found any more fails.
const NOT_THE_TOOLS: [(&str, &str, Rule, &str); 1] = [(
    "revoke_api_key",
    "the key in use",
    Rule::Idempotent,
    "the first call ends the key that makes the second: what refuses it is the layer that authenticates",
)];

async fn trials() -> &'static [Trial] {
    static TRIALS: OnceCell<Vec<Trial>> = OnceCell::const_new();
    TRIALS.get_or_init(replayed).await
}

async fn replayed() -> Vec<Trial> {
    each(|case: &'static Case| async move {
        let (frozen, scene) = case.ready().await;
        let call = audit::Case {
            name: case.name.to_owned(),
            caller: scene.caller.clone(),
            tool: case.tool.to_owned(),
            arguments: scene.arguments.clone(),
        };
        replay(&frozen.thaw(), &call).await
    })
    .await
}

fn excused(finding: &Finding) -> bool {
    NOT_THE_TOOLS.iter().any(|(tool, case, rule, _)| {
        finding.tool == *tool && finding.case.as_deref() == Some(case) && finding.rule == *rule
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_does_what_it_claims_and_no_more() {
    let trials = trials().await;
    let tools = tools();
    let audit = ANSWERS_THE_SAME
        .iter()
        .fold(Audit::default(), |audit, (tool, reason)| audit.answers_the_same(tool, reason));
    let findings: Vec<_> = tools.list().flat_map(|descriptor| audit.judge(descriptor, trials)).collect();
    let (excused, found): (Vec<_>, Vec<_>) = findings.into_iter().partition(excused);
    let text: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{}", text.join("\n"));
    assert_eq!(excused.len(), NOT_THE_TOOLS.len(), "an excuse that is not needed any more: {excused:?}");
    for finding in &excused {
        assert!(finding.what.contains("refused"), "only the refusal is excused: {finding}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_those_not_idempotent_exactly_the_known_ones_err_or_answer_the_same() {
    let trials = trials().await;
    let tools = tools();
    let (mut err, mut same) = (BTreeSet::new(), BTreeSet::new());
    for (descriptor, _) in by_tool(&tools) {
        if descriptor.annotations.idempotent_hint {
            continue;
        }
        let own: Vec<_> = trials.iter().filter(|trial| trial.tool == descriptor.name).collect();
        if own.iter().all(|trial| trial.second.changes.is_empty()) {
            let errs = own.iter().all(|trial| trial.second.answer.is_err());
            if errs {
                err.insert(descriptor.name)
            } else {
                same.insert(descriptor.name)
            };
        }
        for trial in own.iter().filter(|trial| trial.second.answer.is_err()) {
            assert!(
                trial.second.changes.is_empty(),
                "{}: an error that changes {}",
                trial.tool,
                trial.second.changes
            );
        }
    }
    assert_eq!(err, BTreeSet::from(ERRS_ON_REPEAT));
    assert_eq!(same, BTreeSet::from(ANSWERS_THE_SAME.map(|(tool, _)| tool)));
}

/// Every letter leaves in a call of a tool that says so, and every tool that says so shows one.
#[tokio::test(flavor = "multi_thread")]
async fn exactly_the_tools_known_to_mail_put_a_message_in_a_mailbox() {
    const MAILS: [&str; 4] = ["confirm_send", "invite_contact", "accept_contact", "revoke_api_key"];
    let trials = trials().await;
    let mailed: BTreeSet<_> = trials
        .iter()
        .filter(|trial| trial.first.changes.reached.contains_key("ExternalMail"))
        .map(|trial| trial.tool.as_str())
        .collect();
    assert_eq!(mailed, BTreeSet::from(MAILS));
}

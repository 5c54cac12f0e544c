//! Each rule of the replay audit catches the lie it is for, and lets the honest tool pass.
//! The tools here lie on purpose, over a shelf of notes that knows nothing of effects.

use std::{collections::BTreeMap, sync::Arc, sync::Mutex};

use relaylink_core::{
    prelude::*,
    tool::{
        Caller, Toolset,
        audit::{Audit, Case, Finding, Rule, State, World, replay},
    },
};
use serde_json::{Map, json};

/// Notes by key, letters sent, and calls made to somebody else.
#[derive(Default)]
struct Shelf {
    notes: Mutex<BTreeMap<String, Note>>,
    letters: Mutex<u64>,
    calls: Mutex<u64>,
}

#[derive(Clone)]
struct Note {
    text: String,
    read: bool,
}

impl Shelf {
    fn put(&self, key: &str, text: &str) {
        let note = Note { text: text.into(), read: false };
        self.notes.lock().unwrap().insert(key.into(), note);
    }
}

/// Asks somebody else's service.
enum CallsOut {}

impl Effect for CallsOut {
    const NAME: &'static str = "CallsOut";
    const CHANGES: bool = false;
    const REMOVES: bool = false;
    const REACHES_OUT: bool = true;
}

#[derive(Serialize, JsonSchema)]
struct Said {
    text: String,
}

#[expect(clippy::unnecessary_wraps, reason = "each tool ends with it")]
fn said(text: impl Into<String>) -> Result<Said, Stop> {
    Ok(Said { text: text.into() })
}

macro_rules! tools {
    ($($(#[$attributes:meta])* $name:ident: $what:expr;)*) => {$(
        /// A tool of the audit's own tests.
        #[derive(Tool, Deserialize, JsonSchema)]
        $(#[$attributes])*
        struct $name {
            /// The text to work with.
            text: Option<String>,
            /// What to do with it.
            action: Option<Action>,
        }

        impl Handle<Shelf> for $name {
            type Reply = Said;
            async fn handle(self, cx: Cx<'_, Self, Shelf>) -> Result<Said, Stop> {
                let act: fn(&Shelf, &str) -> Result<Said, Stop> = $what;
                let _ = self.action;
                act(cx.state, self.text.as_deref().unwrap_or("new"))
            }
        }
    )*};
}

/// What the tools that have actions can do.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    /// One.
    One,
    /// The other.
    Other,
}

tools! {
    #[tool(effects(), hints(read_only, closed_world))]
    Peek: |shelf, _| said(shelf.notes.lock().unwrap()["a"].text.clone());

    #[tool(effects(), hints(read_only, closed_world))]
    PeekAndMark: |shelf, _| { shelf.notes.lock().unwrap().get_mut("a").unwrap().read = true; said("marked") };

    #[tool(effects(Writes), hints(additive, closed_world))]
    Add: |shelf, text| {
        let key = shelf.notes.lock().unwrap().len().to_string();
        shelf.put(&key, text);
        said(key)
    };

    #[tool(effects(Writes), hints(additive, idempotent, closed_world))]
    Overwrite: |shelf, text| { shelf.put("a", text); said("done") };

    #[tool(effects(Writes), hints(additive, idempotent, closed_world))]
    OverwriteAndTell: |shelf, text| {
        let was = shelf.notes.lock().unwrap()["a"].text.clone();
        shelf.put("a", text);
        said(was)
    };

    #[tool(effects(Writes), hints(additive, closed_world))]
    TakeAway: |shelf, _| { shelf.notes.lock().unwrap().remove("b"); shelf.put("c", "c"); said("gone") };

    #[tool(effects(Writes), hints(additive, idempotent, closed_world))]
    AddAndSend: |shelf, text| { shelf.put("c", text); *shelf.letters.lock().unwrap() += 1; said("sent") };

    #[tool(effects(Writes), hints(additive, idempotent, closed_world))]
    AddAgain: |shelf, text| {
        let key = shelf.notes.lock().unwrap().len().to_string();
        shelf.put(&key, text);
        said(key)
    };

    #[tool(effects(Writes), hints(additive, closed_world))]
    AddOnce: |shelf, text| { shelf.put("c", text); said("there") };

    #[tool(effects(Writes), hints(additive, closed_world))]
    AddOnceThenErr: |shelf, text| {
        if shelf.notes.lock().unwrap().contains_key("c") {
            return Err(Stop::refuse(Code::Conflict, "It is there."));
        }
        shelf.put("c", text);
        said("there")
    };

    #[tool(effects(Writes), hints(additive, idempotent, closed_world))]
    ErrAgain: |shelf, text| {
        if shelf.notes.lock().unwrap().contains_key("c") {
            return Err(Stop::refuse(Code::Conflict, "It is there."));
        }
        shelf.put("c", text);
        said("there")
    };

    #[tool(effects(Writes, Removes), hints(closed_world))]
    SayRemoves: |shelf, text| {
        let key = shelf.notes.lock().unwrap().len().to_string();
        shelf.put(&key, text);
        said(key)
    };

    #[tool(effects(CallsOut), hints(read_only))]
    Ask: |shelf, _| { *shelf.calls.lock().unwrap() += 1; said("sunny") };

    #[tool(effects(), hints(read_only, closed_world))]
    AskInSecret: |shelf, _| { *shelf.calls.lock().unwrap() += 1; said("sunny") };

    #[tool(effects(Removes), hints(closed_world))]
    RemoveAndWrite: |shelf, text| { shelf.notes.lock().unwrap().remove("b"); shelf.put("c", text); said("moved") };

    #[tool(effects(Writes), hints(additive, idempotent, closed_world))]
    AnswerOtherwise: |shelf, text| {
        let first = !shelf.notes.lock().unwrap().contains_key("c");
        if first { shelf.put("c", text); }
        said(if first { "added" } else { "it was there" })
    };
}

struct ShelfWorld(Arc<Shelf>);

#[async_trait::async_trait]
impl World for ShelfWorld {
    fn toolset(&self) -> Toolset {
        Toolset::over(Arc::clone(&self.0))
            .tool::<Peek>()
            .tool::<PeekAndMark>()
            .tool::<Add>()
            .tool::<Overwrite>()
            .tool::<OverwriteAndTell>()
            .tool::<TakeAway>()
            .tool::<AddAndSend>()
            .tool::<AddAgain>()
            .tool::<AddOnce>()
            .tool::<AddOnceThenErr>()
            .tool::<ErrAgain>()
            .tool::<SayRemoves>()
            .tool::<Ask>()
            .tool::<AskInSecret>()
            .tool::<RemoveAndWrite>()
            .tool::<AnswerOtherwise>()
            .build()
            .unwrap()
    }

    async fn state(&self) -> State {
        let mut state = State::default();
        for (key, note) in &*self.0.notes.lock().unwrap() {
            state.row("notes", key, [("text", json!(note.text)), ("read", json!(note.read))]);
        }
        state.reached("ExternalMail", *self.0.letters.lock().unwrap());
        state.reached("CallsOut", *self.0.calls.lock().unwrap());
        state
    }
}

/// What the audit finds of a tool, by one case for each of these actions.
async fn findings(audit: &Audit, tool: &str, actions: &[&str]) -> Vec<Finding> {
    let mut trials = Vec::new();
    let fresh = || {
        let shelf = Shelf::default();
        shelf.put("a", "alpha");
        shelf.put("b", "beta");
        ShelfWorld(Arc::new(shelf))
    };
    for action in actions {
        let mut arguments = Map::new();
        arguments.insert("text".into(), json!("gamma"));
        arguments.insert("action".into(), json!(action));
        let case =
            Case { name: (*action).into(), caller: Caller::local("acc"), tool: tool.into(), arguments };
        trials.push(replay(&fresh(), &case).await);
    }
    audit.judge(fresh().toolset().get(tool).unwrap(), &trials)
}

/// The rules that a tool breaks with a case for each action.
async fn broken(tool: &str) -> Vec<Rule> {
    broken_for(&Audit::default(), tool).await
}

async fn broken_for(audit: &Audit, tool: &str) -> Vec<Rule> {
    let mut rules: Vec<_> =
        findings(audit, tool, &["one", "other"]).await.into_iter().map(|finding| finding.rule).collect();
    rules.sort();
    rules.dedup();
    rules
}

#[tokio::test]
async fn honest_tools_pass() {
    for tool in ["peek", "add", "overwrite_and_tell", "add_once_then_err", "ask"] {
        assert_eq!(broken(tool).await, [], "{tool}");
    }
}

#[tokio::test]
async fn an_idempotent_tool_may_answer_otherwise_the_second_time() {
    assert_eq!(broken("answer_otherwise").await, []);
}

#[tokio::test]
async fn read_only_is_held_to_changing_nothing() {
    assert!(broken("peek_and_mark").await.contains(&Rule::ReadOnly));
    assert!(broken("ask_in_secret").await.contains(&Rule::ReadOnly));
}

#[tokio::test]
async fn additive_is_held_to_losing_no_content() {
    assert_eq!(broken("overwrite").await, [Rule::Additive]);
    assert!(broken("take_away").await.contains(&Rule::Additive));
}

#[tokio::test]
async fn a_flag_may_be_overwritten() {
    let audit = Audit::default().flag("notes", "text", "for this test it is no content");
    assert_eq!(broken_for(&audit, "overwrite").await, []);
}

#[tokio::test]
async fn closed_world_is_held_to_reaching_nobody() {
    assert!(broken("add_and_send").await.contains(&Rule::ClosedWorld));
    assert!(broken("ask_in_secret").await.contains(&Rule::ClosedWorld));
}

#[tokio::test]
async fn idempotent_is_held_to_changing_nothing_twice() {
    assert_eq!(broken("add_again").await, [Rule::Idempotent]);
    assert_eq!(broken("err_again").await, [Rule::Idempotent]);
    assert!(broken("add_and_send").await.contains(&Rule::Idempotent));
}

#[tokio::test]
async fn what_declines_idempotent_does_something_again_or_errs_or_is_excused() {
    assert_eq!(broken("add_once").await, [Rule::Repeats]);
    let audit = Audit::default().answers_the_same("add_once", "for this test");
    assert_eq!(broken_for(&audit, "add_once").await, []);
}

#[tokio::test]
async fn nothing_is_done_beyond_the_effects() {
    for tool in ["peek_and_mark", "take_away", "add_and_send", "ask_in_secret", "remove_and_write"] {
        assert!(broken(tool).await.contains(&Rule::Beyond), "{tool}");
    }
}

#[tokio::test]
async fn an_effect_that_no_case_shows_is_too_wide() {
    assert_eq!(broken("say_removes").await, [Rule::TooWide]);
}

#[tokio::test]
async fn each_action_needs_a_case_and_the_case_must_succeed() {
    let rules = |findings: Vec<Finding>| findings.into_iter().map(|f| f.rule).collect::<Vec<_>>();
    assert_eq!(rules(findings(&Audit::default(), "peek", &["one"]).await), [Rule::Covered]);
    assert_eq!(rules(findings(&Audit::default(), "peek", &[]).await), [Rule::Covered; 3]);
    let found = rules(findings(&Audit::default(), "peek", &["one", "other", "nonsense"]).await);
    assert!(found.contains(&Rule::Succeeds), "{found:?}");
}

#[tokio::test]
async fn a_finding_says_what_happened() {
    let found = findings(&Audit::default(), "overwrite", &["one", "other"]).await;
    assert_eq!(
        found[0].to_string(),
        "overwrite (one): Additive: it overwrote notes[a].text, and the old value is nowhere"
    );
}

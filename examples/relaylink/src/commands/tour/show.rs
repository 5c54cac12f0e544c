use std::io::IsTerminal;

use relaylink_core::tool::policy::{Decision, Deployment, Stated, Trust, decide, may_retry, resolve};
use serde_json::{Value as Json, json};

use super::stage::{Actor, Answer};
use crate::{failure::Failure, output::line};

/// Characters of a line of arguments or of an answer at most.
const LINE: usize = 100;

/// Shows what is played: to a person in words, to a program as a line of JSON each.
pub(super) struct Show {
    json: bool,
    colour: bool,
}

impl Show {
    pub(super) fn new(json: bool) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { json, colour: std::io::stdout().is_terminal() && !plain }
    }

    /// What happens next.
    pub(super) fn act(&self, what: &str) -> Result<(), Failure> {
        self.say(&format!("\n{}", self.paint("1", what)))
    }

    /// One call: its hints, what a careful client does with it, and the answer.
    pub(super) fn call(
        &self,
        actor: &Actor,
        name: &str,
        arguments: &Json,
        answer: &Answer,
    ) -> Result<(), Failure> {
        let tool = actor.tool(name);
        // The server is this program's own, so its hints are taken at their word.
        let trust = if tool.is_some() { Trust::Trusted } else { Trust::Untrusted };
        let stated = tool.map(|tool| Stated::of(&tool["annotations"])).unwrap_or_default();
        let title = tool.and_then(|tool| tool["title"].as_str());
        let decision = decide(&stated, title, name, trust, Deployment::default());
        if self.json {
            let asks = match decision {
                Decision::Run => json!(false),
                Decision::Ask { title, .. } => json!(title),
            };
            let (key, value) = match answer {
                Answer::Reply(reply) => ("reply", reply),
                Answer::Refusal(refusal) => ("refusal", refusal),
            };
            let annotations = tool.map(|tool| &tool["annotations"]);
            let shown = json!({ "caller": actor.name, "tool": name, "annotations": annotations, "asks": asks,
                "retries": may_retry(&stated, trust), "arguments": arguments, key: value });
            return line(&shown.to_string());
        }
        let hints = match tool {
            None => "this key is not offered the tool; it is called all the same".to_owned(),
            Some(_) => hints(&stated),
        };
        let retry = if may_retry(&stated, trust) {
            "may repeat it after a time-out"
        } else {
            "never repeats it by itself"
        };
        let client = match decision {
            Decision::Run => "runs it and shows the result".to_owned(),
            Decision::Ask { title, .. } => {
                format!("asks the person: {}", self.paint("33", &format!("“{title}”")))
            }
        };
        let answer = match answer {
            Answer::Reply(reply) => format!("answer    {}", short(reply)),
            Answer::Refusal(refusal) => format!("{}   {}", self.paint("31", "refused"), short(refusal)),
        };
        self.say(&format!("\n  {} {} {}", actor.name, self.paint("1;36", name), short(arguments)))?;
        self.say(&format!("    hints     {hints}"))?;
        self.say(&format!("    a client  {client}; {retry}"))?;
        self.say(&format!("    {answer}"))
    }

    /// A letter that was written.
    pub(super) fn mail(&self, to: &str, subject: &str) -> Result<(), Failure> {
        if self.json {
            return line(&json!({ "mail": { "to": to, "subject": subject } }).to_string());
        }
        self.say(&format!("  to {to}: {subject}"))
    }

    pub(super) fn end(&self) -> Result<(), Failure> {
        self.say("\nEvery step was as it should be.")
    }

    /// A line for a person; a program gets JSON alone.
    fn say(&self, words: &str) -> Result<(), Failure> {
        if self.json { Ok(()) } else { line(words) }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn hints(stated: &Stated) -> String {
    let hints = resolve(stated);
    let mut words = vec![match (hints.read_only, hints.destructive) {
        (true, _) => "only reads",
        (false, true) => "may take away",
        (false, false) => "adds",
    }];
    words.push(if hints.idempotent { "repeatable" } else { "not repeatable" });
    words.push(if hints.open_world { "reaches out" } else { "stays inside" });
    words.join(" · ")
}

fn short(value: &Json) -> String {
    let text = value.to_string();
    if text.chars().count() <= LINE {
        return text;
    }
    text.chars().take(LINE - 1).chain(['…']).collect()
}

use serde_json::Value as Json;

use super::{Step, Trial, state::Changed};
use crate::tool::{Descriptor, Effect, Removes, Writes};

/// A rule of the audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// Every tool has a case, and one for each value of its `action`.
    Covered,
    /// The first call of a case succeeds.
    Succeeds,
    /// A tool that hints `read_only` changes nothing.
    ReadOnly,
    /// A tool that hints `additive` loses no content: what it overwrites stays in a row or is in its reply.
    Additive,
    /// A tool that hints `closed_world` reaches nothing outside.
    ClosedWorld,
    /// The second call of a tool that hints `idempotent` changes nothing and is no error.
    Idempotent,
    /// The second call of a tool that does not hint `idempotent` does something again or is an error.
    Repeats,
    /// No call does what is not among its tool's effects.
    Beyond,
    /// Every effect of a tool is shown by some case.
    TooWide,
}

/// A claim that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The tool's name.
    pub tool: String,
    /// The case, where it is about one.
    pub case: Option<String>,
    /// The rule that was broken.
    pub rule: Rule,
    /// What happened.
    pub what: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.tool)?;
        if let Some(case) = &self.case {
            write!(f, " ({case})")?;
        }
        write!(f, ": {:?}: {}", self.rule, self.what)
    }
}

/// Compares what tools did with what they claim. The default has no exception.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    flags: Vec<(String, String)>,
    same_answer: Vec<String>,
}

impl Audit {
    /// A column that additive tools may overwrite, since it holds no content: a state, a flag, a
    /// version, a time. The reason is for the reader.
    #[must_use]
    pub fn flag(mut self, table: &str, column: &str, _reason: &str) -> Self {
        self.flags.push((table.into(), column.into()));
        self
    }

    /// A tool that does nothing on a repeat, gives the same answer, and declines `idempotent` all the
    /// same. The reason is for the reader.
    #[must_use]
    pub fn answers_the_same(mut self, tool: &str, _reason: &str) -> Self {
        self.same_answer.push(tool.into());
        self
    }

    /// What does not hold of this tool, by the trials that are about it.
    pub fn judge(&self, descriptor: &Descriptor, trials: &[Trial]) -> Vec<Finding> {
        let trials: Vec<_> = trials.iter().filter(|trial| trial.tool == descriptor.name).collect();
        let mut findings = Findings { tool: descriptor.name, list: Vec::new() };
        covered(descriptor, &trials, &mut findings);
        for trial in &trials {
            self.one(descriptor, trial, &mut findings);
        }
        self.together(descriptor, &trials, &mut findings);
        findings.list
    }

    /// The rules that each trial must hold.
    fn one(&self, descriptor: &Descriptor, trial: &Trial, findings: &mut Findings) {
        let case = Some(trial.case.as_str());
        if let Err(refusal) = &trial.first.answer {
            findings.add(case, Rule::Succeeds, format!("the first call was refused: {refusal}"));
        }
        let hints = descriptor.annotations;
        for step in [&trial.first, &trial.second] {
            let changes = &step.changes;
            if hints.read_only_hint && acts(descriptor, step) {
                findings.add(case, Rule::ReadOnly, format!("it did {changes}"));
            }
            if !hints.destructive_hint {
                for what in self.lost(step) {
                    findings.add(case, Rule::Additive, what);
                }
            }
            if !hints.open_world_hint && !changes.reached.is_empty() {
                findings.add(case, Rule::ClosedWorld, format!("it did {changes}"));
            }
            beyond(descriptor, step, case, findings);
        }
        if hints.idempotent_hint {
            let second = &trial.second;
            if acts(descriptor, second) {
                findings.add(case, Rule::Idempotent, format!("the second call did {}", second.changes));
            }
            if let Err(refusal) = &second.answer {
                findings.add(case, Rule::Idempotent, format!("the second call was refused: {refusal}"));
            }
        }
    }

    /// The content that one call lost.
    fn lost(&self, step: &Step) -> Vec<String> {
        let changes = &step.changes;
        let gone = changes.removed.iter().map(|(table, key)| format!("it removed {table}[{key}]"));
        let overwritten = changes.changed.iter().filter(|changed| !self.is_flag(changed)).filter(|changed| {
            let kept = changed.was.is_null() || step.after.holds(&changed.was);
            !(kept || step.answer.as_ref().is_ok_and(|reply| says(reply, &changed.was)))
        });
        gone.chain(overwritten.map(|c| {
            format!("it overwrote {}[{}].{}, and the old value is nowhere", c.table, c.key, c.column)
        }))
        .collect()
    }

    fn is_flag(&self, changed: &Changed) -> bool {
        self.flags.iter().any(|(table, column)| *table == changed.table && *column == changed.column)
    }

    /// The rules that the trials hold together.
    fn together(&self, descriptor: &Descriptor, trials: &[&Trial], findings: &mut Findings) {
        if trials.is_empty() {
            return;
        }
        if !descriptor.annotations.idempotent_hint {
            let again = |trial: &Trial| acts(descriptor, &trial.second) || trial.second.answer.is_err();
            let same = self.same_answer.iter().any(|tool| tool == descriptor.name)
                && trials.iter().all(|trial| trial.first.answer == trial.second.answer);
            if !same && !trials.iter().any(|trial| again(trial)) {
                let what = "no case does anything on a repeat: claim `idempotent`, or say why not";
                findings.add(None, Rule::Repeats, what.into());
            }
        }
        for effect in descriptor.effects {
            let shown = trials.iter().any(|trial| {
                let changes = &trial.first.changes;
                match effect.name {
                    Writes::NAME => !changes.added.is_empty() || !changes.changed.is_empty(),
                    Removes::NAME => !changes.removed.is_empty(),
                    name => changes.reached.contains_key(name),
                }
            });
            if !shown {
                findings.add(
                    None,
                    Rule::TooWide,
                    format!("no case shows the effect `{}`: leave it out", effect.name),
                );
            }
        }
    }
}

fn covered(descriptor: &Descriptor, trials: &[&Trial], findings: &mut Findings) {
    if trials.is_empty() {
        findings.add(None, Rule::Covered, "it has no case".into());
    }
    let actions = descriptor.input.get("properties").and_then(|p| p.pointer("/action/enum"));
    for action in actions.and_then(Json::as_array).into_iter().flatten() {
        if !trials.iter().any(|trial| trial.arguments.get("action") == Some(action)) {
            findings.add(None, Rule::Covered, format!("it has no case of the action {action}"));
        }
    }
}

/// Whether a call changed anything. To ask somebody else, by an effect that changes nothing, does not count.
fn acts(descriptor: &Descriptor, step: &Step) -> bool {
    let asks = |name: &str| descriptor.effects.iter().any(|effect| effect.name == name && !effect.changes);
    !step.changes.rows_stand_still() || step.changes.reached.keys().any(|name| !asks(name))
}

/// What a call did that is not among the effects.
fn beyond(descriptor: &Descriptor, step: &Step, case: Option<&str>, findings: &mut Findings) {
    let lists = |name: &str| descriptor.effects.iter().any(|effect| effect.name == name);
    let changes = &step.changes;
    let wrote = !changes.added.is_empty() || !changes.changed.is_empty();
    let writes = descriptor.effects.iter().any(|effect| effect.changes && effect.name != Removes::NAME);
    if wrote && !writes {
        findings.add(case, Rule::Beyond, format!("it wrote and lists no effect that may: {changes}"));
    }
    if !changes.removed.is_empty() && !descriptor.effects.iter().any(|effect| effect.removes) {
        findings.add(case, Rule::Beyond, format!("it removed and lists no effect that may: {changes}"));
    }
    for name in changes.reached.keys().filter(|name| !lists(name)) {
        findings.add(case, Rule::Beyond, format!("it reached out by `{name}`, which it does not list"));
    }
}

/// Whether a reply holds this value somewhere.
fn says(reply: &Json, value: &Json) -> bool {
    reply == value
        || match reply {
            Json::Array(items) => items.iter().any(|item| says(item, value)),
            Json::Object(fields) => fields.values().any(|field| says(field, value)),
            _ => false,
        }
}

struct Findings<'a> {
    tool: &'a str,
    list: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, case: Option<&str>, rule: Rule, what: String) {
        let case = case.map(str::to_owned);
        self.list.push(Finding { tool: self.tool.to_owned(), case, rule, what });
    }
}

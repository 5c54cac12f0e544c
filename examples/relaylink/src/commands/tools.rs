use std::sync::Arc;

use async_trait::async_trait;
use clap::{Args, builder::BoolishValueParser};
use relaylink_core::{
    relay::{Address, Clock, Name, Relay, SystemClock},
    store::{Request, Store, StoreError, Verdict, Work},
    tool::{Ceiling, Descriptor, Grade},
};
use serde_json::json;

use crate::{failure::Failure, home::Home, options::read, output};

/// Lists the tools: what each may do, what it hints, and what a key can do with it.
#[derive(Args)]
pub(crate) struct Tools {
    /// As JSON.
    #[arg(long, env = "RELAYLINK_JSON", value_parser = BoolishValueParser::new())]
    json: bool,
    /// What this key can do with each: the account's address and the key's name.
    #[arg(long, num_args = 2, value_names = ["EMAIL", "NAME"], env = "RELAYLINK_KEY")]
    key: Option<Vec<String>>,
}

impl Tools {
    pub(crate) async fn run(self, home: impl FnOnce() -> Result<Home, Failure>) -> Result<(), Failure> {
        let ceiling = match self.key.as_deref().map(named).transpose()? {
            Some((email, name)) => Some(ceiling_of(&home()?, email, name).await?),
            None => None,
        };
        let toolset = Relay::new(Arc::new(NoStore))?.toolset();
        let grade = |tool: &Descriptor| ceiling.as_ref().map(|ceiling| word(ceiling.grade(tool.effects)));
        if self.json {
            let tools = toolset.list().map(|tool| {
                json!({
                    "name": tool.name, "title": tool.title, "toolset": tool.room, "description": tool.description,
                    "effects": effects(tool), "annotations": tool.annotations, "declines": tool.declines,
                    "alwaysAsk": tool.always_ask, "key": grade(tool),
                })
            });
            return output::json(&tools.collect::<Vec<_>>());
        }
        let rows: Vec<_> = toolset
            .list()
            .map(|tool| {
                [
                    tool.name.to_owned(),
                    effects(tool).join(" "),
                    hints(tool).join(" "),
                    declines(tool),
                    grade(tool).unwrap_or_default().to_owned(),
                ]
            })
            .collect();
        let key = if ceiling.is_some() { "KEY" } else { "" };
        output::table(["TOOL", "EFFECTS", "HINTS", "DECLINES", key], &rows)
    }
}

/// The address and the name: two arguments, or the variable's one text, apart by a space or a comma.
fn named(key: &[String]) -> Result<(&str, &str), Failure> {
    match key {
        [email, name] => Some((email.as_str(), name.as_str())),
        [both] => both.trim().split_once([' ', '\t', ',']).map(|(email, name)| (email, name.trim())),
        _ => None,
    }
    .ok_or_else(|| {
        Failure::usage("the key is not named by an address and a name")
            .hint("Give both: --key EMAIL NAME, or RELAYLINK_KEY=\"EMAIL NAME\".")
    })
}

async fn ceiling_of(home: &Home, email: &str, name: &str) -> Result<Ceiling, Failure> {
    let email: Address = read(email).map_err(|error| Failure::usage(format!("--key {email}: {error}")))?;
    let name: Name = read(name).map_err(|error| Failure::usage(format!("--key {email} {name}: {error}")))?;
    let account = home.account(&email).await?;
    let key = home.key(&account, &name).await?;
    let nothing = match (key.revoked, key.expires) {
        (Some(when), _) => format!("was revoked at {when}"),
        (_, Some(when)) if when <= SystemClock.now() => format!("expired at {when}"),
        _ => return Ok(key.ceiling),
    };
    Err(Failure::new(format!("the key \"{name}\" {nothing} and can do nothing"))
        .hint(format!("Make another: relaylink key create {email} --name NAME")))
}

const fn word(grade: Grade) -> &'static str {
    match grade {
        Grade::Allow => "may",
        Grade::Stage => "may prepare",
        Grade::Refuse => "may not",
    }
}

fn effects(tool: &Descriptor) -> Vec<&'static str> {
    tool.effects.iter().map(|effect| effect.name).collect()
}

fn hints(tool: &Descriptor) -> Vec<&'static str> {
    let hints = tool.hints;
    [
        (hints.read_only, "read_only"),
        (hints.additive, "additive"),
        (hints.idempotent, "idempotent"),
        (hints.closed_world, "closed_world"),
    ]
    .into_iter()
    .filter_map(|(claimed, word)| claimed.then_some(word))
    .collect()
}

fn declines(tool: &Descriptor) -> String {
    let declines = tool.declines.iter().map(|decline| format!("{}: {}", decline.hint, decline.reason));
    declines.collect::<Vec<_>>().join("; ")
}

/// Describing the tools asks no store.
struct NoStore;

#[async_trait]
impl Store for NoStore {
    async fn transact(&self, _: Request, _: Work) -> Result<Verdict, StoreError> {
        Err(StoreError::Closed)
    }
}

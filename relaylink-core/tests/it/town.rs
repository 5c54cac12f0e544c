//! A world with people in it who are called by name: ana, ben, cara, dan and eve.

use std::{fmt::Write as _, ops::Deref, sync::Arc};

use async_trait::async_trait;
use relaylink_core::{
    relay::{Clock, Timestamp},
    store::Store,
    tool::{
        Caller, Ceiling, Code, Refusal, Toolset,
        audit::{self, State},
    },
};
use serde_json::{Value as Json, json};
use tokio::sync::OnceCell;

use crate::{
    place::Copied,
    world::{Hand, World},
};

/// The people there are: `ana` is `ana@example.org`, named Ana.
pub(crate) const PEOPLE: [&str; 5] = ["ana", "ben", "cara", "dan", "eve"];

/// A letter in the outbox.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mail {
    pub(crate) to: String,
    pub(crate) subject: String,
    pub(crate) body: String,
    pub(crate) about: String,
}

/// A world with the accounts of [`PEOPLE`].
pub(crate) struct Town {
    world: World,
    people: Vec<(&'static str, Caller)>,
}

/// A town set aside: it can be opened as often as wanted, each time as it was.
#[derive(Clone)]
pub(crate) struct Frozen {
    rows: Copied,
    now: Timestamp,
    people: Vec<(&'static str, Caller)>,
}

impl Frozen {
    /// Opens a town as it was. What is minted in it is the same each time.
    pub(crate) fn thaw(&self) -> Town {
        self.thaw_over(|store| store)
    }

    /// Likewise, its Relay over what `over` makes of its store.
    pub(crate) fn thaw_over(&self, over: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>) -> Town {
        let world = World::over(self.rows.place(), Hand::at(self.now), over, |relay| relay);
        world.dice.count_from(0);
        Town { world, people: self.people.clone() }
    }
}

impl Deref for Town {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Town {
    /// A store with the accounts of [`PEOPLE`] and nothing else.
    pub(crate) async fn new() -> Self {
        static PEOPLED: OnceCell<Frozen> = OnceCell::const_new();
        let peopled = PEOPLED.get_or_init(|| async {
            let mut town = Self { world: World::new(), people: Vec::new() };
            for name in PEOPLE {
                let caller = town.add(&address(name), &titled(name)).await;
                town.people.push((name, caller));
            }
            town.freeze()
        });
        peopled.await.thaw()
    }

    /// Sets a copy of it aside.
    pub(crate) fn freeze(&self) -> Frozen {
        let rows = self.place.copy();
        // Later than all that is in it, so that nothing is minted twice.
        self.clock.forward(1_000);
        Frozen { rows, now: self.clock.now(), people: self.people.clone() }
    }

    /// Puts clock and dice back to where they were when it was thawed, and leaves the store as it is.
    pub(crate) fn rewind(&self, to: &Frozen) {
        self.clock.set(to.now);
        self.dice.count_from(0);
    }

    /// Adds an account; its local person is who calls.
    pub(crate) async fn add(&self, address: &str, name: &str) -> Caller {
        let accounts = self.relay.accounts();
        let account = accounts.create_account(address.parse().unwrap(), name.parse().unwrap()).await.unwrap();
        Caller::local(account.id.as_str())
    }

    /// One of [`PEOPLE`], as the local person.
    pub(crate) fn caller(&self, who: &str) -> Caller {
        let found = self.people.iter().find(|(name, _)| *name == who);
        found.unwrap_or_else(|| panic!("{who} is not in town")).1.clone()
    }

    /// A new key of one of [`PEOPLE`] with this ceiling, and its caller.
    pub(crate) async fn key(&self, who: &str, name: &str, ceiling: Ceiling) -> Caller {
        self.world.key(&self.caller(who).account, name, ceiling).await
    }

    /// Calls a tool by name as one of [`PEOPLE`].
    pub(crate) async fn call(&self, who: &str, tool: &str, arguments: Json) -> Result<Json, Refusal> {
        self.world.call(&self.caller(who), tool, arguments).await
    }

    /// Calls a tool by name as this caller.
    pub(crate) async fn call_as(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: Json,
    ) -> Result<Json, Refusal> {
        self.world.call(caller, tool, arguments).await
    }

    /// Calls a tool that answers.
    pub(crate) async fn ok(&self, who: &str, tool: &str, arguments: Json) -> Json {
        let reply = self.call(who, tool, arguments.clone()).await;
        reply.unwrap_or_else(|refusal| panic!("{who} {tool} {arguments}: {refusal:?}"))
    }

    /// Calls a tool that refuses with this code and leaves everything as it was.
    pub(crate) async fn refused(&self, who: &str, tool: &str, arguments: Json, code: Code) -> Refusal {
        let before = self.rows();
        let reply = self.call(who, tool, arguments.clone()).await;
        let refusal = match reply {
            Err(refusal) => refusal,
            Ok(reply) => panic!("{who} {tool} {arguments}: {reply}"),
        };
        assert_eq!(refusal.code, code, "{who} {tool} {arguments}: {refusal:?}");
        let changes = before.changes_to(&self.rows());
        assert!(changes.is_empty(), "{who} {tool} {arguments} refused and changed {changes}");
        refusal
    }

    /// Makes two people contacts, as they would.
    pub(crate) async fn contacts(&self, asker: &str, other: &str) {
        let invited = self.ok(asker, "invite_contact", json!({ "email": address(other) })).await;
        self.ok(other, "accept_contact", json!({ "request": invited["request"] })).await;
    }

    /// Drafts a package and gives the draft's id.
    pub(crate) async fn draft(&self, from: &str, to: &[&str], subject: &str) -> String {
        let to: Vec<_> = to.iter().map(|name| address(name)).collect();
        let draft = json!({ "to": to, "subject": subject, "body": format!("The body of {subject}.") });
        text(&self.ok(from, "draft_package", draft).await["draft"])
    }

    /// Drafts and sends a package and gives the ids of the package and of its thread.
    pub(crate) async fn send(&self, from: &str, to: &[&str], subject: &str) -> (String, String) {
        let draft = self.draft(from, to, subject).await;
        let sent = self.ok(from, "confirm_send", json!({ "draft": draft })).await;
        (text(&sent["package"]), text(&sent["thread"]))
    }

    /// Every letter in the outbox, oldest first.
    pub(crate) fn mails(&self) -> Vec<Mail> {
        let rows = self.place.select("SELECT address, subject, body, about FROM outbox ORDER BY id");
        let mails = rows.iter().map(|row| Mail {
            to: text(&row["address"]),
            subject: text(&row["subject"]),
            body: text(&row["body"]),
            about: text(&row["about"]),
        });
        mails.collect()
    }

    /// The letters behind these.
    pub(crate) fn new_mails(&self, before: &[Mail]) -> Vec<Mail> {
        self.mails().into_iter().skip(before.len()).collect()
    }

    /// How many rows a table has.
    pub(crate) fn count(&self, table: &str) -> i64 {
        self.place.select(&format!("SELECT COUNT(*) AS rows FROM {table}"))[0]["rows"].as_i64().unwrap()
    }

    /// A text column of the first row of a table.
    pub(crate) fn first(&self, table: &str, column: &str) -> Option<String> {
        let rows = self.place.select(&format!("SELECT {column} AS found FROM {table} LIMIT 1"));
        rows.first().map(|row| text(&row["found"]))
    }

    /// Every row of every table, by table and key. Two are equal where nothing has changed.
    pub(crate) fn rows(&self) -> State {
        self.place.rows()
    }

    /// Writes down that one of [`PEOPLE`] has sent another so many packages just now.
    pub(crate) fn pretend_sent(&self, from: &str, to: &str, count: i64) {
        let (from, to) = (self.caller(from).account, self.caller(to).account);
        let now = self.clock.now().as_millis();
        let mut statements = String::from("BEGIN;");
        for n in 0..count {
            let id = format!("pkg_pretended{now}{n}");
            let _ = write!(
                statements,
                "INSERT INTO packages (id, thread, sender, sender_address, sender_name, sent, subject, body) \
                 VALUES ('{id}', '{id}', '{from}', '', '', {now}, '', ''); \
                 INSERT INTO deliveries (account, package, place, thread, sender, sender_key, sent, address) \
                 VALUES ('{to}', '{id}', 0, '{id}', '{from}', '', {now}, '');"
            );
        }
        self.place.execute(&(statements + "COMMIT"));
    }
}

#[async_trait]
impl audit::World for Town {
    /// Asked for before each call: time goes by between two, so one that moves a time is seen.
    fn toolset(&self) -> Toolset {
        self.clock.forward(60_000);
        self.relay.toolset()
    }

    async fn state(&self) -> State {
        self.rows()
    }
}

/// The address of one of [`PEOPLE`].
pub(crate) fn address(who: &str) -> String {
    format!("{who}@example.org")
}

fn titled(who: &str) -> String {
    let mut name = who.to_owned();
    name[..1].make_ascii_uppercase();
    name
}

/// An id of this kind that nobody has.
pub(crate) fn nobodys(prefix: &str) -> String {
    format!("{prefix}_{}", "0".repeat(26))
}

/// A string of a reply.
pub(crate) fn text(value: &Json) -> String {
    value.as_str().unwrap_or_else(|| panic!("a string, not {value}")).to_owned()
}

/// The objects of an array of a reply.
pub(crate) fn list(value: &Json) -> &[Json] {
    value.as_array().unwrap_or_else(|| panic!("an array, not {value}"))
}

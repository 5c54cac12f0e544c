//! Texts that another tool has just run, and leave that a tool gave itself.

use relaylink_core::{
    mail::Letter,
    memory::{MemoryAdd, MemoryForget},
    prelude::*,
    store::{Statement, StoreError, Value},
    tool::Caller,
};

use super::{Done, dump, open};
use crate::{place::file, rows};

fn count(folder: &tempfile::TempDir, query: &str) -> i64 {
    rows::read(&file(folder.path())).query_row(query, [], |row| row.get(0)).unwrap()
}

/// The text that a tool with Removes runs, from a place of its own in memory.
const DELETE_B: &str = "DELETE FROM engine_rows WHERE id = 'b'";

/// Deletes b.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Removes), hints(closed_world))]
struct DeletesB {}

impl Run for DeletesB {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        const STATEMENT: Remove = Remove::new(DELETE_B);
        tx.remove(&STATEMENT, &[])?;
        Ok(Done {})
    }
}

/// What `memory_forget` runs.
const FORGET: &str = "DELETE FROM memories WHERE account = ?1 AND id = ?2 RETURNING number";

/// Deletes a memory with the text that `memory_forget` runs, and may not.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct ForgetsUnasked {
    /// Which.
    memory: String,
}

impl Run for ForgetsUnasked {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        static STATEMENT: Statement = Statement::unchecked(FORGET);
        let parameters = [tx.account().into(), Value::from(&self.memory)];
        tx.session().query(&STATEMENT, &parameters)?;
        Ok(Done {})
    }
}

#[tokio::test]
async fn the_delete_that_memory_forget_has_just_run_is_refused_to_another() {
    let rows = include_str!("../../../src/memory/rows.rs");
    assert!(rows.contains(FORGET), "memory_forget runs another text now");
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let account = relay
        .accounts()
        .create_account("ana@example.org".parse().unwrap(), "Ana".parse().unwrap())
        .await
        .unwrap();
    let caller = Caller::local(account.id.as_str());
    let mut memories = Vec::new();
    for text in ["Ben prefers tea.", "Ben is away on Fridays."] {
        let add = MemoryAdd { text: text.into(), about: None, replaces: None };
        memories.push(relay.run(&caller, add).await.unwrap().memory);
    }
    relay.run(&caller, MemoryForget { memory: memories.remove(0) }).await.unwrap();
    let before = dump(&folder);
    assert_eq!(count(&folder, "SELECT count(*) FROM memories"), 1, "one memory is left");
    let memory = memories.remove(0).to_string();
    let stop = relay.run(&caller, ForgetsUnasked { memory }).await.map(drop).unwrap_err();
    assert!(matches!(stop, Stop::Store(StoreError::Denied("deletes rows"))), "{stop:?}");
    assert_eq!(dump(&folder), before);
}

/// Deletes b, with the same text, and may not.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct DeletesBUnasked {
    /// From the same place in memory, or from another.
    same_place: bool,
}

impl Run for DeletesBUnasked {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        static SAME: Statement = Statement::unchecked(DELETE_B);
        let statement: &'static Statement = if self.same_place {
            &SAME
        } else {
            Box::leak(Box::new(Statement::unchecked(Box::leak(DELETE_B.to_owned().into_boxed_str()))))
        };
        tx.session().execute(statement, &[])?;
        Ok(Done {})
    }
}

#[tokio::test]
async fn the_very_text_of_a_delete_that_was_just_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let caller = Caller::local("acc_ana");
    relay.run(&caller, DeletesB {}).await.unwrap();
    let before = dump(&folder);
    assert_eq!(count(&folder, "SELECT count(*) FROM engine_rows"), 1, "b is gone");
    for same_place in [true, false] {
        let stop = relay.run(&caller, DeletesBUnasked { same_place }).await.map(drop).unwrap_err();
        assert!(matches!(stop, Stop::Store(StoreError::Denied(_))), "{stop:?}");
    }
    assert_eq!(dump(&folder), before);
}

/// Says by hand that it may remove, which is not among its effects.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct Forges {}

impl May<Removes> for Forges {}
impl May<ExternalMail> for Forges {}

impl Run for Forges {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        const STATEMENT: Remove = Remove::new("DELETE FROM engine_rows");
        tx.remove(&STATEMENT, &[])?;
        Ok(Done {})
    }
}

/// Says by hand that it may mail.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct ForgesMail {}

impl May<ExternalMail> for ForgesMail {}

impl Run for ForgesMail {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        let to = "ben@example.org".parse().expect("an address");
        tx.mail(Letter::new(to, "Hello", "text", "pkg_1"))?;
        Ok(Done {})
    }
}

#[tokio::test]
async fn a_forged_may_opens_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let caller = Caller::local("acc_ana");
    let before = dump(&folder);
    let removed = relay.run(&caller, Forges {}).await.map(drop).unwrap_err();
    assert!(matches!(removed, Stop::Store(StoreError::Denied("deletes rows"))), "{removed:?}");
    let mailed = relay.run(&caller, ForgesMail {}).await.map(drop).unwrap_err();
    assert!(matches!(mailed, Stop::Store(StoreError::Denied("changes the outbox"))), "{mailed:?}");
    assert_eq!(dump(&folder), before);
}

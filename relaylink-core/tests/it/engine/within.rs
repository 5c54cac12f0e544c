//! A tool that has another do it.

use relaylink_core::{
    prelude::*,
    store::{Dialect, StoreError},
    tool::Caller,
};

use super::{
    Done,
    attempts::{ATTEMPTS, WritesAlone},
    dump, open,
};

/// Does all, and has another tool do it that may only write.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes, Removes, ExternalMail))]
struct Performs {
    /// Which attempt.
    attempt: u32,
    /// Goes on after a refusal of the other.
    swallows: bool,
}

impl Run for Performs {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        const STATEMENT: Write = Write::new("INSERT INTO engine_rows (id, n) VALUES ('outer', 8)");
        tx.write(&STATEMENT, &[])?;
        let inner = tx.perform(&WritesAlone { attempt: self.attempt, query: false });
        if self.swallows { Ok(Done {}) } else { inner }
    }
}

#[tokio::test]
async fn a_tool_within_another_is_held_to_its_own_effects_and_its_refusal_undoes_both() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let caller = Caller::local("acc_ana");
    let before = dump(&folder);
    for (at, attempt) in ATTEMPTS.iter().enumerate() {
        for swallows in [false, true] {
            let performs = Performs { attempt: u32::try_from(at).unwrap(), swallows };
            let stop = relay.run(&caller, performs).await.map(drop).unwrap_err();
            let right = match attempt.needs {
                "w" => matches!(&stop, Stop::Refused(refusal) if refusal.message == "done, and undone"),
                "e" => matches!(stop, Stop::Store(StoreError::Engine(_))),
                _ => matches!(stop, Stop::Store(StoreError::Denied(_))),
            };
            let text = attempt.statement.text(Dialect::Sqlite);
            // As an execution, a text that answers rows is an error of the engine.
            let answers = text.to_lowercase().contains("returning") || text.starts_with("SELECT");
            let engine = answers && matches!(stop, Stop::Store(StoreError::Engine(_)));
            assert!(right || engine, "{text}: {stop:?}");
        }
    }
    assert_eq!(dump(&folder), before);
}

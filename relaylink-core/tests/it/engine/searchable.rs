//! Rows that are searched, written by a tool that may delete nothing.

use futures_util::future::join_all;
use relaylink_core::{prelude::*, store::Value, tool::Caller};

use super::{Done, open};
use crate::{place::file, rows};

/// Writes rows that are searched, and removes nothing.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(closed_world))]
struct WritesTerms {
    /// Which row.
    row: u32,
    /// Overwrites it.
    update: bool,
}

impl Run for WritesTerms {
    type Reply = Done;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
        const INSERT: Write = Write::new("INSERT INTO memory_terms (rowid, terms) VALUES (?1, ?2)");
        const UPDATE: Write = Write::new("UPDATE memory_terms SET terms = ?2 WHERE rowid = ?1");
        let verb = if self.update { "changed" } else { "new" };
        let terms = format!("1~{verb} 1~word{} 1~common", self.row);
        let statement = if self.update { &UPDATE } else { &INSERT };
        let rows = tx.write(statement, &[Value::from(i64::from(self.row)), terms.into()])?;
        if rows == 1 { Ok(Done {}) } else { Err(Stop::refuse(Code::NotFound, "no such row")) }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_searchable_rows_are_written_without_leave_to_delete() {
    let folder = tempfile::tempdir().unwrap();
    let relay = open(&folder);
    let caller = Caller::local("acc_ana");
    for chunk in 0..50 {
        let inserts =
            (0..100).map(|n| relay.run(&caller, WritesTerms { row: 2 + chunk * 100 + n, update: false }));
        for done in join_all(inserts).await {
            done.unwrap();
        }
    }
    for chunk in 0..5 {
        let updates =
            (0..100).map(|n| relay.run(&caller, WritesTerms { row: 2 + chunk * 100 + n, update: true }));
        for done in join_all(updates).await {
            done.unwrap();
        }
    }
    drop(relay);
    let raw = rows::raw(&file(folder.path()));
    let count = |term: &str| -> i64 {
        raw.query_row("SELECT count(*) FROM memory_terms WHERE memory_terms MATCH ?1", [term], |row| {
            row.get(0)
        })
        .unwrap()
    };
    assert_eq!((count("\"1~common\""), count("\"1~new\""), count("\"1~changed\"")), (5_000, 4_500, 500));
    raw.execute("INSERT INTO memory_terms (memory_terms) VALUES ('integrity-check')", []).unwrap();
}

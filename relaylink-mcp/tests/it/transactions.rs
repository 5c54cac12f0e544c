//! Case 100: a panic within a transaction is an error result over either transport, and leaves nothing.

use std::sync::Arc;

use relaylink_core::{
    prelude::*,
    relay::Relay,
    store::{Value, sqlite::Sqlite},
    tool::Caller,
};
use relaylink_mcp::{Http, Server};
use serde_json::{Value as Json, json};

use crate::support::{Site, Wire, call, house::Everybody, refusal};

/// Write a row, and fall over before the end.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
#[serde(rename_all = "camelCase")]
struct Stumble {
    /// Whether to fall over.
    falls: bool,
}

/// How many rows there are.
#[derive(Serialize, JsonSchema)]
struct Rows {
    rows: i64,
}

impl Run for Stumble {
    type Reply = Rows;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Rows, Stop> {
        const PUT: Write = Write::new("INSERT INTO key_use (key, last_used) VALUES (?1, ?2)");
        const COUNT: Select = Select::new("SELECT count(*) FROM key_use");
        tx.write(&PUT, &[Value::from("x"), Value::from(1)])?;
        assert!(!self.falls, "a secret of the tool's insides");
        Ok(Rows { rows: tx.select(&COUNT, &[])?.remove(0).take(0)? })
    }
}

#[tokio::test]
async fn a_panic_within_a_transaction_is_a_refusal_and_undone_over_both_transports() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Sqlite::open(folder.path().join("relaylink.db")).unwrap());
    let relay = Relay::builder(store).tool::<Stumble>().build().unwrap();
    let ana = Caller::local("acc_ana");
    let server = Server::new(relay.toolset());
    let mut wire = Wire::opened(server.clone(), ana.clone()).await;
    let site = Site::serving(Http::new(&server).router(Everybody(ana)), Arc::default()).await;
    let falls = call(1, "stumble", &json!({ "falls": true }));
    for _ in 0..3 {
        let told = wire.ask(&falls).await;
        assert_eq!(site.ask(&falls).await, told);
        assert_eq!(refusal(&told)["code"], "unavailable");
        assert!(!told.to_string().contains("secret"), "{told}");
    }
    // The same row goes in once it does not fall over: nothing of the others stayed.
    let stands = |answer: Json| answer["result"]["structuredContent"]["rows"].clone();
    assert_eq!(stands(wire.ask(&call(2, "stumble", &json!({ "falls": false }))).await), 1);
    assert_eq!(refusal(&site.ask(&falls).await)["code"], "unavailable");
}

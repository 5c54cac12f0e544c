//! Case 38: one list, wherever it is asked for.

use std::sync::Arc;

use relaylink_mcp::Server;
use serde_json::{Value as Json, json};

use crate::support::{Site, Wire, request, tools};

fn names(answer: &Json) -> Vec<&str> {
    answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

async fn over_stdio(server: &Server) -> Json {
    let mut wire = Wire::opened(server.clone(), tools::ana()).await;
    wire.ask(&request(1, "tools/list", &json!({}))).await
}

#[tokio::test]
async fn the_list_is_byte_for_byte_the_catalogue_over_stdio_and_http() {
    let toolset = tools::toolset(&Arc::default());
    let list = request(1, "tools/list", &json!({}));
    let catalogue = serde_json::to_string(&toolset.list().collect::<Vec<_>>()).unwrap();
    let mut wire = Wire::opened(Server::new(toolset), tools::ana()).await;
    wire.say(&list).await;
    let over_stdio = wire.line().await;
    let over_http = Site::open().await.ask_with(&list, &[]).await.body;
    assert!(over_stdio.contains(&catalogue), "{over_stdio}\n{catalogue}");
    assert_eq!(over_stdio, over_http);
    assert!(!over_http.contains("nextCursor"), "one page");
}

#[tokio::test]
async fn every_tool_is_listed_as_the_toolset_describes_it() {
    let toolset = tools::toolset(&Arc::default());
    let server = Server::new(toolset.clone());
    let answer = over_stdio(&server).await;
    let listed = answer["result"]["tools"].as_array().unwrap();
    assert_eq!(listed.len(), toolset.list().count());
    for (tool, described) in listed.iter().zip(toolset.list()) {
        assert_eq!(*tool, described.to_json());
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint} of {}", described.name);
        }
    }
    let asked = listed.iter().find(|tool| tool["name"] == "throw_out").unwrap();
    assert_eq!(asked["annotations"]["title"], "Throw out (irreversible)");
    assert_eq!(asked["title"], "Throw out (irreversible)");
    assert_eq!(asked["_meta"], json!({"anthropic/requiresUserInteraction": true}));
    assert_eq!(listed[0].get("_meta"), None);
    assert_eq!(listed[0]["annotations"].get("title"), None);
}

#[tokio::test]
async fn a_key_is_shown_what_it_may_do_and_a_subset_what_is_in_it() {
    let site = Site::open().await;
    let list = request(1, "tools/list", &json!({}));
    assert!(names(&site.ask(&list).await).contains(&"throw_out"));
    let to_ben = site.ask_with(&list, &[("authorization", "Bearer ben-key")]).await.json();
    assert!(!names(&to_ben).contains(&"throw_out"));

    let toolset = tools::toolset(&Arc::default()).read_only();
    let server = Server::new(toolset);
    let mut wire = Wire::opened(server, tools::ana()).await;
    assert_eq!(names(&wire.ask(&list).await), names(&to_ben));
    let left_out = wire.ask(&request(2, "tools/call", &json!({"name": "throw_out"}))).await;
    assert_eq!(left_out["error"]["code"], -32602, "not there at all: {left_out}");
}

//! Case 102: clients that send `initialize`, and clients that say all in each request.

use rmcp::{ServiceExt, transport::StreamableHttpClientTransport};
use serde_json::{Value as Json, json};

use crate::support::{Site, Wire, initialize, request, tools};

const NEW: &str = "2026-07-28";

fn modern(id: u64, method: &str, params: &Json, version: &str) -> Json {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    request(id, method, &params)
}

async fn post(site: &Site, message: &Json, version: &str) -> Json {
    let method = message["method"].as_str().unwrap();
    let mut headers = vec![("mcp-protocol-version", version), ("mcp-method", method)];
    headers.extend(message["params"]["name"].as_str().map(|name| ("mcp-name", name)));
    site.ask_with(message, &headers).await.json()
}

#[tokio::test]
async fn every_version_that_has_initialize_is_agreed_to() {
    let site = Site::open().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let over_stdio = Wire::as_ana().ask(&initialize(version)).await;
        let over_http = site.ask(&initialize(version)).await;
        for answer in [over_stdio, over_http] {
            assert_eq!(answer["result"]["protocolVersion"], version);
            assert_eq!(answer["result"]["serverInfo"]["name"], "relaylink");
            assert!(answer["result"]["instructions"].as_str().unwrap().chars().count() < 600);
        }
    }
    let unknown = Wire::as_ana().ask(&initialize("1999-01-01")).await;
    assert_eq!(unknown["result"]["protocolVersion"], "2025-11-25", "the newest there is");
}

#[tokio::test]
async fn a_client_without_initialize_is_served() {
    let site = Site::open().await;
    let mut wire = Wire::as_ana();
    let discover = modern(1, "server/discover", &json!({}), NEW);
    for answer in [wire.ask(&discover).await, post(&site, &discover, NEW).await] {
        let versions = answer["result"]["supportedVersions"].as_array().unwrap();
        assert!(versions.contains(&json!(NEW)) && versions.contains(&json!("2025-06-18")), "{answer}");
    }
    let hello = modern(2, "tools/call", &json!({"name": "hello"}), NEW);
    for answer in [wire.ask(&hello).await, post(&site, &hello, NEW).await] {
        assert_eq!(answer["result"]["structuredContent"], json!({"text": "ana"}), "{answer}");
    }
}

#[tokio::test]
async fn an_unknown_version_is_told_which_there_are() {
    let site = Site::open().await;
    let listing = |answer: &Json| {
        assert_eq!(answer["error"]["code"], -32022, "{answer}");
        assert!(answer["error"]["data"]["supported"].as_array().unwrap().contains(&json!(NEW)), "{answer}");
    };
    let future = modern(1, "tools/list", &json!({}), "2099-01-01");
    let mut wire = Wire::as_ana();
    listing(&wire.ask(&future).await);
    listing(&post(&site, &future, "2099-01-01").await);
    let header = [("mcp-protocol-version", "2099-01-01")];
    let answer = site.ask_with(&request(1, "tools/list", &json!({})), &header).await;
    assert_eq!(answer.status, 400);
    listing(&answer.json());
    let after = modern(2, "tools/call", &json!({"name": "hello"}), NEW);
    assert_eq!(wire.ask(&after).await["result"]["structuredContent"]["text"], "ana", "the session goes on");
}

#[tokio::test]
async fn the_list_is_the_same_in_both_eras_and_on_every_connection() {
    let site = Site::open().await;
    let old = site.ask(&request(1, "tools/list", &json!({}))).await;
    let new = post(&site, &modern(1, "tools/list", &json!({}), NEW), NEW).await;
    assert_eq!(old["result"]["tools"], new["result"]["tools"]);
    assert_eq!(site.ask(&request(1, "tools/list", &json!({}))).await, old);
}

#[tokio::test]
async fn a_client_library_lists_and_calls() {
    let site = Site::open().await;
    let url = format!("http://{}/mcp", site.address);
    let config = rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig::with_uri(url)
        .auth_header("ana-key");
    let client = ().serve(StreamableHttpClientTransport::from_config(config)).await.unwrap();
    let listed = client.list_all_tools().await.unwrap();
    assert_eq!(listed.len(), tools::toolset(&site.bench).list().count());
    let called = client.call_tool(rmcp::model::CallToolRequestParams::new("hello")).await.unwrap();
    assert_eq!(called.structured_content, Some(json!({"text": "ana"})));
    client.cancel().await.unwrap();
}

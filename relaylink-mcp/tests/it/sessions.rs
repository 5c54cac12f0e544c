//! Cases 85 and 86: there are no sessions over HTTP.

use serde_json::json;

use crate::support::{Site, call, initialize, request};

#[tokio::test]
async fn no_session_is_issued_and_one_that_is_sent_is_ignored() {
    let site = Site::open().await;
    for _ in 0..20 {
        let answer = site.ask_with(&initialize("2025-06-18"), &[]).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("mcp-session-id"), None);
    }
    let old = [("mcp-session-id", "0f8fad5b-d9cb-469f-a165-70867728950e")];
    for message in
        [initialize("2025-06-18"), request(1, "tools/list", &json!({})), call(1, "hello", &json!({}))]
    {
        let answer = site.ask_with(&message, &old).await;
        assert_eq!(answer.status, 200, "{message}");
        assert!(answer.json().get("result").is_some(), "{message}");
    }
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(site.ask_with(&told, &[]).await.status, 202);
}

#[tokio::test]
async fn other_methods_are_405() {
    let site = Site::open().await;
    for method in ["GET", "DELETE", "PUT", "HEAD"] {
        let answer = site.send(method, &[("mcp-session-id", "x")], b"").await;
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.header("allow").unwrap().contains("POST"), "{method}");
    }
}

//! Cases 31 and 100, malformed params, refusals: what a call is answered, alike on both transports.

use std::sync::atomic::Ordering;

use serde_json::{Value as Json, json};

use crate::support::{Site, Wire, call, refusal, request};

/// One client over each transport.
struct Both {
    wire: Wire,
    site: Site,
}

impl Both {
    async fn open() -> Self {
        Self { wire: Wire::opened_as_ana().await, site: Site::open().await }
    }

    /// The one answer that both give.
    async fn ask(&mut self, message: &Json) -> Json {
        let over_stdio = self.wire.ask(message).await;
        let over_http = self.site.ask(message).await;
        assert_eq!(over_stdio, over_http, "{message}");
        over_stdio
    }
}

#[tokio::test]
async fn a_reply_is_structured_and_the_same_as_text() {
    let mut both = Both::open().await;
    let answer = both.ask(&call(1, "echo", &json!({"text": "grüße"}))).await;
    let result = &answer["result"];
    assert_eq!(result["structuredContent"], json!({"text": "grüße"}));
    assert_eq!(result["isError"], false);
    let text: Json = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
}

#[tokio::test]
async fn missing_and_null_arguments_are_none() {
    let mut both = Both::open().await;
    for params in [json!({"name": "hello"}), json!({"name": "hello", "arguments": null})] {
        let answer = both.ask(&request(1, "tools/call", &params)).await;
        assert_eq!(answer["result"]["structuredContent"], json!({"text": "ana"}), "{params}");
    }
    let answer = both.ask(&request(2, "tools/call", &json!({"name": "echo"}))).await;
    let refusal = refusal(&answer);
    assert_eq!(refusal["code"], "invalid_argument");
    assert!(refusal.to_string().contains("text"), "names the field: {refusal}");
}

#[tokio::test]
async fn malformed_params_of_a_known_method_are_invalid_params() {
    let mut both = Both::open().await;
    for (method, params) in [
        ("tools/call", json!({"name": "hello", "arguments": []})),
        ("tools/call", json!({"name": "hello", "arguments": "{}"})),
        ("tools/call", json!({"name": 7})),
        ("tools/call", json!({})),
        ("tools/call", json!([])),
        ("tools/list", json!({"cursor": "made up"})),
    ] {
        let answer = both.ask(&request(1, method, &params)).await;
        assert_eq!(answer["error"]["code"], -32602, "{method} {params}: {answer}");
    }
    let answer = both.ask(&request(1, "tools/forget", &json!({}))).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

#[tokio::test]
async fn what_a_call_lacks_is_said_in_words() {
    let mut both = Both::open().await;
    let without = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"});
    for (message, words) in [
        (without, "send an object with the tool's `name`"),
        (request(1, "tools/call", &json!({})), "`name`, the tool to call, is missing"),
        (request(1, "tools/call", &json!({"name": 7})), "`name` must be a string"),
        (
            request(1, "tools/call", &json!({"name": "hello", "arguments": []})),
            "`arguments` must be an object",
        ),
        (
            request(1, "tools/call", &json!({"name": "hello", "requestState": 7})),
            "a member has the wrong type",
        ),
    ] {
        let answer = both.ask(&message).await;
        assert_eq!(answer["error"]["code"], -32602, "{message}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{message}: {answer}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_invalid_params() {
    let mut both = Both::open().await;
    let answer = both.ask(&call(1, "nothing_of_the_kind", &json!({}))).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("nothing_of_the_kind"));
}

#[tokio::test]
async fn a_refusal_is_a_result_with_its_object_as_text() {
    let mut both = Both::open().await;
    let answer = both.ask(&call(1, "refuses", &json!({}))).await;
    let expected = json!({
        "code": "stale", "message": "The page has changed.", "field": "page", "hint": "Read it again.",
    });
    assert_eq!(refusal(&answer), expected);
}

#[tokio::test]
async fn a_panic_is_a_refusal_without_its_text_and_the_server_goes_on() {
    let mut both = Both::open().await;
    for _ in 0..3 {
        let answer = both.ask(&call(1, "panics", &json!({}))).await;
        assert_eq!(refusal(&answer)["code"], "unavailable");
        assert!(!answer.to_string().contains("secret"), "{answer}");
    }
    let answer = both.ask(&call(2, "echo", &json!({"text": "still here"}))).await;
    assert_eq!(answer["result"]["structuredContent"]["text"], "still here");
}

#[tokio::test]
async fn a_tool_beyond_the_ceiling_is_refused_before_it_starts() {
    let site = Site::open().await;
    let throw = call(1, "throw_out", &json!({}));
    let answer = site.ask_with(&throw, &[("authorization", "Bearer ben-key")]).await;
    assert_eq!(refusal(&answer.json())["code"], "not_permitted");
    assert_eq!(site.bench.gone.load(Ordering::SeqCst), 0);
    assert_eq!(site.ask(&throw).await["result"]["structuredContent"]["text"], "gone");
    assert_eq!(site.bench.gone.load(Ordering::SeqCst), 1);
}

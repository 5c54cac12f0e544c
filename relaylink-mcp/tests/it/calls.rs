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

    /// The one answer that both give to this text; the session goes on.
    async fn ask_in(&mut self, text: &str) -> Json {
        self.wire.bytes(format!("{text}\n").as_bytes()).await;
        let over_stdio = self.wire.hear().await.unwrap();
        let over_http = self.site.send("POST", &[], text.as_bytes()).await;
        assert_eq!(over_stdio, over_http.json(), "{text}");
        assert_eq!(over_http.status, if over_stdio["id"].is_null() { 400 } else { 200 }, "{text}");
        let after = self.ask(&call(77, "echo", &json!({"text": "next"}))).await;
        assert_eq!(
            (&after["id"], &after["result"]["structuredContent"]["text"]),
            (&json!(77), &json!("next"))
        );
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
async fn metadata_of_another_type_are_invalid_params_under_the_requests_id() {
    let mut both = Both::open().await;
    for method in ["tools/call", "tools/list", "ping", "initialize", "nothing/known"] {
        for meta in ["5", "[]", "\"x\"", "true"] {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":"a","method":"{method}","params":{{"name":"hello","_meta":{meta}}}}}"#
            );
            let answer = both.ask_in(&text).await;
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("a"), &json!(-32602)), "{text}");
            assert!(answer["error"]["message"].as_str().unwrap().contains("`_meta`"), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_member_that_is_there_twice_is_an_invalid_request_under_no_id() {
    let mut both = Both::open().await;
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"\u0069d":1,"method":"tools/call","params":{"name":"throw_out"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"throw_out"},"params":{"name":"hello"}}"#,
    ] {
        let answer = both.ask_in(text).await;
        assert!(answer.as_object().unwrap().contains_key("id"), "the id is written: {answer}");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Json::Null, &json!(-32600)), "{text}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("twice"), "{answer}");
    }
    assert_eq!(both.site.bench.gone.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_cannot_be_held_is_answered_under_the_requests_id() {
    let mut both = Both::open().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (value, words) in [
        ("1e309", "params.arguments.text cannot be read: number out of range"),
        ("[{\"a\": [1, -1e400]}]", "params.arguments.text[0].a[1] cannot be read: number out of range"),
        ("\"\\ud800\"", "params.arguments.text cannot be read: "),
        ("\"\\udc00 \"", "a surrogate without its other half is no character"),
        (&*deep, "recursion limit exceeded"),
    ] {
        for id in ["7", "\"a\""] {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":{value}}}}}}}"#
            );
            let answer = both.ask_in(&text).await;
            let start: String = text.chars().take(140).collect();
            assert_eq!(
                (answer["id"].to_string(), &answer["error"]["code"]),
                (id.to_owned(), &json!(-32602)),
                "{start}"
            );
            assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{start}: {answer}");
        }
    }
    // Beside the params it is no request, and within the id there is none.
    for (text, id, code) in [
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","more":1e309}"#, json!(3), -32600),
        (r#"{"jsonrpc":"2.0","id":1e309,"method":"ping"}"#, Json::Null, -32700),
        (r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":{"a":1e309}"#, Json::Null, -32700),
    ] {
        let answer = both.ask_in(text).await;
        assert_eq!((&answer["id"], answer["error"]["code"].as_i64()), (&id, Some(code)), "{text}");
    }
}

#[tokio::test]
async fn a_byte_order_mark_is_passed_over() {
    let mut both = Both::open().await;
    let text = format!("\u{feff}{}", call(5, "echo", &json!({"text": "\u{feff}marked"})));
    let answer = both.ask_in(&text).await;
    assert_eq!(answer["result"]["structuredContent"]["text"], "\u{feff}marked");
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

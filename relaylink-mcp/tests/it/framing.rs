//! Cases 95 and 98: lines on stdio.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::time::sleep;

use crate::support::{Wire, call, initialize, request};

const LIMIT: usize = relaylink_mcp::limits::MESSAGE_BYTES;

async fn still_serves(wire: &mut Wire) {
    let answer = wire.ask(&call(77, "echo", &json!({"text": "next"}))).await;
    assert_eq!((&answer["id"], &answer["result"]["structuredContent"]["text"]), (&json!(77), &json!("next")));
}

#[tokio::test]
async fn a_bad_line_is_answered_and_the_session_goes_on() {
    let mut wire = Wire::opened_as_ana().await;
    for (line, code) in [
        (&b"hello\n"[..], -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"\xff\"}}}\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"else\":\"\xc3\x28\"}\n", -32700),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n", -32600),
        (b"[]\n", -32600),
    ] {
        wire.bytes(line).await;
        let answer = wire.hear().await.unwrap();
        assert!(answer.as_object().unwrap().contains_key("id"), "the id is written: {answer}");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Json::Null, &json!(code)), "{answer}");
        still_serves(&mut wire).await;
    }
}

#[tokio::test]
async fn bad_lines_before_the_first_request_do_no_harm() {
    let mut wire = Wire::as_ana();
    wire.bytes(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\nhello\n\n").await;
    assert_eq!(wire.hear().await.unwrap()["error"]["code"], -32700);
    let ping = request(3, "ping", &json!({}));
    assert_eq!(wire.ask(&ping).await["result"], json!({}));
    wire.bytes(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":3}}\n",
    )
    .await;
    assert_eq!(wire.ask(&initialize("2025-06-18")).await["result"]["protocolVersion"], "2025-06-18");
    still_serves(&mut wire).await;
}

#[tokio::test]
async fn marks_and_blank_lines_are_passed_over() {
    let mut wire = Wire::as_ana();
    wire.bytes(b"\r\n\n  \n\xEF\xBB\xBF").await;
    let answer = wire.ask(&initialize("2025-06-18")).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    wire.bytes(format!("\u{feff}{}\r\n\r\n", call(5, "echo", &json!({"text": "crlf"}))).as_bytes()).await;
    assert_eq!(wire.hear().await.unwrap()["result"]["structuredContent"]["text"], "crlf");
}

#[tokio::test]
async fn writes_are_not_messages() {
    let mut wire = Wire::opened_as_ana().await;
    for byte in format!("{}\n", call(1, "echo", &json!({"text": "ü bit by bit"}))).as_bytes() {
        wire.bytes(&[*byte]).await;
        sleep(Duration::from_micros(100)).await;
    }
    assert_eq!(wire.hear().await.unwrap()["result"]["structuredContent"]["text"], "ü bit by bit");
    let two = format!("{}\n{}\n", request(2, "ping", &json!({})), request(3, "ping", &json!({})));
    wire.bytes(two.as_bytes()).await;
    let mut ids = [wire.hear().await.unwrap()["id"].as_u64(), wire.hear().await.unwrap()["id"].as_u64()];
    ids.sort_unstable();
    assert_eq!(ids, [Some(2), Some(3)]);
}

#[tokio::test]
async fn a_line_over_the_limit_is_passed_over() {
    let mut wire = Wire::opened_as_ana().await;
    let long = call(1, "echo", &json!({"text": "x".repeat(LIMIT)}));
    let answer = wire.ask(&long).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Json::Null, &json!(-32600)));
    assert!(answer["error"]["message"].as_str().unwrap().contains(&LIMIT.to_string()), "{answer}");
    still_serves(&mut wire).await;
    let text = "x".repeat(3 * 1024 * 1024);
    let answer = wire.ask(&call(2, "echo", &json!({"text": text}))).await;
    assert_eq!(answer["result"]["structuredContent"]["text"].as_str().map(str::len), Some(text.len()));
}

#[tokio::test]
async fn a_flood_of_bad_lines_that_nobody_reads_the_answers_of_is_not_read_on() {
    let mut wire = Wire::opened_as_ana().await;
    let mut written = 0_usize;
    let flood = async {
        loop {
            wire.bytes(&b"nonsense\n".repeat(1000)).await;
            written += 9000;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(1), flood).await.is_err());
    // What fits into the pipes either way, and the answers that may wait.
    assert!(written < 200_000, "{written} bytes were read");
}

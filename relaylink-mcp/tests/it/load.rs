//! Case 93, and the bounds on what is held at one time.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::body::{Body, to_bytes};
use relaylink_core::tool::Toolset;
use relaylink_mcp::{Http, Server, limits};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};
use tower::ServiceExt;

use crate::support::{
    Site, Wire, call, refusal, request,
    site::{Keys, answer, head, kept},
    tools,
};

#[tokio::test]
async fn no_more_calls_run_than_are_allowed_and_all_are_answered() {
    let bench = Arc::default();
    let server = Server::new(tools::toolset(&bench)).in_flight(4);
    let mut wire = Wire::opened(server, tools::ana()).await;
    for id in 1..=100 {
        wire.say(&call(id, "slow", &json!({"millis": 5}))).await;
    }
    let mut ids = Vec::new();
    for _ in 0..100 {
        let answer = wire.hear().await.unwrap();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        ids.push(answer["id"].as_u64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=100).collect::<Vec<_>>());
    assert_eq!(bench.most.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn beyond_those_that_may_wait_a_call_is_refused_at_once() {
    let server = tools::server().in_flight(1);
    let mut wire = Wire::opened(server, tools::ana()).await;
    wire.say(&call(0, "slow", &json!({"millis": 60_000}))).await;
    let many = limits::WAITING as u64 + 1;
    for id in 1..=many {
        wire.say(&call(id, "echo", &json!({"text": "x"}))).await;
    }
    let answer = wire.hear().await.unwrap();
    assert_eq!(refusal(&answer)["code"], "unavailable");
    assert_eq!(
        wire.ask(&request(9999, "ping", &json!({}))).await["id"],
        9999,
        "what is no call needs no place"
    );
}

#[tokio::test]
async fn a_call_given_up_while_it_waits_never_starts() {
    let bench = Arc::default();
    let server = Server::new(tools::toolset(&bench)).in_flight(1);
    let mut wire = Wire::opened(server, tools::ana()).await;
    wire.say(&call(1, "slow", &json!({"millis": 300}))).await;
    wire.say(&call(2, "throw_out", &json!({}))).await;
    wire.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}))
        .await;
    assert_eq!(wire.hear().await.unwrap()["id"], 1);
    assert_eq!(wire.ask(&call(3, "echo", &json!({"text": "x"}))).await["id"], 3);
    assert_eq!(bench.gone.load(Ordering::SeqCst), 0);
}

/// A connection on which a large answer is asked for again and again, and not a byte of it read.
async fn stuck(site: &Site) -> TcpStream {
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    let request = kept(&call(1, "large", &json!({"bytes": 500_000})));
    stream.write_all(request.repeat(20).as_bytes()).await.unwrap();
    stream
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_is_dropped() {
    let site = Site::open().await;
    let mut client = stuck(&site).await;
    sleep(Duration::from_secs(1)).await;
    let asked = site.bench.large.load(Ordering::SeqCst);
    sleep(limits::STALLED * 2).await;
    let mut taken = Vec::new();
    // The end, or a reset: not the twenty answers that were asked for.
    let _ = timeout(Duration::from_secs(1), client.read_to_end(&mut taken)).await.expect("dropped");
    assert!(taken.len() < 9_000_000 && asked < 20, "{} bytes of {asked} answers", taken.len());
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_brings_nothing_is_dropped() {
    let site = Site::open().await;
    let mut client = TcpStream::connect(site.address).await.unwrap();
    let patience = limits::IDLE + Duration::from_secs(5);
    assert_eq!(timeout(patience, client.read(&mut [0])).await.unwrap().unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_408() {
    let site = Site::open().await;
    let begun = head("POST", &[]) + "content-length: 100\r\n\r\n{";
    let mut client = TcpStream::connect(site.address).await.unwrap();
    client.write_all(begun.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    timeout(limits::BODY * 2, client.read_to_end(&mut bytes)).await.unwrap().unwrap();
    assert_eq!(answer(&bytes).status, 408);
}

#[tokio::test]
async fn an_answer_keeps_its_place_until_its_last_bytes_are_let_go() {
    let server = tools::server();
    let app = Http::new(&server).router(Keys);
    let ask = || {
        let request = ::http::Request::post("/mcp")
            .header("host", "localhost")
            .header("authorization", "Bearer ana-key")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(call(1, "echo", &json!({"text": "x"})).to_string());
        let app = app.clone();
        async move {
            to_bytes(app.oneshot(request.unwrap().map(Body::from)).await.unwrap().into_body(), 1000).await
        }
    };
    let mut answers = Vec::new();
    for _ in 0..limits::REQUESTS {
        answers.push(ask().await.unwrap());
    }
    let mut next = std::pin::pin!(ask());
    assert!(timeout(Duration::from_millis(200), &mut next).await.is_err(), "one too many");
    answers.pop();
    assert!(timeout(Duration::from_secs(10), next).await.unwrap().is_ok());
}

#[test]
fn instructions_stay_under_six_hundred_characters() {
    let with = |length| Server::new(Toolset::default()).instructions(&"é".repeat(length));
    assert!(with(599).is_ok());
    let error = with(600).err().map(|error| error.to_string());
    assert!(error.unwrap().contains("600 characters"));
}

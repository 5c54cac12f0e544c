//! Case 91: the size and shape of bodies.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{
    Site, call,
    site::{answer, head},
};

#[tokio::test]
async fn three_megabytes_are_served() {
    let site = Site::open().await;
    let text = "x".repeat(3 * 1024 * 1024);
    let answer = site.ask(&call(1, "echo", &json!({"text": text}))).await;
    assert_eq!(answer["result"]["structuredContent"]["text"].as_str().map(str::len), Some(text.len()));
}

#[tokio::test]
async fn half_a_gigabyte_is_413_at_once() {
    let site = Site::open().await;
    let started = Instant::now();
    let announced = head("POST", &[]) + "content-length: 524288000\r\n\r\n";
    assert_eq!(site.raw(announced.as_bytes()).await.status, 413);
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn a_body_without_a_length_is_413_once_it_is_over_the_limit() {
    let site = Site::open().await;
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    let started = head("POST", &[]) + "transfer-encoding: chunked\r\n\r\n";
    stream.write_all(started.as_bytes()).await.unwrap();
    let (mut read, mut write) = stream.into_split();
    let sending = tokio::spawn(async move {
        let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000)).into_bytes();
        let mut sent = 0;
        while sent < 500 * 1024 * 1024 && write.write_all(&chunk).await.is_ok() {
            sent += 0x10000;
        }
        sent
    });
    let mut bytes = vec![0; 1024];
    let length = read.read(&mut bytes).await.unwrap();
    assert_eq!(answer(&bytes[..length]).status, 413);
    drop(read);
    let sent = sending.await.unwrap();
    assert!(sent < 32 * 1024 * 1024, "stopped soon after the limit, not after {sent} bytes");
}

#[tokio::test]
async fn what_is_no_request_is_told_so_in_the_protocols_words() {
    let site = Site::open().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (body, code) in [
        ("not json", -32700),
        ("", -32700),
        (&*deep, -32700),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        ("7", -32600),
    ] {
        let answer = site.send("POST", &[], body.as_bytes()).await;
        let start: String = body.chars().take(20).collect();
        assert_eq!(answer.status, 400, "{start}");
        let answer = answer.json();
        assert_eq!((&answer["id"], answer["error"]["code"].as_i64()), (&Json::Null, Some(code)), "{start}");
    }
    let well = site.ask(&call(1, "echo", &json!({"text": "well"}))).await;
    assert_eq!(well["result"]["structuredContent"]["text"], "well");
}

//! Cases 85 and 93: what clients can make the server hold. A program of its own, and one test at a time,
//! since what is measured is the memory of the whole process.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{sync::atomic::Ordering, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Mutex,
    task::JoinSet,
    time::{sleep, timeout},
};

#[expect(dead_code, unused_imports, reason = "shared with the suite beside this one, which uses the rest")]
mod support;

use support::{Site, call, initialize, site};

static ALONE: Mutex<()> = Mutex::const_new(());

/// Memory in use by this process, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_never_say_goodbye_leave_nothing_behind() {
    let _alone = ALONE.lock().await;
    let site = Site::open().await;
    for _ in 0..500 {
        site.ask(&initialize("2025-06-18")).await;
    }
    let before = resident();
    for _ in 0..5000 {
        site.ask(&initialize("2025-06-18")).await;
    }
    // Some do say goodbye: to a session that there never was.
    for _ in 0..200 {
        site.ask(&initialize("2025-06-18")).await;
        assert_eq!(site.send("DELETE", &[("mcp-session-id", "x")], b"").await.status, 405);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 * 1024 * 1024, "{grown} bytes for 5,000 clients");
}

/// Clients that ask for much and take little of it.
const CLIENTS: usize = 50;
/// Answers that each of them asks for, without waiting for any.
const ANSWERS: usize = 200;
/// What an answer says. It is sent twice in it: structured, and as text.
const LENGTH: usize = 500_000;
/// What the server may hold for them: of each, the answer that is being sent and the one after it.
const HELD: usize = CLIENTS * 2 * (2 * LENGTH);
/// How long anybody else may wait meanwhile: much less than it takes until a slow client is dropped.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks for all the answers, and takes a hundred bytes a second of them, or nothing.
async fn slow(mut stream: TcpStream, takes: bool) {
    let request = site::kept(&call(1, "large", &json!({"bytes": LENGTH})));
    let (mut read, mut write) = stream.split();
    let asks = async {
        // A server that does not read on takes them later, or never.
        let _ = write.write_all(request.repeat(ANSWERS).as_bytes()).await;
    };
    let reads = async {
        while takes && read.read_exact(&mut [0; 10]).await.is_ok() {
            sleep(Duration::from_millis(100)).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::join!(asks, reads);
}

/// Waits until no more answers are made: all that fits is on its way.
async fn stuck(site: &Site) -> usize {
    let mut made = 0;
    loop {
        sleep(Duration::from_secs(1)).await;
        let now = site.bench.large.load(Ordering::SeqCst);
        if now == made && now >= CLIENTS {
            return made;
        }
        made = now;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_take_little_cost_little_and_hold_up_nobody() {
    let _alone = ALONE.lock().await;
    let site = Site::open().await;
    let echo = call(1, "echo", &json!({"text": "well"}));
    site.ask(&echo).await;
    let before = resident();
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(slow(TcpStream::connect(site.address).await.unwrap(), client % 2 == 0));
    }
    let made = timeout(Duration::from_mins(2), stuck(&site)).await.unwrap();
    assert!(made < CLIENTS * ANSWERS / 2, "{made} answers went out to clients that take none");
    let mut most = 0;
    for _ in 0..100 {
        let well = timeout(PATIENCE, site.ask(&echo)).await.unwrap();
        assert_eq!(well["result"]["structuredContent"]["text"], "well");
        most = most.max(resident().saturating_sub(before));
    }
    assert!(most < HELD, "{most} bytes for {CLIENTS} clients");
}

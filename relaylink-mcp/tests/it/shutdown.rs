//! Cases 94 and 97: the end of a session, and of the server.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use relaylink_core::{
    mail::{Answer, Courier, LetterState, MemoryMailer},
    relay::SystemClock,
};
use relaylink_mcp::Server;
use serde_json::{Value as Json, json};
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::support::{
    House, Site, Wire, call, initialize,
    site::{answered, head, post},
    tools,
};

#[tokio::test]
async fn input_that_ends_at_once_ends_the_session_at_once() {
    let mut wire = Wire::as_ana();
    wire.hang_up().await;
    assert_eq!(wire.hear().await, None);
    timeout(Duration::from_secs(2), wire.session).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_pending_answer_is_written_before_the_session_ends() {
    let mut wire = Wire::opened_as_ana().await;
    wire.say(&call(1, "slow", &json!({"millis": 500}))).await;
    wire.bytes(b"nonsense\n").await;
    wire.hang_up().await;
    assert_eq!(wire.hear().await.unwrap()["error"]["code"], -32700);
    assert_eq!(wire.hear().await.unwrap()["result"]["structuredContent"]["text"], "at last");
    assert_eq!(wire.hear().await, None);
    timeout(Duration::from_secs(2), wire.session).await.unwrap().unwrap().unwrap();
}

/// All is answered, and the session ends well.
async fn ends(mut wire: Wire, answers: &[fn(&Json) -> bool]) {
    wire.hang_up().await;
    let mut heard = Vec::new();
    while let Some(answer) = wire.hear().await {
        heard.push(answer);
    }
    assert_eq!(heard.len(), answers.len(), "{heard:?}");
    for is in answers {
        assert!(heard.iter().any(is), "{heard:?}");
    }
    timeout(Duration::from_secs(2), wire.session).await.unwrap().unwrap().unwrap();
}

fn opened(answer: &Json) -> bool {
    answer["id"] == 0 && answer["result"]["protocolVersion"] == "2025-06-18"
}

fn first(answer: &Json) -> bool {
    answer["id"] == 1 && answer["result"]["structuredContent"]["text"] == "one"
}

fn last(answer: &Json) -> bool {
    answer["id"] == 2 && answer["result"]["structuredContent"]["text"] == "two"
}

fn no_json(answer: &Json) -> bool {
    answer["id"].is_null() && answer["error"]["code"] == -32700
}

#[tokio::test]
async fn a_last_line_without_its_end_is_answered() {
    let opening = initialize("2025-06-18");
    let one = call(1, "echo", &json!({"text": "one"}));
    let two = call(2, "echo", &json!({"text": "two"}));
    for (input, answers) in [
        (format!("{opening}"), &[opened as fn(&Json) -> bool] as &[_]),
        (format!("{opening}\n{two}"), &[opened, last]),
        (format!("{opening}\n{one}\n{two}"), &[opened, first, last]),
        (format!("{opening}\n{one}\nnonsense"), &[opened, first, no_json]),
        ("nonsense".to_owned(), &[no_json]),
    ] {
        let mut wire = Wire::as_ana();
        wire.bytes(input.as_bytes()).await;
        ends(wire, answers).await;
    }
}

#[tokio::test]
async fn a_last_line_that_comes_in_pieces_is_answered() {
    let mut wire = Wire::opened_as_ana().await;
    wire.say(&call(1, "echo", &json!({"text": "one"}))).await;
    for piece in call(2, "echo", &json!({"text": "two"})).to_string().as_bytes().chunks(7) {
        wire.bytes(piece).await;
        sleep(Duration::from_millis(2)).await;
    }
    ends(wire, &[first, last]).await;
}

#[tokio::test]
async fn a_client_that_is_gone_in_the_middle_of_a_line_ends_the_session() {
    let mut wire = Wire::opened_as_ana().await;
    wire.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth").await;
    sleep(Duration::from_millis(20)).await;
    let session = wire.gone();
    timeout(Duration::from_secs(2), session).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_session_that_is_told_to_stop_writes_what_is_ready_and_stops() {
    let bench = Arc::default();
    let mut wire = Wire::opened(Server::new(tools::toolset(&bench)), tools::ana()).await;
    wire.say(&call(1, "slow", &json!({"millis": 300}))).await;
    until(|| bench.running.load(Ordering::SeqCst) == 1).await;
    wire.stop();
    assert_eq!(wire.hear().await.unwrap()["id"], 1);
    timeout(Duration::from_secs(3), wire.session).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_answers_what_runs_and_stops() {
    let mut site = Site::open().await;
    // Three connections that are open and say nothing.
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(TcpStream::connect(site.address).await.unwrap());
    }
    let address = site.address;
    let running = post(address, &call(1, "slow", &json!({"millis": 1000}))).await;
    until(|| site.bench.running.load(Ordering::SeqCst) == 1).await;
    let started = Instant::now();
    site.stop();
    assert_eq!(answered(running).await.json()["result"]["structuredContent"]["text"], "at last");
    timeout(Duration::from_secs(10), site.serving).await.unwrap().unwrap().unwrap();
    assert!(started.elapsed() < Duration::from_secs(5), "idle connections hold nothing up");
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

/// As the program joins them: the server, and the courier who is told once the server stops.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn told_to_stop_with_a_call_a_mail_and_open_requests() {
    let house = House::build().await;
    let mailer = MemoryMailer::new();
    mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Stall]);
    let clock = Arc::new(SystemClock);
    let courier = Courier::new(Arc::clone(&house.store), Arc::new(mailer.clone()), clock, house.post.clone());
    let bench = Arc::default();
    let toolset = house.relay.toolset().merge(&tools::toolset(&bench)).unwrap();
    let mut site = house.serve(toolset, bench).await;
    let stop = CancellationToken::new();
    let mailing = tokio::spawn({
        let (courier, stop) = (courier.clone(), stop.clone());
        async move { courier.run(stop.cancelled_owned()).await }
    });

    let invited = site.ask(&call(1, "invite_contact", &json!({"email": "ben@example.org"}))).await;
    assert_eq!(invited["result"]["isError"], false, "{invited}");
    until(|| mailer.attempts().len() == 1).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        stream.write_all((head("POST", &[]) + "content-length: 100\r\n\r\n{").as_bytes()).await.unwrap();
        open.push(stream);
    }
    let slow = post(site.address, &call(2, "slow", &json!({"millis": 1000}))).await;
    until(|| site.bench.running.load(Ordering::SeqCst) == 1).await;

    let started = Instant::now();
    site.stop();
    stop.cancel();
    assert_eq!(answered(slow).await.json()["result"]["structuredContent"]["text"], "at last");
    let ended = async { tokio::join!(site.serving, mailing) };
    let (serving, mailing) = timeout(Duration::from_secs(10), ended).await.expect("both end");
    serving.unwrap().unwrap();
    mailing.unwrap().unwrap();
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());

    // Nobody knows whether it went, so it goes again when told to, and once.
    let letters = courier.outbox().list(None, None, 10).await.unwrap();
    assert_eq!((letters.len(), letters[0].state, letters[0].attempts), (1, LetterState::Unknown, 1));
    assert_eq!(courier.drain().await.unwrap().sent, 0);
    courier.outbox().resend(&letters[0].id).await.unwrap();
    assert_eq!(courier.drain().await.unwrap().sent, 1);
    assert_eq!(mailer.attempts_of(&letters[0].message_id), 2);
}

async fn until(done: impl Fn() -> bool) {
    let waiting = async {
        while !done() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), waiting).await.expect("it comes to that");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_ends_does_not_keep_the_server_up() {
    let mut site = Site::open().await;
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all((head("POST", &[]) + "content-length: 100\r\n\r\n{").as_bytes()).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    site.stop();
    timeout(Duration::from_secs(10), site.serving).await.unwrap().unwrap().unwrap();
}

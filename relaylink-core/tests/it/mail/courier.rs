//! Couriers at work: each letter once, none delayed by another, and the end when they are told.

use std::{sync::Arc, time::Duration};

use relaylink_core::{
    mail::{Answer, Courier, CourierError, DirectoryMailer, LetterState, Pace, Trouble},
    relay::SystemClock,
};

use super::{Bench, tally, to, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_couriers_on_one_file_send_each_letter_once() {
    let bench = Bench::new();
    let other = bench.place.open();
    for n in 0..100 {
        bench.queue(to(&format!("ben{n}@example.org"))).await.unwrap();
    }
    // Four at a time, 250 ms each: the whole outlasts a lease, which is 5 s.
    bench.mailer.delay(Duration::from_millis(250));
    let pace = Pace {
        in_flight: 1,
        send_timeout: Duration::from_secs(2),
        lease_margin: Duration::from_secs(3),
        ..Pace::default()
    };
    let mut couriers = tokio::task::JoinSet::new();
    for store in [Arc::clone(&bench.store), other] {
        for _ in 0..2 {
            let mailer = Arc::new(bench.mailer.clone());
            let courier =
                Courier::new(Arc::clone(&store), mailer, Arc::new(SystemClock), bench.post.clone()).at(pace);
            couriers.spawn(async move { courier.drain().await.unwrap() });
        }
    }
    let began = std::time::Instant::now();
    let tallies = couriers.join_all().await;
    assert!(began.elapsed() > Duration::from_secs(5), "the whole did not outlast a lease");
    assert_eq!(tallies.iter().map(|tally| tally.sent).sum::<usize>(), 100);
    assert!(tallies.iter().all(|tally| tally.unknown == 0), "one gave up another's attempts: {tallies:?}");
    assert!(tallies.iter().all(|tally| tally.sent > 10), "one did nearly all: {tallies:?}");
    for letter in bench.listed(None).await {
        assert_eq!((letter.state, letter.attempts), (LetterState::Sent, 1));
        assert_eq!(bench.mailer.attempts_of(&letter.message_id), 1);
    }
    assert_eq!(bench.mailer.attempts().len(), 100);
}

#[tokio::test]
async fn a_mailer_that_stalls_or_panics_delays_no_other_and_leaves_its_letter_unknown() {
    let bench = Bench::new();
    bench.mailer.answer(&"stall@example.org".parse().unwrap(), [Answer::Stall]);
    bench.mailer.answer(&"panic@example.org".parse().unwrap(), [Answer::Panic]);
    for address in ["stall@example.org", "panic@example.org"] {
        bench.queue(to(address)).await.unwrap();
    }
    for n in 0..30 {
        bench.queue(to(&format!("ben{n}@example.org"))).await.unwrap();
    }
    let pace = Pace { in_flight: 2, send_timeout: Duration::from_secs(5), ..Pace::default() };
    let courier = bench.courier(pace);
    let draining = tokio::spawn(async move { courier.drain().await.unwrap() });
    until(|| bench.mailer.sent().len() == 31).await;
    assert!(!draining.is_finished(), "the others were to go while one stalled");
    assert_eq!(draining.await.unwrap(), tally(30, 0, 0, 2));
    let mut unknown = bench.listed(Some(LetterState::Unknown)).await;
    unknown.sort_by(|a, b| b.to.as_str().cmp(a.to.as_str()));
    let addresses: Vec<_> = unknown.iter().map(|letter| letter.to.as_str()).collect();
    assert_eq!(addresses, ["stall@example.org", "panic@example.org"]);
    assert!(unknown.iter().all(|letter| letter.trouble == Some(Trouble::NoAnswer)));
    assert_eq!(unknown[0].detail.as_deref(), Some("the mailer did not answer in 5 seconds"));

    bench.wait(Duration::from_hours(24));
    assert_eq!(bench.courier(pace).drain().await, Ok(tally(0, 0, 0, 0)));
}

#[tokio::test]
async fn a_courier_at_work_is_woken_by_the_commit_and_ends_when_told() {
    let bench = Bench::new();
    // It would sleep for an hour if nobody woke it.
    let courier = bench.courier(Pace { poll: Duration::from_hours(1), ..Pace::default() });
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move { courier.run(async { drop(stopped.await) }).await });
    for n in 1..=3 {
        bench.queue(to("ben@example.org")).await.unwrap();
        until(|| bench.mailer.sent().len() == n).await;
    }
    // One that is under way when it is told to stop is finished and written down.
    bench.mailer.delay(Duration::from_millis(300));
    bench.queue(to("ben@example.org")).await.unwrap();
    until(|| bench.mailer.attempts().len() == 4).await;
    stop.send(()).unwrap();
    assert_eq!(running.await.unwrap(), Ok(()));
    assert!(bench.listed(None).await.iter().all(|letter| letter.state == LetterState::Sent));
}

#[tokio::test]
async fn a_courier_told_to_stop_waits_for_no_mailer_that_stalls() {
    let bench = Bench::new();
    bench.mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Stall]);
    bench.queue(to("ben@example.org")).await.unwrap();
    let courier = bench.courier(Pace { stop: Duration::from_millis(500), ..Pace::default() });
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move { courier.run(async { drop(stopped.await) }).await });
    until(|| bench.mailer.attempts().len() == 1).await;
    stop.send(()).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(5), running).await;
    assert_eq!(ended.expect("it waits").unwrap(), Ok(()));
    let letter = bench.only().await;
    assert_eq!(letter.state, LetterState::Unknown);
    assert_eq!(letter.detail.as_deref(), Some("the program ended before the mailer answered"));
}

#[test]
fn outside_a_runtime_a_courier_says_so() {
    let bench = Bench::new();
    let courier = bench.courier(Pace::default());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let drained = std::pin::pin!(courier.drain()).poll(&mut context);
    assert_eq!(drained, std::task::Poll::Ready(Err(CourierError::NoRuntime)));
    let ran = std::pin::pin!(courier.run(std::future::pending())).poll(&mut context);
    assert_eq!(ran, std::task::Poll::Ready(Err(CourierError::NoRuntime)));
}

#[tokio::test]
async fn a_mailer_of_files_writes_one_an_attempt() {
    let bench = Bench::new();
    let folder = tempfile::tempdir().unwrap();
    let mailer = DirectoryMailer::new(folder.path().join("mail"));
    let courier = bench.courier_for(Arc::new(mailer.clone()), Pace::default());
    for n in 0..20 {
        bench.queue(to(&format!("ben{n}@example.org"))).await.unwrap();
    }
    assert_eq!(courier.drain().await, Ok(tally(20, 0, 0, 0)));
    let mut names: Vec<_> = std::fs::read_dir(mailer.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut expected: Vec<_> = bench
        .listed(None)
        .await
        .iter()
        .map(|letter| format!("{}.1.eml", letter.message_id.trim_matches(['<', '>'])))
        .collect();
    expected.sort();
    assert_eq!(names, expected);
}

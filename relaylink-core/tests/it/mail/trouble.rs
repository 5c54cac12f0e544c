//! Letters that cannot go now, or never, or of which it is not known.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use relaylink_core::{
    mail::{Answer, CourierError, LetterState, Mailer, Message, OutboxError, Pace, SendError, Trouble},
    relay::Clock,
    store::{Store, StoreError},
};

use super::{Bench, tally, to, until};
use crate::faulty::{Fault, Faulty};

#[tokio::test]
async fn what_cannot_go_now_goes_later_and_no_sooner() {
    let bench = Bench::new();
    bench.mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Temporary, Answer::Temporary]);
    bench.queue(to("ben@example.org")).await.unwrap();
    let courier = bench.courier(Pace::default());
    for wait in [30, 60] {
        assert_eq!(courier.drain().await, Ok(tally(0, 1, 0, 0)));
        let letter = bench.only().await;
        assert_eq!((letter.state, letter.trouble), (LetterState::Waiting, Some(Trouble::Temporary)));
        assert_eq!(letter.detail.as_deref(), Some("451 try again later"));
        assert_eq!(letter.due, bench.clock.now().plus_millis(wait * 1_000));
        bench.wait(Duration::from_millis(u64::try_from(wait).unwrap() * 1_000 - 1));
        assert_eq!(courier.drain().await, Ok(tally(0, 0, 0, 0)));
        bench.wait(Duration::from_millis(1));
    }
    assert_eq!(courier.drain().await, Ok(tally(1, 0, 0, 0)));
    let letter = bench.only().await;
    assert_eq!((letter.state, letter.trouble, letter.attempts), (LetterState::Sent, None, 3));
    assert_eq!(letter.settled, Some(bench.clock.now()));
    let attempts = bench.mailer.attempts();
    assert!(attempts.iter().all(|message| message.message_id == letter.message_id));
    assert_eq!(attempts.iter().map(|message| message.attempt).collect::<Vec<_>>(), [1, 2, 3]);
}

#[tokio::test]
async fn a_letter_that_could_never_go_has_failed_in_the_end() {
    let bench = Bench::new();
    bench.mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Temporary; 9]);
    bench.queue(to("ben@example.org")).await.unwrap();
    let courier = bench.courier(Pace { attempts_max: 3, ..Pace::default() });
    for _ in 0..2 {
        assert_eq!(courier.drain().await, Ok(tally(0, 1, 0, 0)));
        bench.wait(Duration::from_hours(1));
    }
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 1, 0)));
    let letter = bench.only().await;
    assert_eq!((letter.state, letter.trouble), (LetterState::Failed, Some(Trouble::Temporary)));
    assert_eq!(bench.mailer.attempts().len(), 3);
}

#[tokio::test]
async fn a_refusal_for_good_is_final_and_shown() {
    let bench = Bench::new();
    bench.mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Permanent]);
    bench.queue(to("ben@example.org")).await.unwrap();
    let courier = bench.courier(Pace::default());
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 1, 0)));
    bench.wait(Duration::from_hours(24));
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 0, 0)));
    let letter = bench.only().await;
    assert_eq!((letter.state, letter.trouble), (LetterState::Failed, Some(Trouble::Permanent)));
    assert_eq!(letter.detail.as_deref(), Some("550 no such person"));
    assert_eq!(bench.mailer.attempts().len(), 1);
}

#[tokio::test]
async fn a_courier_lost_in_the_middle_of_an_attempt_leaves_its_letter_unknown_and_only_a_word_resends_it() {
    let bench = Bench::new();
    bench.mailer.answer(&"ben@example.org".parse().unwrap(), [Answer::Stall]);
    bench.queue(to("ben@example.org")).await.unwrap();
    let pace = Pace::default();
    let lost = bench.courier(pace);
    let draining = tokio::spawn(async move { lost.drain().await });
    until(|| bench.mailer.attempts().len() == 1).await;
    draining.abort();
    assert!(draining.await.unwrap_err().is_cancelled());

    let courier = bench.courier(pace);
    let outbox = courier.outbox();
    bench.wait((pace.send_timeout + pace.lease_margin).checked_sub(Duration::from_millis(1)).unwrap());
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 0, 0)));
    let letter = bench.only().await;
    assert_eq!(letter.state, LetterState::Waiting);
    let early = outbox.resend(&letter.id).await;
    assert_eq!(early, Err(OutboxError::NotOver(letter.id.clone(), LetterState::Waiting)));

    bench.wait(Duration::from_millis(1));
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 0, 1)));
    bench.wait(Duration::from_hours(24));
    assert_eq!(courier.drain().await, Ok(tally(0, 0, 0, 0)));
    assert_eq!(bench.only().await.state, LetterState::Unknown);
    assert_eq!(bench.mailer.attempts_of(&letter.message_id), 1);

    assert_eq!(outbox.resend(&letter.id).await, Ok(()));
    assert_eq!(courier.drain().await, Ok(tally(1, 0, 0, 0)));
    assert_eq!(bench.mailer.attempts_of(&letter.message_id), 2);
    assert_eq!(bench.only().await.state, LetterState::Sent);
    let late = outbox.resend(&letter.id).await;
    assert_eq!(late, Err(OutboxError::NotOver(letter.id.clone(), LetterState::Sent)));
}

#[tokio::test]
async fn a_store_that_loses_an_answer_costs_no_letter_and_sends_none_twice() {
    let mut faulty = None;
    let bench = Bench::over(|store| Arc::clone(faulty.insert(Faulty::over(store))) as Arc<dyn Store>);
    let faulty = faulty.unwrap();
    bench.queue(to("ben@example.org")).await.unwrap();
    let courier = bench.courier(Pace::default());
    // The claim's answer, and the next one's.
    for _ in 0..2 {
        faulty.set(Fault::LostWrites(1));
        assert_eq!(courier.drain().await, Err(CourierError::Store(StoreError::Unknown)));
    }
    assert_eq!(bench.mailer.attempts().len(), 0);
    // Those of the record alone: the mailer is slow enough to have them set.
    bench.mailer.delay(Duration::from_millis(300));
    let draining = tokio::spawn(async move { courier.drain().await });
    until(|| bench.mailer.attempts().len() == 1).await;
    faulty.set(Fault::LostWrites(3));
    assert_eq!(draining.await.unwrap(), Ok(tally(1, 0, 0, 0)));
    assert_eq!(faulty.fault(), Fault::LostWrites(0), "the record was written before they were lost");
    let letter = bench.only().await;
    assert_eq!((letter.state, letter.attempts), (LetterState::Sent, 1));
    assert_eq!(bench.mailer.attempts().len(), 1);
}

/// Refuses everything as an outage would.
struct Away;

#[async_trait]
impl Mailer for Away {
    async fn send(&self, _: &Message) -> Result<(), SendError> {
        Err(SendError::Temporary("no connection".into()))
    }
}

#[tokio::test]
async fn an_outage_keeps_the_queue_whole() {
    let bench = Bench::new();
    for n in 0..20 {
        bench.queue(to(&format!("ben{n}@example.org"))).await.unwrap();
    }
    let away = bench.courier_for(Arc::new(Away), Pace::default());
    for _ in 0..5 {
        assert_eq!(away.drain().await, Ok(tally(0, 20, 0, 0)));
        bench.wait(Duration::from_mins(10));
    }
    assert_eq!(bench.courier(Pace::default()).drain().await, Ok(tally(20, 0, 0, 0)));
    let (outbox, mut after, mut seen) = (away.outbox(), None, 0);
    loop {
        let page = outbox.list(None, after.as_ref(), 7).await.unwrap();
        seen += page.len();
        assert!(page.iter().all(|letter| letter.state == LetterState::Sent));
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
    }
    assert_eq!(seen, 20);
}

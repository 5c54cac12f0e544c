//! A slow mailer neither delays a call nor repeats a mail: mail goes out apart from the calls.

use std::{sync::Arc, time::Duration};

use relaylink_core::{
    mail::{Answer, Courier, LetterState, MemoryMailer, Pace, Post, Trouble},
    relay::SystemClock,
};
use serde_json::json;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::town::{Town, address, text};

/// As long as a call may take beside a mailer that stalls: nothing beside that stall itself.
const AT_ONCE: Duration = Duration::from_secs(3);

/// A courier of this town at work, with a mailer of which the test knows.
fn at_work(town: &Town, mailer: &MemoryMailer, pace: Pace) -> JoinHandle<()> {
    let mailer = Arc::new(mailer.clone());
    let courier = Courier::new(Arc::clone(&town.store), mailer, Arc::new(SystemClock), Post::default());
    let courier = courier.at(pace);
    tokio::spawn(async move { courier.run(std::future::pending()).await.unwrap() })
}

async fn attempts(mailer: &MemoryMailer, who: &str, count: usize) {
    let of = || mailer.attempts().iter().filter(|message| message.to.as_str() == address(who)).count();
    timeout(Duration::from_secs(10), async {
        while of() < count {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
    assert_eq!(of(), count);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn confirm_send_answers_at_once_while_the_mailer_stalls_and_a_retry_sends_nothing_more() {
    let town = Town::new().await;
    town.contacts("ana", "ben").await;
    let mailer = MemoryMailer::new();
    // It would be tried again at once, if it were.
    let pace = Pace {
        send_timeout: Duration::from_secs(1),
        retry_first: Duration::from_millis(1),
        ..Pace::default()
    };
    let courier = at_work(&town, &mailer, pace);
    // The mail that asked Ben is out; the one that follows hangs for ever.
    attempts(&mailer, "ben", 1).await;
    mailer.answer(&address("ben").parse().unwrap(), [Answer::Stall]);
    let draft = town.draft("ana", &["ben"], "Budget").await;
    let confirm = || timeout(AT_ONCE, town.ok("ana", "confirm_send", json!({ "draft": draft })));
    let sent = confirm().await.expect("the call waits for no mailer");
    attempts(&mailer, "ben", 2).await;
    // A client whose patience is over asks again, twice.
    for _ in 0..2 {
        assert_eq!(confirm().await.expect("nor does a retry"), sent);
    }
    let status = town.ok("ana", "thread_status", json!({ "thread": sent["thread"] })).await;
    assert_eq!(status["packages"].as_array().unwrap().len(), 1);
    // The stall comes to its end: nobody knows whether it went, and nobody sends it again.
    let about = text(&sent["package"]);
    let letter = timeout(Duration::from_secs(10), async {
        loop {
            let letters = town.letters().await;
            let letter = letters.into_iter().find(|letter| letter.about == about).unwrap();
            if letter.state != LetterState::Waiting {
                return letter;
            }
            sleep(Duration::from_millis(20)).await;
        }
    });
    let letter = letter.await.expect("an attempt ends");
    assert_eq!((letter.state, letter.trouble), (LetterState::Unknown, Some(Trouble::NoAnswer)));
    assert_eq!(confirm().await.expect("nor does one after the end"), sent);
    // The courier has looked for mail since: what is queued now goes.
    town.ok("ana", "invite_contact", json!({ "email": address("cara") })).await;
    attempts(&mailer, "cara", 1).await;
    attempts(&mailer, "ben", 2).await;
    let letter = town.letters().await.into_iter().find(|letter| letter.about == about).unwrap();
    assert_eq!((letter.state, letter.attempts), (LetterState::Unknown, 1));
    assert_eq!((town.count("packages"), town.count("deliveries")), (1, 1));
    courier.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_are_answered_while_many_sends_stall() {
    let town = Arc::new(Town::new().await);
    town.contacts("ana", "ben").await;
    let mailer = MemoryMailer::new();
    mailer.delay(Duration::from_mins(1));
    let courier = at_work(&town, &mailer, Pace::default());
    let mut sends = Vec::new();
    for n in 0..8 {
        let draft = town.draft("ana", &["ben"], &format!("Draft {n}")).await;
        let town = Arc::clone(&town);
        sends.push(tokio::spawn(async move {
            text(&town.ok("ana", "confirm_send", json!({ "draft": draft })).await["package"])
        }));
    }
    let reads = async {
        for _ in 0..8 {
            town.ok("ana", "list_contacts", json!({})).await;
        }
        for send in sends {
            send.await.unwrap();
        }
    };
    timeout(AT_ONCE, reads).await.expect("no lock is held while the mailer is slow");
    attempts(&mailer, "ben", 1).await;
    assert_eq!(town.count("packages"), 8);
    courier.abort();
}

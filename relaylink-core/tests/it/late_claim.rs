//! Claims that nobody hears of in time: the answer is lost, or does not come, and the claim lands later,
//! as on a database elsewhere.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use relaylink_core::{
    mail::{Courier, MemoryMailer, Post},
    relay::Clock,
    store::{Access, Request, Store, StoreError, Verdict, Work},
};
use serde_json::json;

use crate::town::{Town, address};

/// Holds the first work back that changes something: says that its answer is lost, or says nothing.
struct Holds {
    store: Arc<dyn Store>,
    next: Mutex<bool>,
    answers: bool,
    held: Mutex<Option<(Request, Work)>>,
}

#[async_trait]
impl Store for Holds {
    async fn transact(&self, request: Request, work: Work) -> Result<Verdict, StoreError> {
        let changes = request.access != Access::READ;
        if changes && std::mem::take(&mut *self.next.lock().unwrap()) {
            *self.held.lock().unwrap() = Some((request, work));
            return if self.answers { Err(StoreError::Unknown) } else { std::future::pending().await };
        }
        self.store.transact(request, work).await
    }
}

impl Holds {
    async fn land(&self) {
        let (request, work) = self.held.lock().unwrap().take().unwrap();
        assert_eq!(self.store.transact(request, work).await, Ok(Verdict::Commit));
    }
}

/// A courier over the town's store, whose first claim is held back.
fn courier(town: &Town, answers: bool) -> (Courier, Arc<Holds>, MemoryMailer) {
    let store = Arc::clone(&town.store);
    let holds = Arc::new(Holds { store, next: Mutex::new(true), answers, held: Mutex::default() });
    let (mailer, clock) = (MemoryMailer::new(), Arc::new(town.clock.clone()));
    let courier = Courier::new(holds.clone(), Arc::new(mailer.clone()), clock, Post::default());
    (courier, holds, mailer)
}

async fn invite(town: &Town, who: &str) {
    town.ok("ana", "invite_contact", json!({ "email": address(who) })).await;
}

#[tokio::test]
async fn a_claim_that_lands_after_it_was_taken_back_costs_no_letter() {
    let town = Town::new().await;
    let (courier, store, mailer) = courier(&town, true);
    let start = town.clock.now();
    invite(&town, "ben").await;
    courier.drain().await.unwrap_err();
    assert_eq!(courier.drain().await.unwrap().sent, 1, "it is claimed anew");
    // Due by the clock of the claim, which takes it.
    town.clock.set(start);
    invite(&town, "cara").await;
    store.land().await;
    assert_eq!(courier.outbox().list(None, None, 9).await.unwrap()[1].attempts, 1);
    let tally = courier.drain().await.unwrap();
    assert_eq!((tally.sent, tally.unknown), (1, 0), "what landed late is taken back and sent");
    let to: Vec<_> = mailer.sent().iter().map(|message| message.to.to_string()).collect();
    assert_eq!(to, [address("ben"), address("cara")]);
}

#[tokio::test]
async fn a_courier_told_to_stop_waits_for_no_claim_that_hangs_and_takes_it_back_when_it_works_again() {
    let town = Town::new().await;
    let (courier, store, mailer) = courier(&town, false);
    invite(&town, "ben").await;
    // Waits until the claim hangs, and a moment.
    let told = async {
        while store.held.lock().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let ended = tokio::time::timeout(Duration::from_secs(10), courier.run(told)).await;
    assert_eq!(ended, Ok(Ok(())), "a program is to be gone in ten seconds");
    store.land().await;
    assert_eq!(mailer.attempts().len(), 0);
    let tally = courier.drain().await.unwrap();
    assert_eq!((tally.sent, tally.unknown), (1, 0));
}

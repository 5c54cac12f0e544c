//! A claim whose answer was lost and that lands later, as on a database elsewhere.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use relaylink_core::{
    mail::{Courier, MemoryMailer, Post},
    relay::Clock,
    store::{Access, Request, Store, StoreError, Verdict, Work},
};
use serde_json::json;

use crate::town::{Town, address};

/// Holds the first work back that does everything, and says that its answer is lost.
struct Holds {
    store: Arc<dyn Store>,
    next: Mutex<bool>,
    held: Mutex<Option<(Request, Work)>>,
}

#[async_trait]
impl Store for Holds {
    async fn transact(&self, request: Request, work: Work) -> Result<Verdict, StoreError> {
        let changes = request.access != Access::READ;
        if changes && std::mem::take(&mut *self.next.lock().unwrap()) {
            *self.held.lock().unwrap() = Some((request, work));
            return Err(StoreError::Unknown);
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

#[tokio::test]
async fn a_claim_that_lands_after_it_was_taken_back_costs_no_letter() {
    let town = Town::new().await;
    let store =
        Arc::new(Holds { store: Arc::clone(&town.store), next: Mutex::new(true), held: Mutex::default() });
    let mailer = MemoryMailer::new();
    let clock = Arc::new(town.clock.clone());
    let courier = Courier::new(store.clone(), Arc::new(mailer.clone()), clock, Post::default());
    let invite = async |who| town.ok("ana", "invite_contact", json!({ "email": address(who) })).await;

    let start = town.clock.now();
    invite("ben").await;
    courier.drain().await.unwrap_err();
    assert_eq!(courier.drain().await.unwrap().sent, 1, "it is claimed anew");
    // Due by the clock of the claim, which takes it.
    town.clock.set(start);
    invite("cara").await;
    store.land().await;
    assert_eq!(courier.outbox().list(None, None, 9).await.unwrap()[1].attempts, 1);
    let tally = courier.drain().await.unwrap();
    assert_eq!((tally.sent, tally.unknown), (1, 0), "what landed late is taken back and sent");
    let to: Vec<_> = mailer.sent().iter().map(|message| message.to.to_string()).collect();
    assert_eq!(to, [address("ben"), address("cara")]);
}

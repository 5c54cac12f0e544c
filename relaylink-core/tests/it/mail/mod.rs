//! Every letter of a committed call goes out once, or is shown as what it is.

mod courier;
mod letters;
mod trouble;

use std::{ops::Deref, sync::Arc, time::Duration};

use relaylink_core::{
    mail::{Courier, Letter, LetterState, Listed, Mailer, MemoryMailer, Pace, Post, Tally},
    prelude::*,
    store::Store,
    tool::Caller,
};

use crate::{
    place::Place,
    world::{Hand, World},
};

/// Mails somebody, and may think better of it.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(ExternalMail))]
struct Mails {
    /// Where to.
    to: String,
    /// About what.
    subject: String,
    /// What.
    body: String,
    /// Refuses once the letter is queued.
    refuse: bool,
}

#[derive(Serialize, JsonSchema)]
struct Queued {}

impl Run for Mails {
    type Reply = Queued;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Queued, Stop> {
        let to = self.to.parse().map_err(|error| {
            Stop::refuse(Code::InvalidArgument, relaylink_core::relay::AddressError::to_string(&error))
        })?;
        tx.mail(Letter::new(to, &self.subject, &self.body, "pkg_1"))?;
        if self.refuse {
            return Err(Stop::refuse(Code::Conflict, "on second thoughts"));
        }
        Ok(Queued {})
    }
}

fn to(address: &str) -> Mails {
    Mails { to: address.into(), subject: "Hello".into(), body: "text".into(), refuse: false }
}

/// A world with a tool that mails, and a mailer of which the test knows.
struct Bench {
    world: World,
    /// What the Relay and its couriers have.
    store: Arc<dyn Store>,
    post: Post,
    mailer: MemoryMailer,
}

impl Deref for Bench {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Bench {
    fn new() -> Self {
        Self::over(|store| store)
    }

    fn over(over: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>) -> Self {
        let post = Post::new("RelayLink", "relay@relay.example.org".parse().unwrap());
        let mut used = None;
        let over = |store| Arc::clone(used.insert(over(store)));
        let world =
            World::over(Place::new(), Hand::new(), over, |relay| relay.post(post.clone()).tool::<Mails>());
        Self { world, store: used.unwrap(), post, mailer: MemoryMailer::new() }
    }

    async fn queue(&self, mails: Mails) -> Result<(), Stop> {
        self.run(&Caller::local("acc_ana"), mails).await.map(drop)
    }

    /// So much time goes by.
    fn wait(&self, time: Duration) {
        self.clock.forward(time.as_millis().try_into().unwrap());
    }

    fn courier(&self, pace: Pace) -> Courier {
        self.courier_for(Arc::new(self.mailer.clone()), pace)
    }

    fn courier_for(&self, mailer: Arc<dyn Mailer>, pace: Pace) -> Courier {
        Courier::new(Arc::clone(&self.store), mailer, Arc::new(self.clock.clone()), self.post.clone())
            .at(pace)
    }

    async fn listed(&self, state: Option<LetterState>) -> Vec<Listed> {
        self.courier(Pace::default()).outbox().list(state, None, 100).await.unwrap()
    }

    async fn only(&self) -> Listed {
        let mut listed = self.listed(None).await;
        assert_eq!(listed.len(), 1);
        listed.remove(0)
    }
}

fn tally(sent: usize, waiting: usize, failed: usize, unknown: usize) -> Tally {
    let mut tally = Tally::default();
    (tally.sent, tally.waiting, tally.failed, tally.unknown) = (sent, waiting, failed, unknown);
    tally
}

/// Waits until it is so, for ten seconds at most.
async fn until(what: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if what() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to be");
}

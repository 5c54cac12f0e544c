//! A Relay over a store that is always closed: for what must be decided before there is a transaction.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use relaylink_core::{
    relay::Relay,
    store::{Request, Store, StoreError, Verdict, Work},
};

/// Counts the transactions it is asked for and opens none.
#[derive(Default)]
pub(crate) struct Nowhere(AtomicUsize);

impl Nowhere {
    /// The transactions asked for so far.
    pub(crate) fn asked(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[async_trait::async_trait]
impl Store for Nowhere {
    async fn transact(&self, _: Request, _: Work) -> Result<Verdict, StoreError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Err(StoreError::Closed)
    }
}

/// The Relay with all its tools, and its store.
pub(crate) fn relay() -> (Relay, Arc<Nowhere>) {
    let store = Arc::new(Nowhere::default());
    (Relay::new(Arc::clone(&store) as Arc<dyn Store>).unwrap(), store)
}

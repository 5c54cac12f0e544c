use std::sync::{Arc, Mutex, PoisonError};

use crate::store::{Access, Request, Session, Store, StoreError, Verdict, Work};

/// The account that the mail room's own transactions are filed under: a lane beside the accounts' own.
const LANE: &str = "mail";

/// Runs a work of the mail room in one transaction and gives its answer.
pub(super) async fn transact<R: Send + 'static>(
    store: &dyn Store,
    access: Access,
    run: impl Fn(&mut dyn Session) -> Result<R, StoreError> + Send + 'static,
) -> Result<R, StoreError> {
    let slot = Arc::new(Mutex::new(None));
    let filled = Arc::clone(&slot);
    let work: Work = Box::new(move |session| {
        let result = run(session);
        let verdict = if result.is_ok() { Verdict::Commit } else { Verdict::Rollback };
        *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        verdict
    });
    store.transact(Request::new(access, LANE), work).await?;
    let result = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.unwrap_or(Err(StoreError::Unknown))
}

use std::sync::{Arc, Mutex, PoisonError};

use super::{Request, Session, Store, StoreError, Verdict, Work};

/// Runs `run` in one transaction and gives its answer; what it did stays where `stays` says so.
pub(crate) async fn transact<R, E>(
    store: &dyn Store,
    request: Request,
    run: impl Fn(&mut dyn Session) -> Result<R, E> + Send + 'static,
    stays: fn(&Result<R, E>) -> bool,
) -> Result<R, E>
where
    R: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let slot = Arc::new(Mutex::new(None));
    let filled = Arc::clone(&slot);
    let work: Work = Box::new(move |session| {
        let result = run(session);
        let verdict = if stays(&result) { Verdict::Commit } else { Verdict::Rollback };
        *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        verdict
    });
    store.transact(request, work).await?;
    let result = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.unwrap_or_else(|| Err(StoreError::Unknown.into()))
}

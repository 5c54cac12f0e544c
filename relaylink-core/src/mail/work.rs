use crate::store::{self, Access, Request, Session, Store, StoreError};

/// The account that the mail room's own transactions are filed under: a lane beside the accounts' own.
const LANE: &str = "mail";

/// Runs a work of the mail room in one transaction and gives its answer.
pub(super) async fn transact<R: Send + 'static>(
    store: &dyn Store,
    access: Access,
    run: impl Fn(&mut dyn Session) -> Result<R, StoreError> + Send + 'static,
) -> Result<R, StoreError> {
    store::transact(store, Request::new(access, LANE), run, Result::is_ok).await
}

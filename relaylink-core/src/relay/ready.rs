use super::Relay;
use crate::store::{Access, Request, Select, Session, StoreError, transact};

const ANSWERS: Select = Select::new("SELECT 1");

impl Relay {
    /// Whether the store answers: one transaction that reads no table. It waits for its turn and for a
    /// store that is away as any call does, so whoever asks for less puts a time-out around it.
    pub async fn ready(&self) -> Result<(), StoreError> {
        let ask = |session: &mut dyn Session| session.query(ANSWERS.statement(), &[]).map(drop);
        transact(self.store(), Request::new(Access::READ, ""), ask, Result::is_ok).await
    }
}

use crate::store::{OutboxRead, Row, Select, Session, StoreError, Value};

/// A transaction in the hands of whoever may read and nothing else.
pub(crate) struct Reading<'s>(&'s mut dyn Session);

impl<'s> Reading<'s> {
    pub(crate) fn over(session: &'s mut dyn Session) -> Self {
        Self(session)
    }

    /// Reads rows.
    pub(crate) fn select(
        self,
        statement: &'static Select,
        parameters: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        self.0.query(statement.statement(), parameters)
    }

    /// Reads rows of the outbox. For the mail room alone, whose statements these are.
    pub(crate) fn outbox(
        self,
        statement: &'static OutboxRead,
        parameters: &[Value],
    ) -> Result<Vec<Row>, StoreError> {
        self.0.query(statement.statement(), parameters)
    }
}

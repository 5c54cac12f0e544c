use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use relaylink_core::store::{
    Access, Dialect, Request, Row, Session, Statement, Store, StoreError, Value, Verdict, Work,
};

/// The statements of one transaction, with their parameters, in order.
pub type Statements = Vec<(&'static str, Vec<Value>)>;

/// A store over another that writes down what runs in it.
pub struct Recorder {
    store: Arc<dyn Store>,
    log: Arc<Mutex<Vec<Statements>>>,
}

impl Recorder {
    /// A recorder over this store.
    pub fn over(store: Arc<dyn Store>) -> Self {
        Self { store, log: Arc::default() }
    }

    /// The transactions so far, each with its statements.
    pub fn take(&self) -> Vec<Statements> {
        std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Store for Recorder {
    async fn transact(&self, request: Request, mut work: Work) -> Result<Verdict, StoreError> {
        let log = Arc::clone(&self.log);
        let recorded: Work = Box::new(move |session| {
            let mut recording = Recording { session, statements: Vec::new() };
            let verdict = work(&mut recording);
            log.lock().unwrap_or_else(PoisonError::into_inner).push(recording.statements);
            verdict
        });
        self.store.transact(request, recorded).await
    }
}

struct Recording<'a> {
    session: &'a mut dyn Session,
    statements: Statements,
}

impl Session for Recording<'_> {
    fn execute(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<u64, StoreError> {
        self.statements.push((statement.text(Dialect::Sqlite), parameters.to_vec()));
        self.session.execute(statement, parameters)
    }

    fn query(&mut self, statement: &'static Statement, parameters: &[Value]) -> Result<Vec<Row>, StoreError> {
        self.statements.push((statement.text(Dialect::Sqlite), parameters.to_vec()));
        self.session.query(statement, parameters)
    }

    fn restrict(&mut self, access: Access) -> Result<Access, StoreError> {
        self.session.restrict(access)
    }
}

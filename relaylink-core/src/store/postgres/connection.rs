//! One connection: what it has prepared, and what its errors mean.

use std::{collections::HashMap, io, time::Duration};

use tokio::runtime::Runtime;
use tokio_postgres::{Client, Statement as Prepared, error::SqlState};

use super::reach;
use crate::store::{Dialect, Statement, StoreError, verify};

/// What the wait for an answer has beyond the time a statement may take in the database.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// An open connection. Driven only while somebody waits on it.
pub(super) struct Link {
    runtime: Runtime,
    pub(super) client: Client,
    wait: Duration,
    /// What is said to works that write, where the database was set read-only before the connection was made.
    pub(super) read_only: Option<StoreError>,
    /// By address and length of the text, which is the program's own.
    prepared: HashMap<(usize, usize), Prepared>,
}

impl Link {
    pub(super) fn new(runtime: Runtime, client: Client, wait: Duration) -> Self {
        Self { runtime, client, wait, read_only: None, prepared: HashMap::new() }
    }

    /// Waits for an answer, for no longer than a statement may take.
    pub(super) fn wait<R>(
        &self,
        answer: impl Future<Output = Result<R, tokio_postgres::Error>>,
    ) -> Result<R, Fault> {
        self.runtime
            .block_on(async { tokio::time::timeout(self.wait, answer).await })
            .map_err(|_| Fault::silent())?
            .map_err(Fault::of)
    }

    /// Does something with the connection whose errors are ours, for as long as it takes.
    pub(super) fn drive<R>(
        &mut self,
        act: impl AsyncFnOnce(&mut Client) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        self.runtime.block_on(act(&mut self.client))
    }

    /// The statement, prepared the first time it is met on this connection.
    pub(super) fn prepared(&mut self, statement: &'static Statement) -> Result<Prepared, Fault> {
        let text = statement.text(Dialect::Postgres);
        let key = (text.as_ptr() as usize, text.len());
        if let Some(prepared) = self.prepared.get(&key) {
            return Ok(prepared.clone());
        }
        if !verify::is_plain(text) {
            return Err(StoreError::Denied("does what no transaction may").into());
        }
        if reach::is_beyond(text) {
            return Err(StoreError::Denied("names what reaches beyond the tables").into());
        }
        let prepared = self.wait(self.client.prepare(&numbered(text)))?;
        self.prepared.insert(key, prepared.clone());
        Ok(prepared)
    }

    /// Forgets what was prepared, which another process's change of the tables can spoil.
    pub(super) fn forget(&mut self) {
        self.prepared.clear();
    }
}

/// The text with `$1` for `?1`.
pub(super) fn numbered(text: &str) -> String {
    let mut quote = None;
    let written = text.chars().map(|c| {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == '?' => return '$',
            _ => {}
        }
        c
    });
    written.collect()
}

/// What went wrong, and what it means for the work and the connection.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) error: StoreError,
    /// The work may be run again: nothing of it stayed.
    pub(super) again: bool,
    /// The connection is of no use any more.
    pub(super) lost: bool,
    /// What was prepared is of no use any more.
    pub(super) stale: bool,
    /// The rule of the tables that was broken, and by which values. Never printed: they are people's.
    pub(super) broken: Option<String>,
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self { error, again: false, lost: false, stale: false, broken: None }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        fault.error
    }
}

impl Fault {
    /// No answer came in time.
    pub(super) fn silent() -> Self {
        Self { lost: true, again: true, ..StoreError::Busy("the database does not answer").into() }
    }

    /// The same, of what is sent before a work's first statement: what is barred there was not the work's
    /// doing.
    pub(super) fn before_the_work(self) -> Self {
        match self.error {
            StoreError::Denied(_) => Self {
                error: StoreError::Unusable(
                    "the database does not let the store act under its narrow role any more: the role was taken \
                     from the store's user. Start RelayLink again: it says what an administrator has to run"
                        .to_owned(),
                ),
                ..self
            },
            _ => self,
        }
    }

    /// The database's error as ours.
    #[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
    pub(super) fn of(error: tokio_postgres::Error) -> Self {
        let Some(told) = error.as_db_error() else {
            if is_about_tls(&error) {
                return StoreError::Unusable(format!(
                    "the database is not spoken to in the clear, and TLS failed: {}. Its certificate must be good \
                     for the host in the address, by the roots that this machine trusts or those in the file that \
                     SSL_CERT_FILE names",
                    because(&error)
                ))
                .into();
            }
            let cut = std::error::Error::source(&error).is_some_and(<dyn std::error::Error>::is::<io::Error>);
            if error.is_closed() || cut {
                tracing::warn!(error = because(&error), "the connection to the database is lost");
                return Self { lost: true, again: true, ..StoreError::Busy("the database is away").into() };
            }
            return StoreError::Engine(because(&error)).into();
        };
        let code = told.code();
        let busy = |what| Self { again: true, ..StoreError::Busy(what).into() };
        match (code, code.code().get(..2)) {
            (&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED, _) => {
                busy("too many calls change the same rows")
            }
            (&SqlState::INSUFFICIENT_PRIVILEGE, _) => {
                StoreError::Denied("does what the database lets this access not do").into()
            }
            (&SqlState::READ_ONLY_SQL_TRANSACTION, _) => {
                StoreError::Denied("inserts, updates or deletes rows").into()
            }
            (&SqlState::QUERY_CANCELED, _) => StoreError::Busy("it took too long").into(),
            (&SqlState::LOCK_NOT_AVAILABLE, _) => StoreError::Busy("another call holds the rows").into(),
            (_, Some("23")) => Self {
                broken: Some(format!("{} {}", told.message(), told.detail().unwrap_or_default())),
                ..StoreError::Constraint(told.message().to_owned()).into()
            },
            (&SqlState::FEATURE_NOT_SUPPORTED | &SqlState::INVALID_SQL_STATEMENT_NAME, _) => {
                Self { again: true, stale: true, ..StoreError::Engine(because(&error)).into() }
            }
            (&SqlState::TOO_MANY_CONNECTIONS, _) => {
                tracing::warn!(error = because(&error), "there is no connection to the database");
                Self { lost: true, ..busy("the database has no connection left") }
            }
            // Shut down, starting up, out of room, cut off.
            (_, Some("57" | "08" | "53" | "25")) => {
                tracing::warn!(error = because(&error), "the connection to the database is lost");
                Self { lost: true, ..busy("the database is away") }
            }
            _ => StoreError::Engine(because(&error)).into(),
        }
    }
}

/// Whether the two could not agree on TLS, which trying again would not change. The client keeps the kind of
/// its errors to itself.
fn is_about_tls(error: &tokio_postgres::Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    match source {
        Some(source) => {
            source.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>)
        }
        None => error.to_string().starts_with("error performing TLS handshake"),
    }
}

/// The error with its causes. It holds no parameter and no password.
pub(super) fn because(error: &tokio_postgres::Error) -> String {
    if let Some(told) = error.as_db_error() {
        return format!("{} ({})", told.message(), told.code().code());
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_outside_quotes() {
        assert_eq!(
            numbered("SELECT '?1', \"?2\" FROM t WHERE a = ?1 AND b = 'it''s ?' AND c = ?12"),
            "SELECT '?1', \"?2\" FROM t WHERE a = $1 AND b = 'it''s ?' AND c = $12"
        );
    }
}

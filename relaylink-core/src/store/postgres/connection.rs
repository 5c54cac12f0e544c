//! One connection: how it is made, what it has prepared, and what its errors mean.

use std::{collections::HashMap, sync::Arc, time::Duration};

use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::Runtime;
use tokio_postgres::{
    Client, Config, NoTls, Statement as Prepared,
    config::{Host, SslMode},
    error::SqlState,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::options::Options;
use crate::store::{Dialect, Statement, StoreError, verify};

/// What the wait for an answer has beyond the time a statement may take in the database.
const GRACE: Duration = Duration::from_secs(2);
/// How long a connection that says nothing is believed.
const SILENCE: Duration = Duration::from_secs(15);

/// Where the database is and how it is spoken to. Knows the password: never printed.
#[derive(Clone)]
pub(super) struct Address {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    settings: Arc<str>,
    wait: Duration,
}

impl Address {
    /// Reads `postgres://user:password@host:port/database?…`.
    pub(super) fn parse(url: &str, options: &Options) -> Result<Self, StoreError> {
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            StoreError::Unusable(format!(
                "the address of the database cannot be read: {}. Write it as \
                 postgres://USER:PASSWORD@HOST:PORT/DATABASE",
                because(&error)
            ))
        })?;
        // `prefer`, which is also what is not told, goes on in the clear where TLS is not offered.
        if config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(if is_local(&config) { SslMode::Disable } else { SslMode::Require });
        }
        if config.get_application_name().is_none() {
            config.application_name("relaylink");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(options.connect_timeout);
        }
        config.keepalives_idle(SILENCE).tcp_user_timeout(SILENCE);
        let tls = (config.get_ssl_mode() != SslMode::Disable).then(encrypted).transpose()?;
        let deadline = options.deadline.as_millis();
        // Outside a transaction of ours nothing is written, whatever goes wrong with its beginning; and a
        // table that is read from end to end is locked from end to end by a serializable transaction.
        let settings = format!(
            "SET default_transaction_read_only = on; SET statement_timeout = {deadline}; \
             SET lock_timeout = {deadline}; SET idle_in_transaction_session_timeout = {}; \
             SET enable_seqscan = off; SET synchronous_commit = on; SET client_min_messages = error",
            deadline * 2
        );
        Ok(Self { config, tls, settings: settings.into(), wait: options.deadline + GRACE })
    }

    /// What it is called in messages.
    pub(super) fn name(&self) -> String {
        format!("the database {}", self.config.get_dbname().unwrap_or_default())
    }

    /// A connection with nothing set on it yet, and what drives it.
    pub(super) fn connect(&self) -> Result<Link, Fault> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
                Fault::from(StoreError::Engine(format!("no runtime for a connection: {error}")))
            })?;
        let wait = self.config.get_connect_timeout().copied().unwrap_or(self.wait) + GRACE;
        let connecting = async {
            if let Some(tls) = &self.tls {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                tokio::spawn(connection);
                Ok(client)
            } else {
                let (client, connection) = self.config.connect(NoTls).await?;
                tokio::spawn(connection);
                Ok(client)
            }
        };
        let client = runtime
            .block_on(async { tokio::time::timeout(wait, connecting).await })
            .map_err(|_| Fault::silent())?
            .map_err(Fault::of)?;
        Ok(Link { runtime, client, wait: self.wait, prepared: HashMap::new() })
    }

    /// A connection for works.
    pub(super) fn open(&self) -> Result<Link, Fault> {
        let link = self.connect()?;
        link.wait(link.client.batch_execute(&self.settings))?;
        Ok(link)
    }
}

/// TLS whose certificate must be good for the host's name, by the roots that this machine trusts.
fn encrypted() -> Result<MakeRustlsConnect, StoreError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Unusable(format!("TLS cannot be set up: {error}")))?;
    Ok(MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth()))
}

/// Whether all its hosts are this machine, so that nobody else hears. Where the address has `hostaddr`,
/// that is what is connected to, whatever the host is called.
fn is_local(config: &Config) -> bool {
    let hosts_are = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    hosts_are && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

/// An open connection. Driven only while somebody waits on it.
pub(super) struct Link {
    runtime: Runtime,
    pub(super) client: Client,
    wait: Duration,
    /// By address and length of the text, which is the program's own.
    prepared: HashMap<(usize, usize), Prepared>,
}

impl Link {
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
        if !verify::is_plain(text) || names_a_setting(text) {
            return Err(StoreError::Denied("does what no transaction may").into());
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

/// Whether the text could change under which role the transaction goes on.
fn names_a_setting(text: &str) -> bool {
    text.to_ascii_lowercase().contains("set_config")
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

    /// The database's error as ours.
    #[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
    pub(super) fn of(error: tokio_postgres::Error) -> Self {
        let Some(told) = error.as_db_error() else {
            let cut =
                std::error::Error::source(&error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>);
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
            // Shut down, starting up, out of connections, cut off.
            (_, Some("57" | "08" | "53" | "25")) => {
                tracing::warn!(error = because(&error), "the connection to the database is lost");
                Self { lost: true, ..busy("the database is away") }
            }
            _ => StoreError::Engine(because(&error)).into(),
        }
    }
}

/// The error with its causes. It holds no parameter and no password.
fn because(error: &tokio_postgres::Error) -> String {
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

    #[test]
    fn what_goes_over_a_net_is_encrypted_unless_the_address_says_otherwise() {
        for (url, mode) in [
            ("postgres://ana@localhost/relay", SslMode::Disable),
            ("postgres://ana@127.0.0.1:5433/relay", SslMode::Disable),
            ("postgres://ana@%2Frun%2Fpostgresql/relay", SslMode::Disable),
            ("postgres://ana@db.example.org/relay", SslMode::Require),
            ("postgres://ana@db.example.org/relay?sslmode=disable", SslMode::Disable),
            ("postgres://ana@localhost/relay?sslmode=require", SslMode::Require),
            ("postgres://ana@localhost/relay?sslmode=prefer", SslMode::Disable),
            ("postgres://ana@localhost/relay?hostaddr=127.0.0.2", SslMode::Disable),
            ("postgres://ana@localhost/relay?hostaddr=192.0.2.2", SslMode::Require),
            ("postgres://ana@localhost,localhost/relay?hostaddr=127.0.0.1,192.0.2.2", SslMode::Require),
            ("postgres://ana@db.example.org/relay?hostaddr=127.0.0.1", SslMode::Require),
            ("postgres://ana@localhost,db.example.org/relay", SslMode::Require),
            ("postgres://ana@db.example.org/relay?sslmode=prefer", SslMode::Require),
            ("postgres://ana:sslmode=disable@192.0.2.2/relay", SslMode::Require),
            ("postgres://ana@192.0.2.2/sslmode=disable", SslMode::Require),
            ("postgres://ana@192.0.2.2/relay?application_name=sslmode=disable", SslMode::Require),
        ] {
            let address = Address::parse(url, &Options::default()).unwrap();
            assert_eq!(address.config.get_ssl_mode(), mode, "{url}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_read_is_told_without_its_password() {
        let Err(StoreError::Unusable(told)) =
            Address::parse("postgres://ana:hunter2@db:port/relay", &Options::default())
        else {
            panic!("it was read")
        };
        assert!(told.contains("postgres://USER:PASSWORD@HOST:PORT/DATABASE") && !told.contains("hunter2"));
    }
}

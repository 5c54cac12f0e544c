//! Where a database is, and how a connection to it is made.

use std::{borrow::Cow, sync::Arc, time::Duration};

use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::{
    Config, NoTls,
    config::{Host, SslMode},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    connection::{Fault, GRACE, Link, because},
    options::Options,
    preflight,
};
use crate::store::{StoreError, upkeep::LIFE};

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
        let mut config: Config = as_known(url).parse().map_err(|error: tokio_postgres::Error| {
            // What follows a & in a password is taken for an option, and would be shown as one.
            let why = if url.contains("password") {
                "a part of it is unknown, and not shown, since it may be of the password, where a & is written as %26"
                    .to_owned()
            } else {
                because(&error)
            };
            StoreError::Unusable(format!(
                "the address of the database cannot be read: {why}. Write it as \
                 postgres://USER:PASSWORD@HOST:PORT/DATABASE"
            ))
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(StoreError::Unusable(
                "the address of the database names no host. Write it as \
                 postgres://USER:PASSWORD@HOST:PORT/DATABASE, and for a socket as \
                 postgres://USER@/DATABASE?host=FOLDER"
                    .to_owned(),
            ));
        }
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
            "{}; SET default_transaction_read_only = on; SET statement_timeout = {deadline}; \
             SET lock_timeout = {deadline}; SET idle_in_transaction_session_timeout = {}; \
             SET enable_seqscan = off; SET synchronous_commit = on; SET client_min_messages = error",
            name_life(),
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
            .map_err(|error| preflight::kept_out(&self.config, error))?;
        Ok(Link::new(runtime, client, self.wait))
    }

    /// A connection for works.
    pub(super) fn open(&self) -> Result<Link, Fault> {
        let mut link = self.connect()?;
        let found = link.wait(link.client.simple_query(preflight::SERVED))?;
        link.read_only = preflight::refuse_unserved(&found, &self.name())?;
        link.wait(link.client.batch_execute(&self.settings))?;
        Ok(link)
    }
}

/// Names the life of the server, unless a connection has done so since the last crash, which none outlives.
/// A name ends with where it was written: the database and the transaction, which its row keeps. One that came
/// with a dump or a copy of the database was written elsewhere, or by another. It is named in a database that
/// was set read-only as well, where reads go on.
fn name_life() -> String {
    let written = |transaction| {
        format!(
            "substr(md5(concat_ws(' ', (SELECT oid FROM pg_database WHERE datname = current_database()), \
             {transaction})), 1, 16)"
        )
    };
    format!(
        "BEGIN; SET default_transaction_read_only = off; COMMIT; \
         DELETE FROM {LIFE} WHERE right(life, 16) <> {}; \
         INSERT INTO {LIFE} (one, life) VALUES (1, substr(md5(CAST(gen_random_uuid() AS TEXT)), 1, 16) || {}) \
         ON CONFLICT DO NOTHING",
        written("xmin"),
        written("CAST(pg_current_xact_id() AS xid)")
    )
}

/// The address with the one word for TLS that the client knows. Others say `verify-full` for what is done
/// here with every certificate.
fn as_known(url: &str) -> Cow<'_, str> {
    let Some((before, query)) = url.rsplit_once('?') else { return url.into() };
    let words = query.split('&').map(|word| match word {
        "sslmode=verify-full" | "sslmode=verify-ca" => "sslmode=require",
        word => word,
    });
    format!("{before}?{}", words.collect::<Vec<_>>().join("&")).into()
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

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpListener,
        thread,
    };

    use super::*;

    /// What is told where a server answers the question for TLS with these bytes, and no more.
    fn told_of_tls(answer: &'static [u8]) -> StoreError {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("postgres://ana:hunter2@{}/relay?sslmode=require", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 8]).unwrap();
            stream.write_all(answer).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let fault = Address::parse(&url, &Options::default()).unwrap().connect().err().unwrap();
        server.join().unwrap();
        assert_eq!(fault.again, matches!(fault.error, StoreError::Busy(_)), "{fault:?}");
        fault.error
    }

    #[test]
    fn that_tls_failed_is_told_and_not_tried_again_and_a_server_that_went_is() {
        for answer in [b"N".as_slice(), b"SThis is no handshake."] {
            let StoreError::Unusable(told) = told_of_tls(answer) else { panic!("{answer:?}") };
            assert!(told.contains("TLS failed") && told.contains("SSL_CERT_FILE"), "{told}");
        }
        assert!(matches!(told_of_tls(b"S"), StoreError::Busy("the database is away")));
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
            ("postgres://ana@localhost/relay?sslmode=verify-full", SslMode::Require),
            ("postgres://ana@db.example.org/relay?connect_timeout=5&sslmode=verify-ca", SslMode::Require),
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
    fn an_address_without_a_host_is_told_as_such() {
        for url in ["postgres://", "postgres:///relay", "postgres://ana@/relay"] {
            let Err(StoreError::Unusable(told)) = Address::parse(url, &Options::default()) else {
                panic!("{url} was read")
            };
            assert!(told.contains("names no host"), "{told}");
        }
        for url in ["postgres:///relay?host=/run/postgresql", "postgres:///relay?hostaddr=127.0.0.1"] {
            assert!(Address::parse(url, &Options::default()).is_ok(), "{url}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_read_is_told_without_its_password() {
        for url in [
            "postgres://ana:hunter2@db:port/relay",
            "postgres://db/relay?user=ana&password=a&hunter2=b",
            "postgres://ana:a@db/relay?password=a&hunter2",
        ] {
            let Err(StoreError::Unusable(told)) = Address::parse(url, &Options::default()) else {
                panic!("{url} was read")
            };
            assert!(told.contains("postgres://USER:PASSWORD@HOST:PORT/DATABASE"), "{told}");
            assert!(!told.contains("hunter2"), "{told}");
        }
    }
}

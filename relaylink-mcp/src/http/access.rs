//! Which hosts and origins are let through.

use ::http::{HeaderMap, HeaderValue, Uri, header, uri::Authority};

/// A host or an origin cannot be allowed as it is written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// A host.
    #[error("`{0}` is no host: write a name like `mcp.example.org`, or with its port `mcp.example.org:8443`")]
    Host(String),
    /// An origin.
    #[error("`{0}` is no origin: write `https://app.example.org`, or `http://localhost:*` for any port")]
    Origin(String),
}

/// What `Host` and `Origin` may say, each as it is written, or with `:*` on any port.
pub(super) struct Access {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Access {
    pub(super) fn local() -> Self {
        let hosts = ["localhost:*", "127.0.0.1:*", "[::1]:*"].map(str::to_owned).into();
        Self { hosts, origins: Vec::new() }
    }

    pub(super) fn add_host(&mut self, host: &str) -> Result<(), AccessError> {
        let authority = plain(host).ok_or_else(|| AccessError::Host(host.to_owned()))?;
        let port = if authority.port().is_none() { ":*" } else { "" };
        self.hosts.push(host.to_ascii_lowercase() + port);
        Ok(())
    }

    pub(super) fn add_origin(&mut self, origin: &str) -> Result<(), AccessError> {
        let text = origin.to_ascii_lowercase();
        let wrong = || AccessError::Origin(origin.to_owned());
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let host = plain(rest.strip_suffix(":*").unwrap_or(rest)).ok_or_else(wrong)?;
        if scheme.is_empty() || (rest.ends_with(":*") && host.port().is_some()) {
            return Err(wrong());
        }
        // A browser leaves out the port that the scheme implies.
        let implied = if scheme == "https" { ":443" } else { ":80" };
        self.origins.push(text.strip_suffix(implied).unwrap_or(&text).to_owned());
        Ok(())
    }

    /// Whether the host the request names is allowed; none where it names none, or several.
    pub(super) fn host(&self, uri: &Uri, headers: &HeaderMap) -> Option<bool> {
        let mut given = headers.get_all(header::HOST).iter();
        let host = match (given.next(), given.next()) {
            (Some(host), None) => &host.to_str().ok()?.parse().ok()?,
            (None, _) => uri.authority()?,
            (Some(_), Some(_)) => return None,
        };
        let allowed = |host: &Authority| allows(&self.hosts, host.as_str());
        // A request that names another in its first line means that one.
        Some(allowed(host) && uri.authority().is_none_or(allowed))
    }

    pub(super) fn origin(&self, origin: &HeaderValue) -> bool {
        origin.to_str().is_ok_and(|origin| allows(&self.origins, origin))
    }
}

/// A name with or without its port, and nothing else.
fn plain(host: &str) -> Option<Authority> {
    let authority: Authority = host.parse().ok()?;
    (!authority.host().is_empty() && !host.contains(['@', '*'])).then_some(authority)
}

fn allows(list: &[String], given: &str) -> bool {
    let given = given.to_ascii_lowercase();
    let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
    list.iter().any(|allowed| match allowed.strip_suffix(":*").and_then(|name| given.strip_prefix(name)) {
        Some(rest) => rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port),
        None => *allowed == given,
    })
}

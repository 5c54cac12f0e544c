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

/// What a `Host` header may say: names for any port, and names with theirs.
pub(super) struct Hosts(Vec<String>);

impl Hosts {
    pub(super) fn local() -> Self {
        Self(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into())
    }

    pub(super) fn add(&mut self, host: &str) -> Result<(), AccessError> {
        plain(host).ok_or_else(|| AccessError::Host(host.to_owned()))?;
        self.0.push(host.to_ascii_lowercase());
        Ok(())
    }

    /// Whether the host the request names is allowed; none where it names none, or several.
    pub(super) fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Option<bool> {
        let mut given = headers.get_all(header::HOST).iter();
        let host = match (given.next(), given.next()) {
            (Some(host), None) => host.to_str().ok()?.parse().ok()?,
            (None, _) => uri.authority()?.clone(),
            (Some(_), Some(_)) => return None,
        };
        // A request that names another in its first line means that one.
        Some(self.allows(&host) && uri.authority().is_none_or(|named| self.allows(named)))
    }

    fn allows(&self, authority: &Authority) -> bool {
        let same = |name: &str| {
            name.eq_ignore_ascii_case(authority.host()) || name.eq_ignore_ascii_case(authority.as_str())
        };
        self.0.iter().any(|name| same(name))
    }
}

/// A name with or without its port, and nothing else.
fn plain(host: &str) -> Option<Authority> {
    let authority: Authority = host.parse().ok()?;
    (!authority.host().is_empty() && !host.contains(['@', '*'])).then_some(authority)
}

/// What an `Origin` header may say, as browsers write it, or with `:*` for its port.
#[derive(Default)]
pub(super) struct Origins(Vec<String>);

impl Origins {
    pub(super) fn add(&mut self, origin: &str) -> Result<(), AccessError> {
        let text = origin.to_ascii_lowercase();
        let wrong = || AccessError::Origin(origin.to_owned());
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let host = plain(rest.strip_suffix(":*").unwrap_or(rest)).ok_or_else(wrong)?;
        if scheme.is_empty() || (rest.ends_with(":*") && host.port().is_some()) {
            return Err(wrong());
        }
        // A browser leaves out the port that the scheme implies.
        let implied = if scheme == "https" { ":443" } else { ":80" };
        self.0.push(text.strip_suffix(implied).unwrap_or(&text).to_owned());
        Ok(())
    }

    pub(super) fn allows(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str().map(str::to_ascii_lowercase) else {
            return false;
        };
        self.0.iter().any(|allowed| {
            match allowed.strip_suffix(":*").and_then(|base| origin.strip_prefix(base)) {
                Some(port) => {
                    port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
                }
                None => *allowed == origin,
            }
        })
    }
}

//! Who calls over HTTP.

use std::{error::Error, future::Future};

use ::http::{HeaderMap, header};
use relaylink_core::{relay::Relay, tool::Caller};

/// Why a key could not be checked: logged, and answered with 503.
pub type AuthError = Box<dyn Error + Send + Sync>;

/// Finds out whose key it is. Write it as `async fn authenticate(&self, bearer: &str) -> …`.
pub trait Authenticate: Send + Sync + 'static {
    /// The caller with this key; none where the key is unknown, revoked or expired; an error where
    /// that cannot be found out now. Asked on every request, so that a revoked key is dead at once.
    fn authenticate(&self, bearer: &str) -> impl Future<Output = Result<Option<Caller>, AuthError>> + Send;
}

/// RelayLink's own keys.
impl Authenticate for Relay {
    async fn authenticate(&self, bearer: &str) -> Result<Option<Caller>, AuthError> {
        Ok(self.authenticate(bearer).await?)
    }
}

/// No keys: a middleware of the application puts the [`Caller`] into the request's extensions, and
/// a request without one is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Elsewhere;

impl Authenticate for Elsewhere {
    async fn authenticate(&self, _: &str) -> Result<Option<Caller>, AuthError> {
        Ok(None)
    }
}

/// The key in `Authorization: Bearer …`, if there is exactly one.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (only, None) = (given.next()?, given.next()) else {
        return None;
    };
    let (scheme, key) = only.to_str().ok()?.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then_some(key)
}

use std::sync::Arc;

use tokio::sync::Notify;

use super::{LetterId, one_line};
use crate::relay::{Address, limits::NAME_MAX};

/// Whom a Relay's mail is from, and the bell that wakes its courier. One value is given to both, so
/// that a letter goes out as soon as its transaction has landed. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Post(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    from: Address,
    bell: Notify,
}

impl Post {
    /// Mail from this address, shown under this name. The domain of the address ends the
    /// Message-ID of every letter, so it should be one that is yours.
    pub fn new(name: &str, from: Address) -> Self {
        Self(Arc::new(Inner { name: one_line(name, NAME_MAX), from, bell: Notify::new() }))
    }

    /// The name that mail is shown under.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The address that mail is from.
    pub fn from(&self) -> &Address {
        &self.0.from
    }

    /// The Message-ID of a letter, angle brackets and all.
    pub(super) fn message_id(&self, id: &LetterId) -> String {
        let from = self.from().as_str();
        let domain = from.rsplit_once('@').map_or(from, |(_, domain)| domain);
        format!("<{id}@{domain}>")
    }

    /// Waits until the bell rings; at once if it has rung since somebody waited.
    pub(super) async fn rung(&self) {
        self.0.bell.notified().await;
    }

    /// Wakes a courier; one that is busy looks again when it is done.
    pub(crate) fn ring(&self) {
        self.0.bell.notify_one();
    }
}

impl Default for Post {
    /// `RelayLink <relaylink@localhost>`: for a Relay whose mail stays on the machine.
    #[expect(clippy::expect_used, reason = "a constant, and a test reads it")]
    fn default() -> Self {
        Self::new("RelayLink", "relaylink@localhost".parse().expect("an address"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::Id;

    #[test]
    fn a_message_id_ends_with_the_domain_of_the_sender() {
        let id = LetterId::from_minted("mal_1".into());
        assert_eq!(Post::default().message_id(&id), "<mal_1@localhost>");
        let post = Post::new("Ana\r\nBcc: x@evil.example", "relay@köln.example".parse().unwrap());
        assert_eq!(post.message_id(&id), "<mal_1@xn--kln-sna.example>");
        assert_eq!(post.name(), "Ana Bcc: x@evil.example");
    }
}

//! What compiles and what does not, and what the compiler says. The programs are in
//! relaylink-core/tests/ui; they are compiled from here because here the core comes without its
//! default features, as it does for a user's own tools.

#![expect(clippy::unwrap_used, reason = "a suite that cannot be put together has failed")]

mod by_hand;
mod crates;
mod fail;

//! What the adapter promises, a module a promise.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod bodies;
mod calls;
mod eras;
mod framing;
mod listing;
mod load;
mod sessions;
mod shutdown;
mod slow_reader;
mod stdout;
mod support;
mod transactions;

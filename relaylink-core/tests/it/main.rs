//! One binary, a module a promise.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod audit;
mod mail;

mod sqlite;
mod toolset;

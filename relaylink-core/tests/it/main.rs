//! One binary, a module a promise.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod account;
mod arguments;
mod audit;
mod behaviour;
mod engine;
mod kill;
mod mail;
mod memory;
mod messages;
mod nowhere;
mod people;
mod schema;
mod sqlite;
mod toolset;
mod town;
mod world;

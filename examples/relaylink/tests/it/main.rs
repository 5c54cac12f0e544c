//! The program, run as people and clients run it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accounts;
mod database;
mod engines;
mod health;
mod processes;
mod program;
mod secrets;
mod serving;
mod stdio;
#[path = "../../../../relaylink-core/tests/it/switches.rs"]
mod switches;
mod tour;
mod two_servers;
mod upkeep;

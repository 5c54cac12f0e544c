//! One binary, a module a promise.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod account;
mod arguments;
mod audit;
mod behaviour;
mod cases;
mod engine;
mod faults;
mod faulty;
mod golden;
mod kill;
mod mail;
mod memory;
mod messages;
mod nowhere;
mod people;
mod positive_control;
mod published;
mod replay;
mod schema;
mod sqlite;
mod tenancy;
mod toolset;
mod town;
mod world;

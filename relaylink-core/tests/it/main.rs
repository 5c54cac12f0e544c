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
mod gate;
mod golden;
mod kill;
mod lenient;
mod mail;
mod memory;
mod messages;
mod nowhere;
mod paging;
mod people;
mod positive_control;
mod published;
mod replay;
mod schema;
mod secrets;
mod sqlite;
mod stores;
mod tenancy;
mod toolset;
mod town;
mod world;

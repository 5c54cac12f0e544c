//! MCP tools whose hints are proved, and the RelayLink domain built from them.

// So that `#[derive(Tool)]` finds this crate from within, too.
extern crate self as relaylink_core;

pub mod account;
pub mod mail;
pub mod memory;
pub mod messages;
pub mod people;
pub mod relay;
pub mod store;
pub mod tool;

#[doc(hidden)]
pub mod __private;

/// The README's tool, compiled as it stands there.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../../README.md")]
struct Readme;

/// What a tool's file needs.
pub mod prelude {
    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};

    pub use crate::{
        relay::{Run, Tx},
        store::{Remove, Select, Write},
        tool::{
            Code, Cx, Effect, ExternalMail, Grant, Handle, May, Refusal, Removes, SharedWork, Stop, Tool,
            Writes,
        },
    };
}

use relay::Table;

/// Every room's tools, in the order they are listed.
fn rooms(table: Table) -> Table {
    let table = messages::tools(table);
    let table = people::tools(table);
    let table = memory::tools(table);
    account::tools(table)
}

/// What every room knows of its tables beside what their catalog tells.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn upkeep(rooms: store::upkeep::Rooms) -> store::upkeep::Rooms {
    let rooms = messages::upkeep(rooms);
    let rooms = people::upkeep(rooms);
    let rooms = memory::upkeep(rooms);
    let rooms = account::upkeep(rooms);
    mail::upkeep(rooms)
}

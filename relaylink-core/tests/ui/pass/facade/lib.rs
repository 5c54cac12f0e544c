//! A crate that passes the core on.
#![deny(warnings)]

pub use relaylink_core::*;
pub use {schemars, serde};

pub mod deep {
    pub use relaylink_core as relay;
}

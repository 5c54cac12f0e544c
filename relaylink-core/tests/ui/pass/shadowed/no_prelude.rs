//! Nothing is imported but what schemars' own derive needs.
#![no_implicit_prelude]

#[allow(unused_imports)]
use ::core::convert::{From, Into};
use ::schemars;

/// Without a prelude.
#[derive(::relaylink_core::prelude::Tool, ::serde::Deserialize, ::schemars::JsonSchema)]
#[tool(
    effects(::relaylink_core::tool::Writes),
    hints(additive),
    declines(closed_world = "No."),
    title = "Bare"
)]
pub(crate) struct Bare {
    text: ::std::string::String,
    maybe: ::core::option::Option<::std::vec::Vec<u8>>,
}

impl ::relaylink_core::prelude::Run for Bare {
    type Reply = bool;
    fn run(
        &self,
        tx: &mut ::relaylink_core::prelude::Tx<'_, Self>,
    ) -> ::core::result::Result<bool, ::relaylink_core::prelude::Stop> {
        const NOTE: ::relaylink_core::prelude::Write =
            ::relaylink_core::prelude::Write::new("INSERT INTO notes (id) VALUES (?1)");
        ::core::result::Result::Ok(tx.write(&NOTE, &[])? == 1)
    }
}

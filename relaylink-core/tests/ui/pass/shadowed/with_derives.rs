//! What a tool's other derives bear too.
#![allow(unused_macros)]

pub mod std {}
pub mod core {}
pub mod serde {}
pub mod string {}

pub type Result<T> = ::core::result::Result<T, ()>;
pub struct Option;
pub struct String;
pub struct Vec;
pub struct Ok;
pub struct Err;
pub struct Some;
pub struct None;
pub trait Default {}

/// With the derives that a tool has besides.
#[derive(::relaylink_core::prelude::Tool, ::serde::Deserialize, ::schemars::JsonSchema)]
#[tool(effects(::relaylink_core::tool::Writes), hints(additive))]
pub struct WithDerives {
    text: ::std::string::String,
    maybe: ::core::option::Option<bool>,
}

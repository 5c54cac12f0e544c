//! Names that mean something else here.
#![deny(warnings)]
#![allow(non_camel_case_types, dead_code, unused_macros)]

mod no_prelude;
mod with_derives;

pub mod std {}
pub mod core {}
pub mod alloc {}
pub mod serde {}
pub mod string {}
pub mod tool {}
pub mod relaylink_core {}

pub type Result<T> = ::core::result::Result<T, ()>;
pub struct Option;
pub struct String;
pub struct Vec;
pub struct Box;
pub struct Ok;
pub struct Err;
pub struct Some;
pub struct None;
pub struct str;
pub struct bool;
pub struct usize;
pub struct Hints;
pub struct EffectInfo;
pub struct Decline;
pub trait Default {}
pub trait Clone {}
pub trait Send {}
pub trait Sync {}
pub trait Sized {}
pub trait May {}
pub trait Run {}
pub trait Effect {}

macro_rules! concat {
    ($($any:tt)*) => { compile_error!("the derive takes the wrong concat!") };
}
macro_rules! assert {
    ($($any:tt)*) => { compile_error!("the derive takes the wrong assert!") };
}
macro_rules! panic {
    ($($any:tt)*) => { compile_error!("the derive takes the wrong panic!") };
}

/// Every name it could stumble over is another here.
#[doc = ::core::concat!("And", " this.")]
#[derive(::relaylink_core::prelude::Tool)]
#[tool(
    effects(::relaylink_core::tool::Writes),
    hints(additive, closed_world),
    declines(idempotent = "No."),
    title = "Shadowed",
    always_ask
)]
pub struct Shadowed {
    text: ::std::string::String,
}

//! A tool is a struct of named arguments, without parameters.
use relaylink_core::prelude::*;

/// An enum.
#[derive(Tool)]
pub enum Either {
    One { a: String },
    Two,
}

/// A union.
#[derive(Tool)]
pub union Overlap {
    a: u32,
    b: f32,
}

/// Unit.
#[derive(Tool)]
pub struct Unit;

/// Tuple.
#[derive(Tool)]
pub struct Tuple(String, u32);

/// A type parameter.
#[derive(Tool)]
#[tool(effects(Writes))]
pub struct OfType<T> {
    a: T,
}

/// A lifetime.
#[derive(Tool)]
#[tool(effects(Writes))]
pub struct Borrows<'a> {
    a: &'a str,
}

/// A const.
#[derive(Tool)]
pub struct OfLength<const N: usize> {
    a: [u8; N],
}

/// A bound.
#[derive(Tool)]
pub struct Bounded
where
    String: Clone,
{
    a: String,
}

fn main() {}

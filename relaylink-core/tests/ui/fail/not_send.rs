//! A tool goes from thread to thread.
use relaylink_core::prelude::*;

/// Looks.
#[derive(Tool)]
pub struct Look {
    shared: std::rc::Rc<String>,
}

fn main() {}

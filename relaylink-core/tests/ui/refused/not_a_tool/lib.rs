//! Without the derive it is no tool.
use relaylink_core::prelude::*;

pub struct Plain {}

impl Run for Plain {
    type Reply = bool;
    fn run(&self, _tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        Ok(true)
    }
}

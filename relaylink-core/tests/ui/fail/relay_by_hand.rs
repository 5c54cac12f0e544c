//! A tool that would be handed the Relay, with all that it can do.
use relaylink_core::{
    prelude::*,
    relay::Relay,
    tool::{Caller, Cx},
};

/// Looks.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(hints(read_only))]
pub struct Look {}

#[derive(Serialize, JsonSchema)]
pub struct Seen {}

impl Handle<Relay> for Look {
    type Reply = Seen;
    async fn handle(self, cx: Cx<'_, Self, Relay>) -> Result<Seen, Stop> {
        let _: &Caller = cx.caller;
        Ok(Seen {})
    }
}

fn main() {}

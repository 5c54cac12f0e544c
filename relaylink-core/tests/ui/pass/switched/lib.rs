//! `cfg` on tools, on fields and on the attribute.
#![deny(warnings)]

use relaylink_core::{prelude::*, tool::Toolset};

/// Only with the feature.
#[cfg(feature = "on")]
#[derive(Tool, Deserialize, JsonSchema)]
pub struct Lamp {}

/// Without it the name is free, and no tool.
#[cfg(not(feature = "on"))]
pub struct Lamp {}

#[cfg(not(feature = "on"))]
trait NoTool {
    const NAME: &'static str = "not a tool";
}
#[cfg(not(feature = "on"))]
impl NoTool for Lamp {}

/// One tool, another attribute and another argument.
#[derive(Tool, Deserialize, JsonSchema)]
#[cfg_attr(feature = "on", tool(effects(Writes), hints(additive), title = "On"))]
#[cfg_attr(not(feature = "on"), tool(hints(read_only), title = "Off"))]
#[cfg_attr(feature = "on", doc = "It is on.")]
pub struct Switch {
    /// Always.
    pub to: u8,
    /// Only with the feature.
    #[cfg(feature = "on")]
    pub also: u8,
    /// Never; with it the tool would be refused.
    #[cfg(any())]
    größe: u8,
}

impl Handle<()> for Switch {
    type Reply = u8;
    async fn handle(self, _cx: Cx<'_, Self, ()>) -> Result<u8, Stop> {
        #[cfg(feature = "on")]
        return Ok(self.to + self.also);
        #[cfg(not(feature = "on"))]
        Ok(self.to)
    }
}

#[cfg(feature = "on")]
impl Handle<()> for Lamp {
    type Reply = bool;
    async fn handle(self, _cx: Cx<'_, Self, ()>) -> Result<bool, Stop> {
        Ok(true)
    }
}

/// The toolset of either state.
pub fn toolset() -> Toolset {
    let tools = Toolset::over(std::sync::Arc::new(())).tool::<Switch>();
    #[cfg(feature = "on")]
    let tools = tools.tool::<Lamp>();
    tools.build().unwrap_or_default()
}

const _: () = {
    let on = cfg!(feature = "on");
    assert!(Switch::EFFECTS.len() == on as usize);
    assert!(Switch::HINTS.read_only != on && Switch::HINTS.additive == on);
    assert!(matches!(Switch::TITLE, Some(title) if title.len() == if on { 2 } else { 3 }));
    assert!(Lamp::NAME.len() == if on { 4 } else { 10 });
};

//! A grant is neither copied, cloned nor made by hand, and only a tool that lists the effect has it.
use relaylink_core::prelude::*;

pub enum CallsForecastApi {}
impl Effect for CallsForecastApi {
    const NAME: &'static str = "CallsForecastApi";
    const CHANGES: bool = false;
    const REMOVES: bool = false;
    const REACHES_OUT: bool = true;
}

fn forecast(_leave: Grant<'_, CallsForecastApi>) {}

/// Lists it, and wants more than one of it.
#[derive(Tool)]
#[tool(effects(CallsForecastApi))]
pub struct Copies {}

impl Handle<()> for Copies {
    type Reply = bool;
    async fn handle(self, cx: Cx<'_, Self, ()>) -> Result<bool, Stop> {
        let grant = cx.grant::<CallsForecastApi>();
        forecast(grant.clone());
        forecast(Grant(std::marker::PhantomData));
        Ok(true)
    }
}

/// Does not list it.
#[derive(Tool)]
#[tool(effects(Writes))]
pub struct Unlisted {}

impl Handle<()> for Unlisted {
    type Reply = bool;
    async fn handle(self, cx: Cx<'_, Self, ()>) -> Result<bool, Stop> {
        forecast(cx.grant::<CallsForecastApi>());
        forecast(cx.grant::<Writes>());
        Ok(true)
    }
}

fn main() {}

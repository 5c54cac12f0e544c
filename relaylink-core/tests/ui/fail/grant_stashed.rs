//! A grant is lent for one call and cannot be kept beyond it.
use std::sync::Mutex;

use relaylink_core::prelude::*;

pub enum CallsForecastApi {}
impl Effect for CallsForecastApi {
    const NAME: &'static str = "CallsForecastApi";
    const CHANGES: bool = false;
    const REMOVES: bool = false;
    const REACHES_OUT: bool = true;
}

pub struct Client<'a> {
    kept: Mutex<Option<Grant<'a, CallsForecastApi>>>,
}

/// Keeps its grant in the state.
#[derive(Tool)]
#[tool(effects(CallsForecastApi))]
pub struct Keep {}

impl Handle<Client<'static>> for Keep {
    type Reply = bool;
    async fn handle(self, cx: Cx<'_, Self, Client<'static>>) -> Result<bool, Stop> {
        *cx.state.kept.lock().unwrap() = Some(cx.grant::<CallsForecastApi>());
        Ok(true)
    }
}

/// Sends its grant to a task that outlives the call.
#[derive(Tool)]
#[tool(effects(CallsForecastApi))]
pub struct Send {}

fn spawn(_task: impl Future + core::marker::Send + 'static) {}

impl Handle<()> for Send {
    type Reply = bool;
    async fn handle(self, cx: Cx<'_, Self, ()>) -> Result<bool, Stop> {
        let grant = cx.grant::<CallsForecastApi>();
        spawn(async move {
            let _kept = grant;
        });
        Ok(true)
    }
}

fn main() {}

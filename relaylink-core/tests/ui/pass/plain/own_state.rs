//! An effect and a state of one's own, with leave lent for each call.
use std::{borrow::Cow, sync::Arc};

use relaylink_core::{
    prelude::*,
    tool::{Caller, Toolset},
};

/// The tool asks somebody else's service for a forecast.
pub enum CallsForecastApi {}

impl Effect for CallsForecastApi {
    const NAME: &'static str = "CallsForecastApi";
    const CHANGES: bool = false;
    const REMOVES: bool = false;
    const REACHES_OUT: bool = true;
}

/// The service.
pub struct Forecasts;

impl Forecasts {
    async fn of(&self, city: &str, _leave: Grant<'_, CallsForecastApi>) -> String {
        std::future::ready(city.to_owned()).await
    }
}

/// Tell the weather of tomorrow.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(CallsForecastApi), hints(read_only))]
pub struct Forecast {
    /// Where.
    city: String,
    /// In which unit.
    unit: Cow<'static, str>,
}

impl Handle<Forecasts> for Forecast {
    type Reply = String;
    async fn handle(self, cx: Cx<'_, Self, Forecasts>) -> Result<String, Stop> {
        let today = cx.state.of(&self.city, cx.grant()).await;
        let city = &self.city;
        let tomorrow = async { cx.state.of(city, cx.grant()).await }.await;
        Ok(first(&today, &self.unit).to_owned() + &tomorrow)
    }
}

/// All tools over it.
pub fn toolset() -> Toolset {
    Toolset::over(Arc::new(Forecasts)).tool::<Forecast>().build().unwrap_or_default()
}

/// Borrowed arguments, a lifetime left out.
fn first<'a>(one: &'a str, _other: &str) -> &'a str {
    one
}

fn spawn(_task: impl Future<Output = ()> + Send + 'static) {}

/// A call may be a task of its own, by type and by name.
pub fn spawned(caller: Caller) {
    spawn(async move {
        let _ = toolset().call(&caller, "forecast", Default::default()).await;
    });
}

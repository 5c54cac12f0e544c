//! One tool over a state of its own, with an effect of its own, served over stdio.
//!
//! Claim `closed_world` for it, or leave `CallsForecastApi` out, and it no longer compiles.

use relaylink_core::prelude::*;
use relaylink_core::tool::{Caller, Toolset};
use relaylink_mcp::{Server, stdio};

/// Asks somebody else's service for a forecast. Nothing changes anywhere, but the world is reached.
pub enum CallsForecastApi {}

impl Effect for CallsForecastApi {
    const NAME: &'static str = "CallsForecastApi";
    const CHANGES: bool = false;
    const REMOVES: bool = false;
    const REACHES_OUT: bool = true;
}

/// The state. Yours would ask over HTTP, in an `async fn`; this one knows two towns.
struct Forecasts([(&'static str, f64); 2]);

impl Forecasts {
    /// Only a tool that lists the effect has the leave to give.
    fn fetch(&self, town: &str, _leave: Grant<'_, CallsForecastApi>) -> Option<f64> {
        self.0.into_iter().find(|(name, _)| *name == town).map(|(_, highest)| highest)
    }
}

/// The forecast of tomorrow's highest temperature in a town.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(CallsForecastApi), hints(read_only))]
pub struct ForecastTown {
    /// The town's name.
    town: String,
}

/// Tomorrow in that town.
#[derive(Serialize, JsonSchema)]
pub struct Forecast {
    /// In degrees Celsius.
    highest: f64,
}

impl Handle<Forecasts> for ForecastTown {
    type Reply = Forecast;
    async fn handle(self, cx: Cx<'_, Self, Forecasts>) -> Result<Forecast, Stop> {
        let highest = cx.state.fetch(&self.town.to_lowercase(), cx.grant::<CallsForecastApi>());
        let unknown = || Refusal::new(Code::NotFound, format!("There is no forecast for {}.", self.town));
        Ok(Forecast { highest: highest.ok_or_else(|| unknown().field("town"))? })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let forecasts = std::sync::Arc::new(Forecasts([("bergen", 7.5), ("sevilla", 31.0)]));
    let toolset = Toolset::over(forecasts).tool::<ForecastTown>().build()?;
    let server = Server::new(toolset).name("forecasts", env!("CARGO_PKG_VERSION"));
    stdio::serve(&server, Caller::local("me"), std::future::pending()).await?;
    std::process::exit(0); // Where stdin is no pipe, the runtime would wait for it.
}

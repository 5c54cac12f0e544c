use clap::{Args, builder::BoolishValueParser};
use relaylink_core::{
    relay::{Clock, SystemClock},
    store::upkeep::{Finding, Rooms, Weight, check},
};
use serde_json::json;

use super::blocking;
use crate::{failure::Failure, output, store::Place};

/// Looks for damage in a store, and for mail that is stuck.
#[derive(Args)]
pub(crate) struct Check {
    /// The store: postgres://…, a folder of data, or a store's file; by default that of --data and --store.
    #[arg(id = "checked", value_name = "STORE", value_parser = Place::parser("STORE"))]
    store: Option<Place>,
    /// As JSON.
    #[arg(long, env = "RELAYLINK_JSON", value_parser = BoolishValueParser::new())]
    json: bool,
}

impl Check {
    pub(crate) async fn run(self, own: impl FnOnce() -> Result<Place, Failure>) -> Result<(), Failure> {
        let place = self.store.map_or_else(own, Ok)?;
        blocking(move || checked(&place, self.json)).await
    }
}

fn checked(place: &Place, as_json: bool) -> Result<(), Failure> {
    let mut source = place.source()?;
    let health = check(&mut source, &Rooms::relay(), SystemClock.now())?;
    let (name, rows) = (source.name(), health.tables.iter().map(|(_, rows)| rows).sum::<u64>());
    if as_json {
        let findings = health.findings.iter().map(|finding| {
            let Finding { weight, about, says, advice, .. } = finding;
            json!({ "weight": word(*weight), "about": about, "says": says, "advice": advice })
        });
        output::json(&json!({
            "store": name, "well": health.is_well(), "findings": findings.collect::<Vec<_>>(),
            "tables": health.tables.iter().map(|(table, rows)| json!({ "table": table, "rows": rows })).collect::<Vec<_>>(),
        }))?;
    } else {
        for Finding { weight, about, says, advice, .. } in &health.findings {
            output::line(&format!("{}: {about}: {says}\n  {advice}", word(*weight)))?;
        }
        let damage = if health.is_well() { "no damage" } else { "damage" };
        output::line(&format!("{name}: {damage}; {rows} rows in {} tables", health.tables.len()))?;
    }
    let faults = health.findings.iter().filter(|finding| finding.weight == Weight::Fault).count();
    match faults {
        0 => Ok(()),
        faults => Err(Failure::new(format!("faults that were found in {name}: {faults}"))),
    }
}

const fn word(weight: Weight) -> &'static str {
    match weight {
        Weight::Fault => "fault",
        Weight::Note => "note",
    }
}

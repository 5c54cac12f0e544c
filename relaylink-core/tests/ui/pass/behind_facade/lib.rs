//! A crate that names a facade only.
#![deny(warnings)]

use facade::prelude::*;

/// The facade itself is the core.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive), crate = facade)]
#[serde(crate = "facade::serde")]
#[schemars(crate = "facade::schemars")]
pub struct Direct {
    pub text: String,
}

/// The core is deep in it.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(facade::deep::relay::tool::Writes), hints(additive), crate = ::facade::deep::relay)]
#[serde(crate = "facade::serde")]
#[schemars(crate = "facade::schemars")]
pub struct Deep {
    pub text: String,
}

impl Run for Deep {
    type Reply = bool;
    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        tx.perform(&Direct { text: self.text.clone() })
    }
}

impl Run for Direct {
    type Reply = bool;
    fn run(&self, _tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
        Ok(self.text.is_empty())
    }
}

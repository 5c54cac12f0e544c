//! What `cfg` turns off is neither listed nor published nor called, and what it turns on is. The crate
//! `tests/ui/pass/switched` compiles with features of its own, in both states.

use std::sync::Arc;

use relaylink_core::{
    prelude::*,
    tool::{Caller, Toolset, toolset::CallError},
};
use serde_json::{Map, json};

use crate::world::object;

#[derive(Serialize, JsonSchema)]
struct Done {
    by: &'static str,
}

/// One source, with the predicates of one state and of the other.
macro_rules! state {
    ($state:ident: on is $on:meta, off is $off:meta) => {
        mod $state {
            use super::*;

            /// Only where it is on.
            #[cfg($on)]
            #[derive(Tool, Deserialize, JsonSchema)]
            #[tool(hints(read_only))]
            struct Lamp {}

            #[cfg($on)]
            impl Handle<()> for Lamp {
                type Reply = Done;
                async fn handle(self, _: Cx<'_, Self, ()>) -> Result<Done, Stop> {
                    Ok(Done { by: "lamp" })
                }
            }

            /// In both states, with other words.
            #[derive(Tool, Deserialize, JsonSchema)]
            #[cfg_attr($on, tool(effects(Writes), hints(additive), title = "On"))]
            #[cfg_attr($off, tool(hints(read_only), title = "Off"))]
            #[expect(dead_code, reason = "only what is published of it matters")]
            struct Switch {
                /// Always.
                to: u8,
                /// Only where it is on.
                #[cfg($on)]
                also: Option<u8>,
                /// Only where it is off.
                #[cfg($off)]
                instead: Option<u8>,
            }

            impl Handle<()> for Switch {
                type Reply = Done;
                async fn handle(self, _: Cx<'_, Self, ()>) -> Result<Done, Stop> {
                    Ok(Done { by: "switch" })
                }
            }

            pub(super) fn tools() -> Toolset {
                let tools = Toolset::over(Arc::new(())).tool::<Switch>();
                #[cfg($on)]
                let tools = tools.tool::<Lamp>();
                tools.build().unwrap()
            }
        }
    };
}

state! { turned_on: on is all(), off is any() }
state! { turned_off: on is any(), off is all() }

/// Each tool with the names of its arguments.
fn published(tools: &Toolset) -> Vec<String> {
    let line = |tool: &relaylink_core::tool::Descriptor| {
        let mut names: Vec<_> = tool.input["properties"].as_object().unwrap().keys().cloned().collect();
        names.sort();
        format!("{} `{}`: {}", tool.name, tool.title, names.join(" "))
    };
    tools.list().map(line).collect()
}

#[tokio::test]
async fn what_is_off_is_neither_listed_nor_called_and_what_is_on_is() {
    let (on, off) = (turned_on::tools(), turned_off::tools());
    assert_eq!(published(&on), ["switch `On`: also to", "lamp `Lamp`: "]);
    assert_eq!(published(&off), ["switch `Off`: instead to"]);
    let caller = Caller::local("acc_ana");
    assert_eq!(on.call(&caller, "lamp", Map::new()).await.unwrap(), json!({ "by": "lamp" }));
    assert!(matches!(off.call(&caller, "lamp", Map::new()).await, Err(CallError::UnknownTool { .. })));
    let also = object(json!({ "to": 1, "also": 2 }));
    assert_eq!(on.call(&caller, "switch", also.clone()).await.unwrap(), json!({ "by": "switch" }));
    let Err(CallError::Stopped(stop)) = off.call(&caller, "switch", also).await else { panic!("taken") };
    assert_eq!(stop.into_refusal().field.as_deref(), Some("also"));
}

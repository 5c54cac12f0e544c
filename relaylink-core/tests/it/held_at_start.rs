//! A tool whose hints its effects contradict is not added, though it compiled: written by hand, or derived
//! with proofs that prove nothing.

use std::sync::Arc;

use relaylink_core::{
    __private::Lists,
    prelude::*,
    relay::Relay,
    store::migrations::CORE,
    tool::{Decline, EffectInfo, Hints, Tool as ByHand, Toolset, toolset::ToolsetError},
};

use crate::own_store::InMemory;

#[derive(Serialize, JsonSchema)]
struct Done {}

macro_rules! done {
    ($($tool:ident)*) => {$(
        impl Run for $tool {
            type Reply = Done;
            fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Done, Stop> {
                const STATEMENT: Remove = Remove::new("DELETE FROM memories");
                tx.remove(&STATEMENT, &[])?;
                Ok(Done {})
            }
        }

        impl Handle<()> for $tool {
            type Reply = Done;
            async fn handle(self, _: Cx<'_, Self, ()>) -> Result<Done, Stop> {
                Ok(Done {})
            }
        }
    )*};
}

/// Says that it looks, and says by hand that it may remove.
#[derive(Deserialize, JsonSchema)]
struct Written {}

impl ByHand for Written {
    const NAME: &'static str = "written";
    const TITLE: Option<&'static str> = None;
    const DESCRIPTION: &'static str = "Looks.";
    const HINTS: Hints = Hints { read_only: true, additive: false, idempotent: true, closed_world: true };
    const EFFECTS: &'static [EffectInfo] = &[EffectInfo::of::<Removes>()];
    const DECLINES: &'static [Decline] = &[];
    const ALWAYS_ASK: bool = false;
}

impl Lists<Removes> for Written {}

/// Declines what it could not hint.
#[derive(Deserialize, JsonSchema)]
struct Declining {}

impl ByHand for Declining {
    const NAME: &'static str = "declining";
    const TITLE: Option<&'static str> = None;
    const DESCRIPTION: &'static str = "Deletes.";
    const HINTS: Hints = Hints { read_only: false, additive: false, idempotent: false, closed_world: true };
    const EFFECTS: &'static [EffectInfo] = &[EffectInfo::of::<Writes>(), EffectInfo::of::<Removes>()];
    const DECLINES: &'static [Decline] = &[Decline { hint: "additive", reason: "out of modesty" }];
    const ALWAYS_ASK: bool = false;
}

impl Lists<Removes> for Declining {}

/// The core, but for the proof, which holds of everything.
mod facade {
    pub(super) use relaylink_core::*;
    pub(super) mod __private {
        pub(in super::super) use relaylink_core::__private::{Hint, Lists};
        pub(in super::super) const fn hold(_: bool, _: &'static str) {}
    }
    macro_rules! tool {
        ($($items:tt)*) => { use crate::held_at_start::facade as __relaylink; $($items)* };
    }
    pub(super) use tool as __tool;
}

/// Says that it looks, with proofs that prove nothing.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Removes), hints(read_only, closed_world), crate = crate::held_at_start::facade)]
struct Faked {}

done! { Written Declining Faked }

/// What both ways to add the tool answer.
fn refused<T>(told: &str)
where
    T: Run + Handle<()> + serde::de::DeserializeOwned + JsonSchema,
{
    let of_a_relay = Relay::builder(Arc::new(InMemory::with(CORE))).tool::<T>().build().map(drop);
    let of_a_state = Toolset::over(Arc::new(())).tool::<T>().build().map(drop);
    for error in [of_a_relay, of_a_state].map(Result::unwrap_err) {
        assert!(matches!(error, ToolsetError::Hint { .. } | ToolsetError::Decline { .. }), "{error:?}");
        assert_eq!(error.to_string(), told);
    }
}

#[test]
fn a_hint_that_an_effect_contradicts_is_refused_when_the_tool_is_added() {
    for (name, refused) in [("written", refused::<Written> as fn(&str)), ("faked", refused::<Faked>)] {
        refused(&format!(
            "the tool `{name}` hints `read_only`, but its effect `Removes` contradicts that: drop the hint or \
             the effect"
        ));
    }
}

#[test]
fn a_decline_of_what_could_not_be_hinted_is_refused_when_the_tool_is_added() {
    refused::<Declining>(
        "the tool `declining` declines `additive`, but its effect `Removes` contradicts that, so it could not \
         be hinted: leave out the decline",
    );
}

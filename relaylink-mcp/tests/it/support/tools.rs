use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use relaylink_core::{
    prelude::*,
    tool::{Caller, Ceiling, Grade, Toolset},
};
use relaylink_mcp::Server;

/// What the tools see of each other.
#[derive(Default)]
pub(crate) struct Bench {
    pub(crate) running: AtomicUsize,
    pub(crate) most: AtomicUsize,
    pub(crate) gone: AtomicUsize,
    pub(crate) large: AtomicUsize,
}

/// Say back what was said.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Echo {
    /// What to say back.
    text: String,
}

/// What was said.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Said {
    text: String,
}

impl Handle<Bench> for Echo {
    type Reply = Said;
    async fn handle(self, _: Cx<'_, Self, Bench>) -> Result<Said, Stop> {
        Ok(Said { text: self.text })
    }
}

/// Say nothing much, and need nothing for it.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
pub(crate) struct Hello {}

impl Handle<Bench> for Hello {
    type Reply = Said;
    async fn handle(self, cx: Cx<'_, Self, Bench>) -> Result<Said, Stop> {
        Ok(Said { text: cx.caller.account.to_string() })
    }
}

/// Take a while.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
pub(crate) struct Slow {
    /// How long, in milliseconds.
    millis: u64,
}

impl Handle<Bench> for Slow {
    type Reply = Said;
    async fn handle(self, cx: Cx<'_, Self, Bench>) -> Result<Said, Stop> {
        let now = cx.state.running.fetch_add(1, Ordering::SeqCst) + 1;
        cx.state.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(self.millis)).await;
        cx.state.running.fetch_sub(1, Ordering::SeqCst);
        Ok(Said { text: "at last".to_owned() })
    }
}

/// Answer at length.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
pub(crate) struct Large {
    /// How many bytes.
    bytes: usize,
}

impl Handle<Bench> for Large {
    type Reply = Said;
    async fn handle(self, cx: Cx<'_, Self, Bench>) -> Result<Said, Stop> {
        cx.state.large.fetch_add(1, Ordering::SeqCst);
        Ok(Said { text: "x".repeat(self.bytes) })
    }
}

/// Fall over.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
pub(crate) struct Panics {}

impl Handle<Bench> for Panics {
    type Reply = Said;
    async fn handle(self, _: Cx<'_, Self, Bench>) -> Result<Said, Stop> {
        panic!("a secret of the tool's insides");
    }
}

/// Refuse.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
pub(crate) struct Refuses {}

impl Handle<Bench> for Refuses {
    type Reply = Said;
    async fn handle(self, _: Cx<'_, Self, Bench>) -> Result<Said, Stop> {
        Err(Refusal::new(Code::Stale, "The page has changed.").field("page").hint("Read it again.").into())
    }
}

/// Throw something out for good.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Removes), hints(closed_world), title = "Throw out (irreversible)", always_ask)]
pub(crate) struct ThrowOut {}

impl Handle<Bench> for ThrowOut {
    type Reply = Said;
    async fn handle(self, cx: Cx<'_, Self, Bench>) -> Result<Said, Stop> {
        cx.state.gone.fetch_add(1, Ordering::SeqCst);
        Ok(Said { text: "gone".to_owned() })
    }
}

pub(crate) fn toolset(bench: &Arc<Bench>) -> Toolset {
    Toolset::over(Arc::clone(bench))
        .tool::<Echo>()
        .tool::<Hello>()
        .tool::<Slow>()
        .tool::<Large>()
        .tool::<Panics>()
        .tool::<Refuses>()
        .tool::<ThrowOut>()
        .build()
        .unwrap()
}

/// Serves the tools over a bench that nobody looks at.
pub(crate) fn server() -> Server {
    Server::new(toolset(&Arc::default()))
}

/// May do everything.
pub(crate) fn ana() -> Caller {
    Caller::with_credential("ana", "key_ana", Ceiling::listed([("Removes", Grade::Allow)]))
}

/// May only read.
pub(crate) fn ben() -> Caller {
    Caller::with_credential("ben", "key_ben", Ceiling::listed([] as [(&str, Grade); 0]))
}

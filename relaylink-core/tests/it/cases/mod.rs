//! What the generated suites know of each tool: calls that succeed, objects that are somebody
//! else's, rows for the lists. A tool that is added brings its own lines here, and is covered by
//! the replay audit, tenancy, faults, paging and the rest. A file a room.

mod account;
mod memory;
mod messages;
mod people;

use std::{collections::BTreeMap, sync::LazyLock};

use futures_util::{StreamExt, future::BoxFuture, stream};
use relaylink_core::tool::{Caller, Descriptor, Toolset};
use serde_json::{Map, Value as Json};
use tokio::sync::OnceCell;

use crate::{
    nowhere,
    town::{Frozen, Town},
    world::object,
};

/// A call, and who makes it.
#[derive(Clone)]
pub(crate) struct Scene {
    /// One of the cast: `ana`, `ben` or `cara`. `dan` and `eve` stay strangers.
    pub(crate) who: &'static str,
    /// As whom they call: themselves, or a key of theirs.
    pub(crate) caller: Caller,
    pub(crate) arguments: Map<String, Json>,
}

/// One way to call a tool so that it succeeds.
pub(crate) struct Case {
    pub(crate) tool: &'static str,
    pub(crate) name: &'static str,
    set: for<'w> fn(&'w Town) -> BoxFuture<'w, Scene>,
    ready: OnceCell<(Frozen, Scene)>,
}

impl Case {
    /// Makes, in this town, what the call needs.
    pub(crate) async fn set(&self, town: &Town) -> Scene {
        (self.set)(town).await
    }

    /// A town in which all is made and nothing is called, and the call.
    pub(crate) async fn ready(&self) -> &(Frozen, Scene) {
        let made = self.ready.get_or_init(|| async {
            let town = Town::new().await;
            let scene = self.set(&town).await;
            (town.freeze(), scene)
        });
        made.await
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.tool, self.name)
    }
}

/// An object of `dan`'s, where he has a contact in `eve`, that nobody else may see.
pub(crate) struct Foreign {
    /// What its id starts with, without the underscore.
    pub(crate) prefix: &'static str,
    pub(crate) name: &'static str,
    pub(crate) make: for<'w> fn(&'w Town) -> BoxFuture<'w, String>,
}

/// The ids of rows that were made, and the arguments of the list in which they are.
pub(crate) type Filled = (Vec<String>, Json);

/// A tool that lists, and where its rows come from.
pub(crate) struct Listing {
    pub(crate) tool: &'static str,
    /// Makes so many rows of `ana`'s, gives the id that each bears in the list, and the arguments
    /// of the list; the town may be one to which it has added before.
    pub(crate) fill: for<'w> fn(&'w Town, usize) -> BoxFuture<'w, Filled>,
    /// Takes one of them away, where the list has a tool for that.
    pub(crate) remove: Option<(&'static str, &'static str)>,
}

/// `tool: "what it shows", |town| { …; ("ana", arguments) }`
macro_rules! cases {
    ($($tool:ident: $name:literal, |$town:ident| $set:block)*) => {
        pub(super) fn cases() -> Vec<$crate::cases::Case> {
            vec![$($crate::cases::Case::new(stringify!($tool), $name, |$town| Box::pin(async move {
                $crate::cases::Calls::scene($set, $town)
            }))),*]
        }
    };
}
pub(crate) use cases;

/// `prefix: "what it is", |town| { …; id }`
macro_rules! foreign {
    ($($prefix:ident: $name:literal, |$town:ident| $make:block)*) => {
        pub(super) fn foreign() -> Vec<$crate::cases::Foreign> {
            vec![$($crate::cases::Foreign {
                prefix: stringify!($prefix),
                name: $name,
                make: |$town| Box::pin(async move { $make }),
            }),*]
        }
    };
}
pub(crate) use foreign;

impl Case {
    fn new(
        tool: &'static str,
        name: &'static str,
        set: for<'w> fn(&'w Town) -> BoxFuture<'w, Scene>,
    ) -> Self {
        Self { tool, name, set, ready: OnceCell::new() }
    }
}

/// What a case's block ends with.
pub(crate) trait Calls {
    fn scene(self, town: &Town) -> Scene;
}

impl Calls for (&'static str, Json) {
    fn scene(self, town: &Town) -> Scene {
        (self.0, town.caller(self.0), self.1).scene(town)
    }
}

impl Calls for (&'static str, Caller, Json) {
    fn scene(self, _: &Town) -> Scene {
        let (who, caller, arguments) = self;
        Scene { who, caller, arguments: object(arguments) }
    }
}

/// Every case there is.
pub(crate) static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    [messages::cases(), people::cases(), memory::cases(), account::cases()].into_iter().flatten().collect()
});

/// Objects of another account, for each kind of id.
pub(crate) fn foreigners() -> Vec<Foreign> {
    [messages::foreign(), people::foreign(), memory::foreign(), account::foreign()]
        .into_iter()
        .flatten()
        .collect()
}

/// Rows for every list.
pub(crate) fn listings() -> Vec<Listing> {
    [messages::listings(), people::listings(), memory::listings(), account::listings()]
        .into_iter()
        .flatten()
        .collect()
}

/// The tools of RelayLink, to be listed and not called.
pub(crate) fn tools() -> Toolset {
    nowhere::relay().0.toolset()
}

/// Every tool with its cases; a tool without one fails, and so does a case without its tool.
pub(crate) fn by_tool(tools: &Toolset) -> Vec<(&Descriptor, Vec<&'static Case>)> {
    let mut cases: BTreeMap<&str, Vec<&'static Case>> = BTreeMap::new();
    for case in CASES.iter() {
        cases.entry(case.tool).or_default().push(case);
    }
    let listed: Vec<_> = tools.list().map(|tool| (tool, cases.remove(tool.name))).collect();
    let bare: Vec<_> =
        listed.iter().filter(|(_, cases)| cases.is_none()).map(|(tool, _)| tool.name).collect();
    assert!(bare.is_empty(), "without a case in tests/it/cases: {}", bare.join(", "));
    assert!(cases.is_empty(), "cases of tools that are not there: {:?}", cases.keys());
    listed.into_iter().map(|(tool, cases)| (tool, cases.unwrap_or_default())).collect()
}

/// Does something with every case, a few at a time, and collects what it gives, in the order of the cases.
pub(crate) async fn each<R, F: Future<Output = R> + Send>(does: impl Fn(&'static Case) -> F) -> Vec<R> {
    by_tool(&tools());
    stream::iter(CASES.iter().map(does)).buffered(4).collect().await
}

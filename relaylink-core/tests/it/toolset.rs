//! A toolset lists and calls what it was narrowed to, and nothing else.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use relaylink_core::{
    prelude::*,
    tool::{
        Caller, Ceiling, Grade, Toolset,
        toolset::{CallError, ToolsetError},
    },
};
use serde_json::{Map, Value as Json, json};

/// Counts what was done to it.
#[derive(Default)]
struct World {
    done: AtomicUsize,
}

#[derive(Serialize, JsonSchema)]
struct Count {
    done: usize,
}

macro_rules! counts {
    ($($tool:ident)*) => {$(
        impl Handle<World> for $tool {
            type Reply = Count;
            async fn handle(self, cx: Cx<'_, Self, World>) -> Result<Count, Stop> {
                Ok(Count { done: cx.state.done.fetch_add(1, Ordering::Relaxed) + 1 })
            }
        }
    )*};
}

/// Looks at the garden.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
struct GardenLook {}

/// Plants something.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, closed_world))]
struct GardenPlant {
    #[expect(dead_code, reason = "only its being read matters")]
    what: String,
}

/// Looks at the house.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
struct HouseLook {}

/// Tears the house down.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes, Removes), hints(closed_world))]
struct HouseRaze {}

counts! { GardenLook GardenPlant HouseLook HouseRaze }

/// Fails on every call.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
struct Fails {}

impl Handle<World> for Fails {
    type Reply = Count;
    async fn handle(self, _: Cx<'_, Self, World>) -> Result<Count, Stop> {
        panic!("the secret of the house")
    }
}

/// Bears the name of another tool.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(name = "house_look", effects(), hints(read_only, closed_world))]
struct Pretender {}

/// Takes a pair, which no schema can say to every client.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
struct Unportable {
    #[expect(dead_code, reason = "only its schema matters")]
    pair: (u8, u8),
}

counts! { Pretender Unportable }

fn world() -> (Arc<World>, Toolset) {
    let world = Arc::new(World::default());
    let tools = Toolset::over(Arc::clone(&world))
        .room("garden")
        .tool::<GardenPlant>()
        .also(&["essential", "looks"])
        .tool::<GardenLook>()
        .room("house")
        .tool::<HouseRaze>()
        .also(&["looks"])
        .tool::<HouseLook>()
        .also(&[])
        .tool::<Fails>()
        .build()
        .unwrap();
    (world, tools)
}

fn names(tools: &Toolset) -> Vec<&str> {
    tools.list().map(|tool| tool.name).collect()
}

fn local() -> Caller {
    Caller::local("acc_1")
}

async fn call(tools: &Toolset, name: &str) -> Result<Json, CallError> {
    tools.call(&local(), name, Map::new()).await
}

#[test]
fn tools_are_listed_in_the_order_they_were_added() {
    let (_, tools) = world();
    assert_eq!(names(&tools), ["garden_plant", "garden_look", "house_raze", "house_look", "fails"]);
    assert_eq!(tools.toolsets().collect::<Vec<_>>(), ["garden", "essential", "looks", "house"]);
    let look = tools.get("garden_look").unwrap();
    assert_eq!(look.room, Some("garden"));
    assert_eq!(look.toolsets().collect::<Vec<_>>(), ["garden", "essential", "looks"]);
}

#[test]
fn rooms_and_sets_across_them_narrow_the_list() {
    let (_, tools) = world();
    assert_eq!(names(&tools.only(&["house"]).unwrap()), ["house_raze", "house_look", "fails"]);
    assert_eq!(names(&tools.only(&["essential"]).unwrap()), ["garden_look"]);
    assert_eq!(names(&tools.only(&["looks"]).unwrap()), ["garden_look", "house_look"]);
    assert_eq!(names(&tools.only(&["essential", "house"]).unwrap()).len(), 4);
    assert_eq!(names(&tools.only::<&str>(&[]).unwrap()), [""; 0]);
}

#[test]
fn read_only_wins_whatever_the_order_and_names_stay_known() {
    let (_, tools) = world();
    let first = tools.read_only().only(&["house"]).unwrap().without(&["fails"]).unwrap();
    let last = tools.without(&["fails"]).unwrap().only(&["house"]).unwrap().read_only();
    assert_eq!(names(&first), ["house_look"]);
    assert_eq!(names(&last), names(&first));
    let none = tools.read_only().without(&["house_raze", "garden_plant"]).unwrap();
    assert_eq!(names(&none), ["garden_look", "house_look", "fails"]);
}

#[test]
fn a_name_that_is_not_there_is_refused_with_those_there_are() {
    let (_, tools) = world();
    let said = |error: Option<ToolsetError>| error.unwrap().to_string();
    assert_eq!(
        said(tools.only(&["house", "cellar"]).err()),
        "there is no toolset `cellar`; there are garden, essential, looks, house"
    );
    assert_eq!(
        said(tools.without(&["house_lok"]).err()),
        "there is no tool `house_lok`; did you mean `house_look`?"
    );
    assert_eq!(
        said(tools.without(&["zzz"]).err()),
        "there is no tool `zzz`; there are garden_plant, garden_look, house_raze, house_look, fails"
    );
}

#[test]
fn two_tools_of_one_name_are_refused_when_built_and_when_merged() {
    let (state, tools) = world();
    let twice = Toolset::over(Arc::clone(&state)).tool::<HouseLook>().tool::<Pretender>().build();
    assert!(matches!(twice.err(), Some(ToolsetError::SameName("house_look"))));
    let other = Toolset::over(Arc::clone(&state)).tool::<Pretender>().build().unwrap();
    assert!(matches!(tools.merge(&other).err(), Some(ToolsetError::SameName("house_look"))));
    let apart = tools.only(&["garden"]).unwrap().merge(&other).unwrap();
    assert_eq!(names(&apart), ["garden_plant", "garden_look", "house_look"]);
    assert!(apart.without(&["house_raze"]).is_ok());
}

#[test]
fn a_tool_without_a_portable_schema_is_refused_with_its_place() {
    let (state, _) = world();
    let error = Toolset::over(state).tool::<Unportable>().build().err().unwrap();
    assert_eq!(
        error.to_string(),
        "the tool `unportable` has no portable schema: at `arguments.pair`, a tuple; make it a struct, whose \
         fields have names"
    );
}

#[tokio::test]
async fn a_hidden_tool_is_unknown_and_does_nothing() {
    let (state, tools) = world();
    assert_eq!(call(&tools, "house_raze").await.unwrap(), json!({ "done": 1 }));
    let hidden = tools.without(&["house_raze"]).unwrap();
    assert!(hidden.get("house_raze").is_none());
    for name in ["house_raze", "no_such_tool", "", "House_look"] {
        assert!(matches!(call(&hidden, name).await, Err(CallError::UnknownTool { name: n }) if n == name));
    }
    assert!(matches!(call(&tools.read_only(), "house_raze").await, Err(CallError::UnknownTool { .. })));
    assert_eq!(state.done.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_panic_is_a_refusal_without_its_text_and_the_toolset_goes_on() {
    let (_, tools) = world();
    let Err(CallError::Stopped(Stop::Refused(refusal))) = call(&tools, "fails").await else {
        panic!("not refused")
    };
    assert_eq!(refusal.code, Code::Unavailable);
    assert!(!format!("{refusal:?}").contains("secret"));
    assert_eq!(call(&tools, "house_look").await.unwrap(), json!({ "done": 1 }));
}

#[tokio::test]
async fn a_tool_beyond_the_ceiling_is_refused_before_its_arguments_are_read() {
    let (state, tools) = world();
    let reader = Caller::with_credential("acc_1", "key_1", Ceiling::listed::<&str>([]));
    let writer = Caller::with_credential("acc_1", "key_2", Ceiling::listed([("Writes", Grade::Allow)]));
    let listed: Vec<_> = tools.list_for(&reader).map(|tool| tool.name).collect();
    assert_eq!(listed, ["garden_look", "house_look", "fails"]);
    assert!(tools.list_for(&writer).any(|tool| tool.name == "garden_plant"));
    assert!(!tools.list_for(&writer).any(|tool| tool.name == "house_raze"));

    let wrong = Map::from_iter([("nonsense".to_owned(), json!(true))]);
    let refused = async |caller: &Caller, name: &str| match tools.call(caller, name, wrong.clone()).await {
        Err(CallError::Stopped(Stop::Refused(refusal))) => refusal,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&reader, "garden_plant").await.code, Code::NotPermitted);
    assert_eq!(refused(&writer, "house_raze").await.code, Code::NotPermitted);
    let within = refused(&writer, "garden_plant").await;
    assert_eq!((within.code, within.field.as_deref()), (Code::InvalidArgument, Some("nonsense")));
    assert_eq!(state.done.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn lenient_arguments_reach_the_tool() {
    let (_, tools) = world();
    let missing = call(&tools, "garden_plant").await;
    let Err(CallError::Stopped(Stop::Refused(refusal))) = missing else { panic!("not refused") };
    assert_eq!(refusal.message, "garden_plant: `what` is missing, a string.");
    let given = Map::from_iter([("what".to_owned(), json!("a rose"))]);
    assert!(tools.call(&local(), "garden_plant", given).await.is_ok());
}

//! Titles, names and descriptions.
use relaylink_core::prelude::*;

#[derive(Tool)]
pub struct NoDocComment {}

///
#[derive(Tool)]
pub struct BlankDocComment {}

#[doc = concat!(" ", "\n")]
#[derive(Tool)]
pub struct BlankForTheCompiler {}

/// Blank title.
#[derive(Tool)]
#[tool(title = " ")]
pub struct BlankTitle {}

/// A title that turns around what a person reads.
#[derive(Tool)]
#[tool(title = "Look\u{202e}eteled")]
pub struct TurnedTitle {}

/// A title that rings.
#[derive(Tool)]
#[tool(title = "Look\x07")]
pub struct RingingTitle {}

/// Titles and names are texts.
#[derive(Tool)]
#[tool(title = 3, name = get_lamp)]
pub struct NotTexts {}

/// A name clients refuse.
#[derive(Tool)]
#[tool(name = "get-lamp")]
pub struct Dashed {}

/// Too long.
#[derive(Tool)]
pub struct TakeAFactAboutSomebodyOutOfTheMemoryForGoodAndAllAndEver {}

/// Too long, by hand.
#[derive(Tool)]
#[tool(name = "take_a_fact_about_somebody_out_of_the_memory_for_good")]
pub struct TooLong {}

/// Not a name for a tool.
#[derive(Tool)]
pub struct Größe {}

/// Arguments clients refuse.
#[derive(Tool, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Arguments {
    two_words: String,
    #[serde(rename = "$ref")]
    reference: String,
    #[serde(rename = "fine")]
    größe: String,
}

fn main() {}

//! One briefing between two people, played against a server of this same program over HTTP.

mod play;
mod show;
mod stage;

use clap::{Args, builder::BoolishValueParser};

use crate::failure::Failure;

/// Plays one briefing between two people, and shows every call with its hints.
#[derive(Args)]
pub(crate) struct Tour {
    /// Write each request and its reply as a line of JSON.
    #[arg(long, env = "RELAYLINK_JSON", value_parser = BoolishValueParser::new())]
    json: bool,
}

impl Tour {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let mut stage = stage::Stage::set().await?;
        let mut show = show::Show::new(self.json);
        let played = play::play(&mut stage, &mut show).await;
        let struck = stage.strike().await;
        played.and(struck)
    }
}

use std::{convert::Infallible, fmt::Display, str::FromStr, time::Duration};

use clap::{Args, ValueEnum, builder::BoolishValueParser};
use relaylink_core::{
    relay::{Clock, SystemClock, Timestamp},
    tool::{Ceiling, Effect, ExternalMail, Grade, Removes, SharedWork, Writes},
};

use crate::failure::Failure;

/// What a key may be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum May {
    /// Insert and update.
    Writes,
    /// Delete.
    Removes,
    /// Put mail in somebody's mailbox.
    ExternalMail,
    /// Change shared projects.
    SharedWork,
}

impl May {
    const fn effect(self) -> &'static str {
        match self {
            Self::Writes => Writes::NAME,
            Self::Removes => Removes::NAME,
            Self::ExternalMail => ExternalMail::NAME,
            Self::SharedWork => SharedWork::NAME,
        }
    }
}

/// The ceiling that allows these and nothing else, or nothing, which is the `flag`'s to say; none where
/// neither is said.
pub(crate) fn ceiling(may: Option<&[May]>, read_only: bool, flag: &str) -> Result<Option<Ceiling>, Failure> {
    let only = |may: &[May]| Ceiling::listed(may.iter().map(|may| (may.effect(), Grade::Allow)));
    match may {
        Some(_) if read_only => Err(Failure::usage(format!("{flag} and --may exclude each other"))
            .hint("Leave one out, and its variable: RELAYLINK_KEY_READ_ONLY or RELAYLINK_MAY.")),
        None if read_only => Ok(Some(only(&[]))),
        may => Ok(may.map(only)),
    }
}

/// Which tools are offered.
#[derive(Args)]
pub(crate) struct Offered {
    /// Offer only tools that change nothing.
    #[arg(long, env = "RELAYLINK_READ_ONLY", value_parser = BoolishValueParser::new())]
    pub(crate) read_only: bool,
    /// Offer only these rooms' tools, as `messages,people`.
    #[arg(long, value_name = "ROOM", value_delimiter = ',', value_parser = trimmed, env = "RELAYLINK_TOOLSETS")]
    pub(crate) toolsets: Vec<String>,
    /// Leave out these tools, as `memory_forget,confirm_send`.
    #[arg(long, value_name = "TOOL", value_delimiter = ',', value_parser = trimmed, env = "RELAYLINK_EXCLUDE_TOOLS")]
    pub(crate) exclude_tools: Vec<String>,
}

/// A name of a list, which may be written with a space after its commas.
#[expect(clippy::unnecessary_wraps, reason = "the shape of a parser of arguments")]
fn trimmed(name: &str) -> Result<String, Infallible> {
    Ok(name.trim().to_owned())
}

/// The longest time that a key is made for: a hundred years.
const LONGEST: Duration = Duration::from_hours(36_500 * 24);

/// A length of time from now, as `90d`, `12h` or `6w`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FromNow(Duration);

impl FromNow {
    /// The moment it ends.
    pub(crate) fn moment(self) -> Timestamp {
        SystemClock.now().plus_millis(i64::try_from(self.0.as_millis()).unwrap_or(i64::MAX))
    }
}

impl FromStr for FromNow {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "expected a number and h, d or w, as 12h, 90d or 6w";
        let unit = text.chars().next_back().ok_or(wrong)?;
        let seconds = match unit {
            'h' => 3_600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return Err(wrong),
        };
        let number: u32 = text.strip_suffix(unit).and_then(|number| number.parse().ok()).ok_or(wrong)?;
        if number == 0 {
            return Err("a key that is expired when it is made opens nothing");
        }
        let time = Duration::from_secs(u64::from(number) * seconds);
        if time > LONGEST {
            return Err("36500d is the longest; a key without it never expires");
        }
        Ok(Self(time))
    }
}

/// Reads an argument by its own law, and says what is wrong with it.
pub(crate) fn read<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_is_a_number_and_a_unit() {
        for (text, hours) in [("12h", 12), ("90d", 90 * 24), ("6w", 6 * 7 * 24), ("36500d", 36_500 * 24)] {
            assert_eq!(text.parse(), Ok(FromNow(Duration::from_secs(hours * 3_600))));
        }
        for text in ["36501d", "5215w", "", "d", "0d", "-1d", "90", "1.5d", "90 d", "9é", "99999999999d"] {
            assert!(text.parse::<FromNow>().is_err(), "{text}");
        }
    }
}

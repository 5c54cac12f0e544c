use std::fmt;

use serde_json::{Map, Value as Json};

use crate::tool::limits::QUOTED_MAX;

/// Where in the arguments: `to[0].name`. Built from the inside out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path(Vec<Segment>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Key(String),
    Index(usize),
}

impl Path {
    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// This path under that segment.
    pub(super) fn within(mut self, segment: Segment) -> Self {
        self.0.push(segment);
        self
    }

    /// Takes what lies there out of the arguments; whether there was something.
    pub(super) fn remove_from(&self, arguments: &mut Map<String, Json>) -> bool {
        let Some((Segment::Key(last), outer)) = self.0.split_first() else { return false };
        let mut at = arguments;
        let mut segments = outer.iter().rev().peekable();
        while let Some(segment) = segments.next() {
            let Segment::Key(key) = segment else { return false };
            let mut value = at.get_mut(key);
            while let Some(Segment::Index(index)) = segments.peek() {
                value = value.and_then(|value| value.get_mut(*index));
                segments.next();
            }
            match value {
                Some(Json::Object(map)) => at = map,
                _ => return false,
            }
        }
        at.remove(last).is_some()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().rev().enumerate() {
            match segment {
                Segment::Key(key) if at == 0 => write!(f, "{}", quotable(key))?,
                Segment::Key(key) => write!(f, ".{}", quotable(key))?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// The text as a message may repeat it: short, on one line.
pub(super) fn quotable(text: &str) -> String {
    let mut short: String = text.chars().take(QUOTED_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTED_MAX).is_some() {
        short.push('…');
    }
    short
}

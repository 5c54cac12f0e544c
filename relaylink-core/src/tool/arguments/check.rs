use serde_json::{Map, Number, Value as Json};

use super::{
    nearest,
    path::{Path, Segment, quotable},
    shape::{Field, Shape},
};
use crate::tool::{
    Code, Refusal,
    limits::{COMPLAINTS_MAX, DEPTH_MAX},
};

/// Whole numbers up to here are exact when they are written with a decimal point.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Where an empty text, or the empty list that it stands for, may stand in for an argument that is absent.
pub(super) type Blank = Path;

/// Brings the arguments into the form that their shape says, or refuses them; names each blank text.
pub(super) fn check(
    tool: &str,
    shape: &Shape,
    arguments: &mut Map<String, Json>,
) -> Result<Vec<Blank>, Refusal> {
    let mut check = Check::default();
    if let Shape::Record(fields) = shape {
        check.record(fields, arguments, &Trail::Root);
    }
    if check.complaints.is_empty() { Ok(check.blanks) } else { Err(check.refusal(tool)) }
}

/// The way down, kept on the stack: a path is only made where something is to be said of it.
enum Trail<'a> {
    Root,
    Key(&'a Trail<'a>, &'a str),
    Index(&'a Trail<'a>, usize),
}

impl Trail<'_> {
    fn path(&self) -> Path {
        let (mut path, mut at) = (Path::default(), self);
        loop {
            match at {
                Trail::Root => return path,
                Trail::Key(outer, key) => {
                    path = path.within(Segment::Key((*key).to_owned()));
                    at = outer;
                }
                Trail::Index(outer, index) => {
                    path = path.within(Segment::Index(*index));
                    at = outer;
                }
            }
        }
    }
}

struct Complaint {
    path: Path,
    what: What,
}

enum What {
    /// Not the name it is near to.
    Near {
        nearest: String,
    },
    /// In what record, and what that takes.
    Unknown {
        record: Path,
        takes: String,
    },
    Missing {
        due: String,
    },
    Wrong {
        due: String,
        got: String,
    },
}

#[derive(Default)]
struct Check {
    complaints: Vec<Complaint>,
    more: usize,
    blanks: Vec<Blank>,
}

impl Check {
    /// Lists what is wrong there, or counts it: then nothing is worked out for it.
    fn complain(&mut self, trail: &Trail<'_>, what: impl FnOnce() -> What) {
        if self.complaints.len() < COMPLAINTS_MAX {
            self.complaints.push(Complaint { path: trail.path(), what: what() });
        } else {
            self.more += 1;
        }
    }

    fn record(&mut self, fields: &[Field], map: &mut Map<String, Json>, trail: &Trail<'_>) {
        if !map.is_empty() {
            self.unknown_keys(fields, map, trail);
        }
        let mut absent = false;
        for field in fields {
            let at = Trail::Key(trail, &field.name);
            match map.get_mut(&*field.name) {
                None | Some(Json::Null) if field.required => {
                    self.complain(&at, || What::Missing { due: field.shape.due() });
                }
                None => {}
                Some(Json::Null) => absent = true,
                Some(value) if value.as_str() == Some("") && !field.required => match field.shape {
                    Shape::Text => self.blanks.push(at.path()),
                    Shape::List(_) => {
                        *value = Json::Array(Vec::new());
                        self.blanks.push(at.path());
                    }
                    _ => {
                        *value = Json::Null;
                        absent = true;
                    }
                },
                Some(value) => self.value(&field.shape, value, &at),
            }
        }
        if absent {
            map.retain(|_, value| !value.is_null());
        }
    }

    fn unknown_keys(&mut self, fields: &[Field], map: &Map<String, Json>, trail: &Trail<'_>) {
        let known = |key: &str| fields.binary_search_by(|field| (*field.name).cmp(key)).is_ok();
        let mut unknown: Vec<_> = map.keys().filter(|key| !known(key)).collect();
        unknown.sort_unstable();
        for key in unknown {
            self.complain(&Trail::Key(trail, key), || {
                let open = fields.iter().map(|field| &*field.name).filter(|name| !map.contains_key(*name));
                match nearest(key, open) {
                    Some(nearest) => What::Near { nearest },
                    None => What::Unknown { record: trail.path(), takes: names(fields) },
                }
            });
        }
    }

    fn value(&mut self, shape: &Shape, value: &mut Json, trail: &Trail<'_>) {
        if let (Shape::List(_) | Shape::Record(_) | Shape::Free, Json::String(text)) = (shape, &*value)
            && let Ok(parsed @ (Json::Array(_) | Json::Object(_))) = serde_json::from_str(text)
        {
            *value = parsed;
        }
        let fits = match (shape, &mut *value) {
            (Shape::Text, Json::String(_)) | (Shape::Flag, Json::Bool(_)) => true,
            (Shape::Choice(values), Json::String(text)) => values.iter().any(|value| **value == **text),
            (Shape::Flag, Json::String(text)) => match text.as_str() {
                "true" => put(value, Some(true)),
                "false" => put(value, Some(false)),
                _ => false,
            },
            (Shape::Whole, Json::Number(number)) => match whole(number) {
                found @ Some(_) => put(value, found),
                None => false,
            },
            (Shape::Whole, Json::String(text)) => {
                let found = number(text).as_ref().and_then(whole);
                put(value, found)
            }
            (Shape::Number, Json::Number(number)) => {
                let found = finite(number);
                put(value, found)
            }
            (Shape::Number, Json::String(text)) => {
                let found = number(text).as_ref().and_then(finite);
                put(value, found)
            }
            (Shape::List(items), Json::Array(values)) => {
                for (index, value) in values.iter_mut().enumerate() {
                    self.value(items, value, &Trail::Index(trail, index));
                }
                true
            }
            (Shape::Record(fields), Json::Object(map)) => {
                self.record(fields, map, trail);
                true
            }
            (Shape::Free, Json::Object(_)) => {
                if !within_depth(value, DEPTH_MAX) {
                    self.complain(trail, || What::Wrong {
                        due: format!("an object of at most {DEPTH_MAX} levels"),
                        got: "a deeper one".to_owned(),
                    });
                }
                true
            }
            _ => false,
        };
        if !fits {
            self.complain(trail, || What::Wrong { due: shape.due(), got: got(value) });
        }
    }

    fn refusal(self, tool: &str) -> Refusal {
        let mut drop = Vec::new();
        let mut taken: Vec<(&Path, &str)> = Vec::new();
        let mut parts = Vec::new();
        for Complaint { path, what } in &self.complaints {
            parts.push(match what {
                What::Near { nearest } => {
                    format!("unknown argument `{path}`, the nearest is `{nearest}`")
                }
                What::Unknown { record, takes } => {
                    drop.push(format!("`{path}`"));
                    // Items of one list take the same: once is enough.
                    if taken.iter().all(|(_, told)| told != takes) {
                        taken.push((record, takes));
                    }
                    format!("unknown argument `{path}`")
                }
                What::Missing { due } => format!("`{path}` is missing, {due}"),
                What::Wrong { due, got } => format!("`{path}` must be {due}, not {got}"),
            });
        }
        if self.more > 0 {
            parts.push(format!("and {} more", self.more));
        }
        let message = format!("{tool}: {}.", parts.join("; "));
        let field = self.complaints.first().map(|complaint| complaint.path.to_string()).unwrap_or_default();
        let refusal = Refusal::new(Code::InvalidArgument, message).field(field);
        if drop.is_empty() {
            return refusal;
        }
        let taken = taken.into_iter().map(|(record, takes)| {
            let record = if record.is_root() { tool.to_owned() } else { format!("`{record}`") };
            format!("{record} takes {takes}.")
        });
        let taken = taken.collect::<Vec<_>>().join(" ");
        refusal.hint(format!("Drop {}. {taken}", drop.join(", ")))
    }
}

/// The arguments there are, in words.
fn names(fields: &[Field]) -> String {
    if fields.is_empty() {
        return "no arguments".to_owned();
    }
    fields.iter().map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ")
}

/// Puts what was found in the place of the value; whether something was.
fn put(value: &mut Json, found: Option<impl Into<Json>>) -> bool {
    found.map(|found| *value = found.into()).is_some()
}

/// The number that a text writes.
fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(whole.into());
    }
    text.parse().ok().and_then(Number::from_f64)
}

/// The number as a whole one.
fn whole(number: &Number) -> Option<Number> {
    if let Some(whole) = number.as_u64() {
        return Some(whole.into());
    }
    if let Some(whole) = number.as_i64() {
        return Some(whole.into());
    }
    let real = number.as_f64().filter(|real| real.fract() == 0.0 && real.abs() <= EXACT_MAX)?;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and within what is exact")]
    Some((real as i64).into())
}

/// The number in the form in which serde takes it for one, whatever `serde_json` keeps of its text.
fn finite(number: &Number) -> Option<Number> {
    match whole(number) {
        Some(whole) => Some(whole),
        None => number.as_f64().and_then(Number::from_f64),
    }
}

fn within_depth(value: &Json, left: usize) -> bool {
    match value {
        Json::Array(items) => left > 0 && items.iter().all(|item| within_depth(item, left - 1)),
        Json::Object(map) => left > 0 && map.values().all(|item| within_depth(item, left - 1)),
        _ => true,
    }
}

/// What came, in words.
fn got(value: &Json) -> String {
    match value {
        Json::Null | Json::Bool(_) => value.to_string(),
        Json::Number(number) => quotable(&number.to_string()),
        Json::String(text) => format!("\"{}\"", quotable(text)),
        Json::Array(_) => "a list".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_worked_out_for_complaints_beyond_those_that_are_listed() {
        let mut check = Check::default();
        for _ in 0..COMPLAINTS_MAX {
            check.complain(&Trail::Root, || What::Missing { due: String::new() });
        }
        check.complain(&Trail::Root, || panic!("worked out"));
        assert_eq!((check.complaints.len(), check.more), (COMPLAINTS_MAX, 1));
    }
}

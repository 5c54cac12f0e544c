//! Arguments as models really send them.
//!
//! They are read by the published schema first: `null` is absent, `""` is an empty list where a list is
//! due and absent where it is no value, `"5"` and `5.0` are 5 where a whole
//! number is due, `"true"` is true where a flag is due, JSON text is parsed where a list or an object is
//! due. What does not fit is refused in one sentence with the tool, each argument's path and what was
//! expected there. Then serde reads the tool from them.

mod check;
mod deserialize;
mod path;
mod shape;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value as Json};

use self::{
    check::{Blank, check},
    deserialize::{De, Fault, keeps_the_rest},
};
use super::{Code, Descriptor, Refusal, Stop, limits::COMPARED_MAX};

pub(crate) use shape::Shape;

/// Reads a tool from its arguments.
pub(crate) fn read<T: DeserializeOwned>(
    descriptor: &Descriptor,
    mut arguments: Map<String, Json>,
) -> Result<T, Stop> {
    let blanks = check(descriptor.name, &descriptor.shape, &mut arguments)?;
    // Both are rare, and only then is there something to try a second time.
    let kept = (!blanks.is_empty() || keeps_the_rest::<T>()).then(|| arguments.clone());
    T::deserialize(De(Json::Object(arguments)))
        .or_else(|fault| match kept {
            Some(kept) => without_blanks(kept, &blanks, fault),
            None => Err(fault),
        })
        .map_err(|fault| refusal(descriptor.name, &fault).into())
}

/// Reads again without each empty text that is no value of its argument: it is as good as absent.
fn without_blanks<T: DeserializeOwned>(
    mut kept: Map<String, Json>,
    blanks: &[Blank],
    mut fault: Fault,
) -> Result<T, Fault> {
    loop {
        if fault.path.is_root() {
            fault = placed::<T>(&kept, fault);
        }
        if !blanks.contains(&fault.path) || !fault.path.remove_from(&mut kept) {
            return Err(fault);
        }
        match T::deserialize(De(Json::Object(kept.clone()))) {
            Ok(tool) => return Ok(tool),
            Err(next) => fault = next,
        }
    }
}

/// A fault in a flattened struct comes without its path: it lies with the argument without which
/// it is gone.
fn placed<T: DeserializeOwned>(kept: &Map<String, Json>, fault: Fault) -> Fault {
    let mut names: Vec<_> = kept.keys().collect();
    names.sort_unstable();
    let place = names.into_iter().find(|name| {
        let rest = kept.iter().filter(|(key, _)| key != name);
        let rest = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
        match T::deserialize(De(Json::Object(rest))) {
            Ok(_) => true,
            Err(other) => other.what != fault.what && !other.is_missing(),
        }
    });
    match place {
        Some(name) => fault.under_key(name.clone()),
        None => fault,
    }
}

fn refusal(tool: &str, fault: &Fault) -> Refusal {
    let what = fault.what.trim_end_matches('.');
    let message = match (fault.path.is_root(), fault.is_missing()) {
        (true, _) => format!("{tool}: the arguments are not valid: {what}."),
        (false, true) => format!("{tool}: `{}` is missing.", fault.path),
        (false, false) => format!("{tool}: `{}` is not valid: {what}.", fault.path),
    };
    let refusal = Refusal::new(Code::InvalidArgument, message);
    if fault.path.is_root() { refusal } else { refusal.field(fault.path.to_string()) }
}

/// Writes a reply.
pub(crate) fn write<R: Serialize>(reply: &R) -> Result<Json, Stop> {
    serde_json::to_value(reply).map_err(|error| {
        tracing::error!(%error, "a reply could not be written");
        Stop::refuse(Code::Unavailable, "The reply could not be written.")
    })
}

/// How alike two names must be, from 0 to 1, to be taken for each other.
const ALIKE: f64 = 0.8;

/// The nearest of the names there are, if one is near.
pub(crate) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let letters = |text: &str| -> String {
        text.chars()
            .filter(char::is_ascii_alphanumeric)
            .take(COMPARED_MAX)
            .collect::<String>()
            .to_ascii_lowercase()
    };
    let wanted = letters(name);
    let scored = names.map(|known| (strsim::jaro_winkler(&wanted, &letters(known)), known));
    let near = scored.filter(|(score, _)| *score >= ALIKE);
    near.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(a.1))).map(|(_, known)| known.to_owned())
}

#[cfg(test)]
mod tests;

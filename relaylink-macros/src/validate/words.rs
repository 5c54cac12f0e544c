//! Words that are nearly right, and what was probably meant.

use proc_macro2::Ident;
use syn::ext::IdentExt;

use crate::{
    Errors,
    model::{Effect, Hint},
    names,
    parse::Beside,
};

pub(super) const KEYS: [&str; 7] = ["effects", "hints", "declines", "title", "always_ask", "name", "crate"];

/// The effects there are without those of users.
const EFFECTS: [&str; 4] = ["Writes", "Removes", "ExternalMail", "SharedWork"];

/// A word that is nearly a known effect's is told and taken for it: rustc would propose a statement type.
pub(super) fn correct(effect: &mut Effect, errors: &mut Errors) {
    let Some(word) = effect.path.get_ident().map(ToString::to_string) else { return };
    let meant = EFFECTS.into_iter().find(|known| names::one_slip(&word, known));
    let Some(known) = meant.filter(|known| **known != *word) else { return };
    errors.at(
        &effect.word,
        format_args!(
            "did you mean the effect `{known}`? One of yours that is called `{word}` is written with its path: `self::{word}`"
        ),
    );
    let known = Ident::new(known, effect.word.span());
    effect.path = syn::parse_quote!(__relaylink::tool::#known);
    effect.word = known;
}

/// The hint of this word, or the mistake told.
pub(super) fn hint(word: &Ident, beside: &Beside, errors: &mut Errors) -> Option<Hint> {
    let written = word.unraw().to_string();
    if let Some(hint) = Hint::named(&written) {
        return Some(hint);
    }
    let known = Hint::ALL.map(Hint::word);
    let message = opposite(&written, beside).unwrap_or_else(|| match names::nearest(&written, known) {
        Some(nearest) => format!("there is no hint `{written}`: did you mean `{nearest}`?"),
        None => format!("there is no hint `{written}`: the hints are {}", quoted(&known)),
    });
    errors.at(word, message);
    None
}

/// What is told of a hint of MCP's that no tool has to claim.
fn opposite(written: &str, beside: &Beside) -> Option<String> {
    let (word, hint, counts) = match names::plainly(written).as_str() {
        "destructive" => ("destructive", Hint::Additive, "destructive"),
        "openworld" => ("open_world", Hint::ClosedWorld, "open to the world"),
        _ => return None,
    };
    let hint = hint.word();
    Some(match beside {
        Beside::Value(value) if value.to_string() == "false" => {
            format!("`{word} = false` is the hint `{hint}`: write `hints({hint})`")
        }
        _ => format!(
            "`{word}` is not a hint: a hint only narrows, and a tool without `{hint}` already counts as {counts}; leave it out"
        ),
    })
}

pub(super) fn unknown_key(key: &str, beside: &Beside) -> String {
    if Hint::named(key).is_some() {
        return format!("`{key}` is a hint: write `hints({key})`");
    }
    if EFFECTS.contains(&key) {
        return format!("`{key}` is an effect: write `effects({key})`");
    }
    if let Some(told) = opposite(key, beside) {
        return told;
    }
    if key == "description" {
        return "the description is the doc comment: write `/// …` above the type".to_owned();
    }
    let hints = Hint::ALL.map(Hint::word);
    match names::nearest(key, KEYS.into_iter().chain(hints)) {
        Some(nearest) if Hint::named(nearest).is_some() => {
            format!("`#[tool(…)]` knows no `{key}`: did you mean `hints({nearest})`?")
        }
        Some(nearest) => format!("`#[tool(…)]` knows no `{key}`: did you mean `{nearest}`?"),
        None => format!("`#[tool(…)]` knows no `{key}`: it takes {}", quoted(&KEYS)),
    }
}

/// `a`, `b` and `c`, each in backquotes.
fn quoted(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

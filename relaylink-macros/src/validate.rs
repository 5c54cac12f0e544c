//! From a draft to a tool. Collects every mistake and keeps what is sound.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Fields, LitStr, Path, ext::IdentExt, spanned::Spanned};

use crate::{
    Errors,
    description::{self, Description},
    model::{Claim, Decline, Effect, Tool},
    names,
    parse::{self, Beside, Draft, Entry},
};

mod fields;
mod words;

use words::{KEYS, correct, hint, unknown_key};

/// Understands a draft.
pub(crate) fn tool(draft: Draft, errors: &mut Errors) -> Tool {
    let Draft { item, entries } = draft;
    shape(&item, errors);
    fields::check(&item, errors);

    let ident = item.ident;
    let mut tool = Tool {
        name: names::snake_case(&ident.unraw().to_string()),
        ident,
        generics: item.generics,
        title: None,
        description: Description::Text(String::new()),
        effects: Vec::new(),
        hints: Vec::new(),
        declines: Vec::new(),
        always_ask: false,
        core: quote!(::relaylink_core),
        core_span: Span::call_site(),
    };

    let mut named = None;
    let mut declined = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for Entry { word, beside } in entries {
        let key = word.unraw().to_string();
        if KEYS.contains(&key.as_str()) {
            if seen.contains(&key) {
                let remedy = match key.as_str() {
                    "effects" | "hints" | "declines" => "put all of it into the first one",
                    _ => "leave this one out",
                };
                errors.at(&word, format_args!("`{key}` is given twice: {remedy}"));
                continue;
            }
            seen.push(key.clone());
        }
        match key.as_str() {
            "effects" => {
                if let Some(list) = list(&word, beside, "effects(Writes, Removes)", errors) {
                    tool.effects = effects(&list, errors);
                }
            }
            "hints" => {
                if let Some(list) = list(&word, beside, "hints(additive, closed_world)", errors) {
                    tool.hints = hints(&list, errors);
                }
            }
            "declines" => {
                if let Some(list) = list(&word, beside, "declines(closed_world = \"why\")", errors) {
                    declined = declines(&list, errors);
                }
            }
            "title" => {
                let title = text(&word, beside, "title = \"Forget a fact\"", errors);
                tool.title = title.and_then(|(title, literal)| match names::hidden(&title) {
                    None => Some(title),
                    Some(hidden) => {
                        let code = u32::from(hidden);
                        errors.at(
                            &literal,
                            format_args!(
                                "this title holds a control or direction character, U+{code:04X}, which no person sees: leave it out"
                            ),
                        );
                        None
                    }
                });
            }
            "name" => named = text(&word, beside, "name = \"memory_forget\"", errors),
            "always_ask" => match beside {
                Beside::Nothing => tool.always_ask = true,
                _ => errors.at(&word, "`always_ask` stands alone: write it, or leave it out"),
            },
            "crate" => {
                if let Some(path) = core(&word, beside, errors) {
                    tool.core_span = path.span();
                    tool.core = path.into_token_stream();
                }
            }
            _ => errors.at(&word, unknown_key(&key, &beside)),
        }
    }

    name(&mut tool, named, errors);
    match Description::of(&item.attrs) {
        Some(description) => tool.description = description,
        None => errors.at(&tool.ident, description::missing(&tool.name)),
    }
    contradictions(&tool, &declined, errors);
    tool.declines = declined;
    tool
}

/// A tool is a struct of named arguments without parameters.
fn shape(item: &DeriveInput, errors: &mut Errors) {
    let ident = &item.ident;
    match &item.data {
        Data::Enum(data) => errors.at(
            &data.enum_token,
            "a tool is a struct, not an enum: each tool has one set of arguments, so make each variant a tool of its own, or take the enum as an argument",
        ),
        Data::Union(data) => errors.at(
            &data.union_token,
            "a tool is a struct, not a union: its fields are the arguments",
        ),
        Data::Struct(data) => match &data.fields {
            Fields::Named(_) => {}
            Fields::Unit => errors.at(
                ident,
                format_args!(
                    "arguments come as an object, which a unit struct is not: write `struct {ident} {{}}`"
                ),
            ),
            Fields::Unnamed(fields) => errors.at(
                fields,
                format_args!("arguments have names: write `struct {ident} {{ name: Type }}`"),
            ),
        },
    }
    for parameter in &item.generics.params {
        let remedy = match parameter {
            syn::GenericParam::Lifetime(_) => {
                "a tool owns its arguments, so it has no lifetime: use `String` for `&str`"
            }
            syn::GenericParam::Type(_) => {
                "a tool has one name and one schema, so it has no type parameter: write a tool for each type"
            }
            syn::GenericParam::Const(_) => {
                "a tool has one name and one schema, so it has no const parameter: write a tool for each value, or make it an argument"
            }
        };
        errors.at(parameter, remedy);
    }
    if let (true, Some(clause)) = (item.generics.params.is_empty(), &item.generics.where_clause) {
        errors.at(clause, "a tool has no parameters to bound: leave out the `where`");
    }
}

fn list(word: &Ident, beside: Beside, example: &str, errors: &mut Errors) -> Option<Group> {
    match beside {
        Beside::List(group) => {
            if group.delimiter() != Delimiter::Parenthesis {
                errors.at(&group, format_args!("`{word}` wants its list in parentheses: `{example}`"));
            }
            Some(group)
        }
        Beside::Nothing => {
            errors.at(word, format_args!("`{word}` wants its list: `{example}`"));
            None
        }
        Beside::Value(value) => {
            errors.at(
                &spanned(word, value),
                format_args!("`{word}` wants its list in parentheses: `{example}`"),
            );
            None
        }
    }
}

/// A string that is not blank, and where it stands.
fn text(word: &Ident, beside: Beside, example: &str, errors: &mut Errors) -> Option<(String, LitStr)> {
    let value = match beside {
        Beside::Value(value) => value,
        Beside::Nothing => TokenStream::new(),
        Beside::List(group) => group.into_token_stream(),
    };
    let wrong = spanned(word, value.clone());
    let Ok(literal) = syn::parse2::<LitStr>(value) else {
        errors.at(&wrong, format_args!("`{word}` wants a text in quotes: `{example}`"));
        return None;
    };
    if literal.value().trim().is_empty() {
        errors.at(
            &literal,
            format_args!("this text is blank: write something, such as `{example}`, or leave `{word}` out"),
        );
        return None;
    }
    Some((literal.value().trim().to_owned(), literal))
}

/// The tokens, or the word where there are none.
fn spanned(word: &Ident, tokens: TokenStream) -> TokenStream {
    if tokens.is_empty() { word.to_token_stream() } else { tokens }
}

fn core(word: &Ident, beside: Beside, errors: &mut Errors) -> Option<Path> {
    let value = match beside {
        Beside::Value(value) => value,
        Beside::Nothing => TokenStream::new(),
        Beside::List(group) => group.into_token_stream(),
    };
    let wrong = spanned(word, value.clone());
    let path = Path::parse_mod_style;
    if let Ok(path) = syn::parse::Parser::parse2(path, value) {
        return Some(path);
    }
    errors.at(
        &wrong,
        "`crate` wants the path where relaylink-core is found, without quotes: `crate = facade::relaylink_core`",
    );
    None
}

fn effects(list: &Group, errors: &mut Errors) -> Vec<Effect> {
    let mut effects: Vec<Effect> = Vec::new();
    for mut effect in parse::effects(list, errors) {
        correct(&mut effect, errors);
        if let Some(first) = effects.iter().find(|first| parse::alike(&first.path, &effect.path)) {
            let another = if first.path == effect.path {
                ""
            } else {
                ", or import it by a name of its own if it is another"
            };
            errors.at(
                &effect.path,
                format_args!("the effect `{}` is listed twice: leave this one out{another}", effect.word),
            );
        } else {
            effects.push(effect);
        }
    }
    effects
}

fn hints(list: &Group, errors: &mut Errors) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    for Entry { word, beside } in parse::entries(list.stream(), errors) {
        let Some(hint) = hint(&word, &beside, errors) else { continue };
        match beside {
            Beside::Nothing => {}
            Beside::Value(value) if value.to_string() == "false" => {
                errors.at(
                    &spanned(&word, value),
                    format_args!("a hint only narrows, so there is no `{word} = false`: leave `{word}` out"),
                );
                continue;
            }
            _ => errors.at(&word, format_args!("a hint is a word alone: write `{word}`")),
        }
        if claims.iter().any(|first| first.hint == hint) {
            errors.at(&word, format_args!("the hint `{word}` is given twice: leave this one out"));
        } else {
            claims.push(Claim { hint, word });
        }
    }
    claims
}

fn declines(list: &Group, errors: &mut Errors) -> Vec<Decline> {
    let mut declines: Vec<Decline> = Vec::new();
    for Entry { word, beside } in parse::entries(list.stream(), errors) {
        let Some(hint) = hint(&word, &beside, errors) else { continue };
        if declines.iter().any(|first| first.hint == hint) {
            errors.at(&word, format_args!("`{word}` is declined twice: leave this one out"));
            continue;
        }
        let value = match beside {
            Beside::Value(value) => value,
            Beside::Nothing => TokenStream::new(),
            Beside::List(group) => group.into_token_stream(),
        };
        let wrong = spanned(&word, value.clone());
        let reason = syn::parse2::<LitStr>(value).map(|reason| reason.value().trim().to_owned());
        let reason = match reason {
            Ok(reason) if !reason.is_empty() => reason,
            Ok(_) => {
                errors.at(&wrong, format_args!("this reason is blank: say why `{word}` is not hinted"));
                continue;
            }
            Err(_) => {
                errors.at(
                    &wrong,
                    format_args!(
                        "declining a hint wants the reason in quotes: `{word} = \"why it is not hinted\"`"
                    ),
                );
                continue;
            }
        };
        declines.push(Decline { hint, word, reason });
    }
    declines
}

/// Settles the tool's name.
fn name(tool: &mut Tool, named: Option<(String, LitStr)>, errors: &mut Errors) {
    match named {
        Some((name, literal)) => match names::wrong_tool_name(&name) {
            Some(wrong) => errors.at(&literal, format_args!("the tool name `{name}` {wrong}")),
            None => tool.name = name,
        },
        None => {
            if let Some(wrong) = names::wrong_tool_name(&tool.name) {
                errors.at(
                    &tool.ident,
                    format_args!(
                        "the tool name `{}` {wrong}: name it with `#[tool(name = \"…\")]`",
                        tool.name
                    ),
                );
            }
        }
    }
}

/// A hint is claimed or declined, not both.
fn contradictions(tool: &Tool, declined: &[Decline], errors: &mut Errors) {
    for decline in declined {
        let word = &decline.word;
        let Some(claim) = tool.hints.iter().find(|claim| claim.hint.implies(decline.hint)) else { continue };
        let told = if claim.hint == decline.hint {
            format!("the tool `{}` both hints and declines `{word}`: keep one of them", tool.name)
        } else {
            format!(
                "the tool `{}` declines `{word}`, which its hint `{}` implies: keep one of them",
                tool.name, claim.word
            )
        };
        errors.at(word, told);
    }
}

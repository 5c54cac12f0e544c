//! From tokens to a draft, tolerantly: what cannot be read is reported, and the rest is read on.

use std::iter::Peekable;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree, token_stream::IntoIter};
use quote::ToTokens;
use syn::{Attribute, DeriveInput, Meta, Path, parse::Parser};

use crate::{Errors, model::Effect};

/// An item and what its attribute says, each word with what was written beside it.
pub(crate) struct Draft {
    pub(crate) item: DeriveInput,
    pub(crate) entries: Vec<Entry>,
}

/// `word`, `word(…)`, also in other brackets, or `word = …`.
pub(crate) struct Entry {
    pub(crate) word: Ident,
    pub(crate) beside: Beside,
}

/// What is written beside a word.
pub(crate) enum Beside {
    Nothing,
    List(Group),
    Value(TokenStream),
}

/// Reads an item; none where it is not one.
pub(crate) fn draft(item: TokenStream, errors: &mut Errors) -> Option<Draft> {
    let item: DeriveInput = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => {
            errors.add(error);
            return None;
        }
    };
    let mut all = Vec::new();
    for attribute in tool_attributes(&item.attrs) {
        match &attribute.meta {
            Meta::Path(_) => {}
            Meta::List(list) => all.extend(entries(list.tokens.clone(), errors)),
            Meta::NameValue(pair) => {
                errors.at(pair, "write `#[tool(…)]`, such as `#[tool(effects(Writes), hints(additive))]`");
            }
        }
    }
    Some(Draft { item, entries: all })
}

/// Those of the attributes that are the derive's.
pub(crate) fn tool_attributes(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("tool"))
}

/// Reads words and what stands beside them.
pub(crate) fn entries(tokens: TokenStream, errors: &mut Errors) -> Vec<Entry> {
    let mut tokens = tokens.into_iter().peekable();
    let mut entries = Vec::new();
    let mut separated = true;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => {
                if separated {
                    errors.at(&comma, "a word is missing before this comma");
                }
                separated = true;
            }
            TokenTree::Ident(word) => {
                if !separated {
                    errors.at(&word, format_args!("put a comma before `{word}`"));
                }
                separated = false;
                let beside = beside(&mut tokens);
                entries.push(Entry { word, beside });
            }
            other => {
                errors.at(&other, format_args!("a word is expected here, not `{other}`"));
                // What follows belongs to it, up to the next comma.
                while tokens.next_if(|token| !is_comma(token)).is_some() {}
                separated = false;
            }
        }
    }
    entries
}

fn beside(tokens: &mut Peekable<IntoIter>) -> Beside {
    match tokens.peek() {
        Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::None => {
            let group = group.clone();
            tokens.next();
            Beside::List(group)
        }
        Some(TokenTree::Punct(equals)) if equals.as_char() == '=' => {
            tokens.next();
            let mut value = TokenStream::new();
            if let Some(literal) = tokens.next_if(|token| matches!(token, TokenTree::Literal(_))) {
                value.extend([literal]);
            } else {
                while let Some(token) = tokens.next_if(|token| !is_comma(token)) {
                    value.extend([token]);
                }
            }
            Beside::Value(value)
        }
        _ => Beside::Nothing,
    }
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}

/// Reads the paths of `effects(…)`.
pub(crate) fn effects(list: &Group, errors: &mut Errors) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut tokens = list.stream().into_iter().peekable();
    while tokens.peek().is_some() {
        let mut chunk = TokenStream::new();
        let mut depth = 0_u32;
        while let Some(token) = tokens.next_if(|token| depth > 0 || !is_comma(token)) {
            // A comma between `<` and `>` belongs to the path.
            if let TokenTree::Punct(punct) = &token {
                match punct.as_char() {
                    '<' => depth += 1,
                    '>' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            chunk.extend([token]);
        }
        let comma = tokens.next();
        if let (true, Some(comma)) = (chunk.is_empty(), &comma) {
            errors.at(comma, "an effect is missing before this comma");
        }
        while !chunk.is_empty() {
            chunk = one_effect(&chunk, &mut effects, errors);
        }
    }
    effects
}

/// Reads one path and gives back what stands behind it.
fn one_effect(tokens: &TokenStream, effects: &mut Vec<Effect>, errors: &mut Errors) -> TokenStream {
    let path_and_rest =
        |input: syn::parse::ParseStream<'_>| Ok((input.parse::<Path>()?, input.parse::<TokenStream>()?));
    let Ok((path, rest)) = path_and_rest.parse2(tokens.clone()) else {
        errors.at(tokens, "an effect is the path of a type, such as `Writes` or `my::CallsForecastApi`");
        return TokenStream::new();
    };
    effects.extend(effect(path));
    match rest.clone().into_iter().next() {
        Some(TokenTree::Ident(word)) => {
            errors.at(&word, format_args!("put a comma before `{word}`"));
            rest
        }
        Some(_) => {
            errors.at(&rest, "an effect is the path of a type alone, such as `Writes`");
            TokenStream::new()
        }
        None => rest,
    }
}

fn effect(path: Path) -> Option<Effect> {
    let word = path.segments.last()?.ident.clone();
    Some(Effect { path, word })
}

/// Whether two paths end alike. What they lead to nobody knows yet; two effects of one name would be one
/// to every ceiling.
pub(crate) fn alike(one: &Path, other: &Path) -> bool {
    let last = |path: &Path| path.segments.last().map(|last| last.to_token_stream().to_string());
    last(one) == last(other)
}

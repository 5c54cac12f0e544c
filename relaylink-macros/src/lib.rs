//! `derive(Tool)`: a tool's descriptor from its arguments, with hints checked against its effects.
//!
//! Made for `relaylink-core`, which re-exports the derive and documents it; see
//! `relaylink_core::tool::Tool`.

mod description;
mod expand;
mod model;
mod names;
mod parse;
mod validate;

use proc_macro2::TokenStream;

/// Makes a struct of named arguments a tool.
///
/// ```text
/// /// Take a fact about somebody out of memory.
/// #[derive(Tool, Deserialize, JsonSchema)]
/// #[tool(effects(Writes, Removes), hints(idempotent, closed_world))]
/// pub struct MemoryForget { … }
/// ```
///
/// The attribute `#[tool(…)]` takes, each once and all of them optional:
/// - `effects(Writes, my::CallsForecastApi)`: what the tool may do, as paths of types that
///   implement `Effect`. It can do nothing else.
/// - `hints(read_only, additive, idempotent, closed_world)`: what it claims. A hint that an effect
///   contradicts does not compile; `idempotent` is left to the replay audit.
/// - `declines(closed_world = "why")`: a hint that could be claimed and is not, and the reason.
/// - `title = "Forget a fact"`: what a person is shown when asked.
/// - `always_ask`: every call is to be put to a person.
/// - `name = "memory_forget"`: the name on the wire; otherwise the type's name in snake case.
/// - `crate = some::path`: where `relaylink_core` is found, if not at `::relaylink_core`.
///
/// `JsonSchema` is that of schemars 1, and what it derives begins with `::schemars`: the manifest of
/// the crate names `schemars = "1"` beside `relaylink-core` and `serde`. Where it names another
/// version, or none, every error is one of `JsonSchema` and says so: "cannot find … in `schemars`".
///
/// The doc comment is the description that models read; a tool without one does not compile.
/// All mistakes of a tool are reported at once, and the type stays usable meanwhile.
#[proc_macro_derive(Tool, attributes(tool))]
pub fn tool(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(item.into()).into()
}

fn derive(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let implementation = parse::draft(item, &mut errors).map(|draft| {
        let tool = validate::tool(draft, &mut errors);
        expand::tool(&tool, errors.is_empty())
    });
    let mut tokens = errors.into_tokens();
    tokens.extend(implementation);
    tokens
}

/// Every mistake found so far.
#[derive(Default)]
struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds a mistake in these tokens.
    fn at(&mut self, tokens: &impl quote::ToTokens, message: impl std::fmt::Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// In a block of its own: rustc keeps silent about names it cannot find in a module with a
    /// `compile_error!` in it, and those are mistakes to be told as well.
    fn into_tokens(self) -> TokenStream {
        let Some(errors) = self.0.map(syn::Error::into_compile_error) else { return TokenStream::new() };
        quote::quote!(const _: () = { #errors };)
    }
}

#[cfg(test)]
mod tests;

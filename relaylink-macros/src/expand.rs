//! From a tool to its implementation.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use crate::{
    description::Description,
    model::{Effect, Hint, Tool},
};

/// The tool's impls and the proofs of its hints. Where it is not sound it claims nothing, and its
/// effects still count, so that only the true mistakes are reported.
pub(crate) fn tool(tool: &Tool, sound: bool) -> TokenStream {
    let core = &tool.core;
    let aliases: Vec<Ident> =
        tool.effects.iter().enumerate().map(|(at, effect)| alias(at, effect.word.span())).collect();
    let paths = tool.effects.iter().map(|effect| &effect.path);
    let implementation = implementation(tool, &aliases, sound);
    let may = may(tool, &aliases);
    let proofs = proofs(tool, &aliases);
    quote! {
        #[doc(hidden)]
        #[allow(deprecated)]
        const _: () = {
            use #core as __relaylink;
            #(type #aliases = #paths;)*
            #implementation
            #may
            #proofs
        };
    }
}

/// The effect's name inside the expansion, standing where the effect does.
fn alias(at: usize, span: Span) -> Ident {
    format_ident!("__Effect{at}", span = span)
}

fn implementation(tool: &Tool, aliases: &[Ident], sound: bool) -> TokenStream {
    let Tool { ident, name, always_ask, .. } = tool;
    let (parameters, arguments, bounds) = generics(tool);
    let title = option(tool.title.as_deref());
    let claimed = |hint| sound && tool.hints.iter().any(|claim| claim.hint == hint);
    let [read_only, additive, idempotent, closed_world] = Hint::ALL.map(claimed);
    let declined = tool.declines.iter().map(|decline| decline.hint.word());
    let reasons = tool.declines.iter().map(|decline| &decline.reason);
    let description = match &tool.description {
        Description::Text(text) => quote!(#text),
        Description::Parts(parts) => {
            let separators = parts.iter().enumerate().map(|(at, _)| if at == 0 { "" } else { "\n" });
            quote!(__relaylink::__private::description(::core::concat!(#(#separators, #parts),*)))
        }
    };
    quote_spanned! {ident.span()=>
        #[automatically_derived]
        impl #parameters __relaylink::tool::Tool for #ident #arguments #bounds {
            const NAME: &'static ::core::primitive::str = #name;
            const TITLE: ::core::option::Option<&'static ::core::primitive::str> = #title;
            const DESCRIPTION: &'static ::core::primitive::str = #description;
            const HINTS: __relaylink::tool::Hints = __relaylink::tool::Hints {
                read_only: #read_only,
                additive: #additive,
                idempotent: #idempotent,
                closed_world: #closed_world,
            };
            const EFFECTS: &'static [__relaylink::tool::EffectInfo] =
                &[#(__relaylink::tool::EffectInfo::of::<#aliases>()),*];
            const DECLINES: &'static [__relaylink::tool::Decline] =
                &[#(__relaylink::tool::Decline { hint: #declined, reason: #reasons }),*];
            const ALWAYS_ASK: ::core::primitive::bool = #always_ask;
        }
    }
}

fn option(text: Option<&str>) -> TokenStream {
    match text {
        Some(text) => quote!(::core::option::Option::Some(#text)),
        None => quote!(::core::option::Option::None),
    }
}

/// What the tool may do, and within which tools it may be performed.
fn may(tool: &Tool, aliases: &[Ident]) -> TokenStream {
    let Tool { ident, generics: own, .. } = tool;
    let (parameters, arguments, bounds) = generics(tool);
    let may = tool.effects.iter().zip(aliases).map(|(effect, alias)| {
        quote_spanned! {effect.word.span()=>
            #[automatically_derived]
            impl #parameters __relaylink::tool::May<#alias> for #ident #arguments #bounds {}
        }
    });
    let within = own.params.is_empty().then(|| {
        quote_spanned! {ident.span()=>
            #[automatically_derived]
            impl<__Outer: __relaylink::tool::Tool> __relaylink::tool::Within<__Outer> for #ident
            where
                #(__Outer: __relaylink::tool::May<#aliases>,)*
            {}
        }
    });
    quote!(#(#may)* #within)
}

/// The parts of an impl's head. A tool with parameters was refused; its impls still have to hold.
fn generics(tool: &Tool) -> (TokenStream, TokenStream, TokenStream) {
    let Tool { ident, generics, .. } = tool;
    if generics.params.is_empty() {
        return Default::default();
    }
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let bounds = match bounds {
        Some(bounds) => {
            quote!(#bounds, #ident #arguments: ::core::marker::Send + ::core::marker::Sync + 'static)
        }
        None => quote!(where #ident #arguments: ::core::marker::Send + ::core::marker::Sync + 'static),
    };
    (quote!(#parameters), quote!(#arguments), bounds)
}

/// One constant for each hint and effect, which does not compile where the effect contradicts the
/// hint; the other way round for what is declined.
fn proofs(tool: &Tool, aliases: &[Ident]) -> TokenStream {
    let name = &tool.name;
    let mut proofs = TokenStream::new();
    let mut prove = |hint: Hint, word: &Ident, message: &dyn Fn(&Effect, &str) -> String| {
        let Some((properties, does)) = hint.contradicted_by() else { return };
        for (effect, alias) in tool.effects.iter().zip(aliases) {
            let properties = properties.iter().map(|property| Ident::new(property, word.span()));
            let message = message(effect, does);
            // The alias keeps the effect's place: a wrong effect is reported there, once.
            proofs.extend(quote_spanned! {word.span()=>
                const _: () = __relaylink::__private::hold(
                    #(<#alias as __relaylink::tool::Effect>::#properties)||*,
                    #message,
                );
            });
        }
    };
    for claim in &tool.hints {
        let word = claim.hint.word();
        prove(claim.hint, &claim.word, &|effect, does| {
            let effect = &effect.word;
            format!(
                "the tool `{name}` hints `{word}`, but its effect `{effect}` {does}: drop the hint or the effect"
            )
        });
    }
    for decline in &tool.declines {
        let word = decline.hint.word();
        prove(decline.hint, &decline.word, &|effect, does| {
            let effect = &effect.word;
            format!(
                "the tool `{name}` declines `{word}`, but its effect `{effect}` {does}, so it could not be hinted: leave out the decline"
            )
        });
    }
    proofs
}

//! From a tool to its implementation.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use crate::{
    description::{self, Description},
    model::{Effect, Hint, Tool},
};

/// The tool's impls and the proofs of its hints. Where it is not sound it claims nothing, and its
/// effects still count, so that only the true mistakes are reported.
pub(crate) fn tool(tool: &Tool, sound: bool) -> TokenStream {
    let core = &tool.core;
    let enter = quote_spanned!(tool.core_span=> #core::__tool!);
    let aliases: Vec<Ident> =
        tool.effects.iter().enumerate().map(|(at, effect)| alias(at, effect.word.span())).collect();
    let paths = tool.effects.iter().map(|effect| &effect.path);
    // The only use of what an effect is: so one that is none is reported once.
    let values = tool.effects.iter().zip(&aliases).enumerate().map(|(at, (effect, alias))| {
        let value = value(at);
        quote_spanned! {effect.word.span()=>
            const #value: __relaylink::tool::EffectInfo = __relaylink::tool::EffectInfo::of::<#alias>();
        }
    });
    let values = quote!(#(#values)*);
    let description = description_of(tool);
    let implementation = implementation(tool, sound);
    let may = may(tool, &aliases);
    let proofs = proofs(tool);
    quote! {
        #[doc(hidden)]
        #[allow(deprecated, unused_qualifications)]
        const _: () = {
            #enter {
                #(type #aliases = #paths;)*
                #values
                #description
                #implementation
                #may
                #proofs
            }
        };
    }
}

/// The effect's name inside the expansion, standing where the effect does.
fn alias(at: usize, span: Span) -> Ident {
    format_ident!("__Effect{at}", span = span)
}

/// The effect's `EffectInfo` inside the expansion.
fn value(at: usize) -> Ident {
    format_ident!("__EFFECT_{at}")
}

fn implementation(tool: &Tool, sound: bool) -> TokenStream {
    let values = (0..tool.effects.len()).map(value);
    let Tool { ident, name, always_ask, .. } = tool;
    let (parameters, arguments, bounds) = generics(tool);
    let title = option(tool.title.as_deref());
    let claimed = |hint| sound && tool.hints.iter().any(|claim| claim.hint == hint);
    let [read_only, additive, idempotent, closed_world] = Hint::ALL.map(claimed);
    let declined = tool.declines.iter().map(|decline| decline.hint.word());
    let reasons = tool.declines.iter().map(|decline| &decline.reason);
    quote_spanned! {ident.span()=>
        #[automatically_derived]
        impl #parameters __relaylink::tool::Tool for #ident #arguments #bounds {
            const NAME: &'static ::core::primitive::str = #name;
            const TITLE: ::core::option::Option<&'static ::core::primitive::str> = #title;
            const DESCRIPTION: &'static ::core::primitive::str = __DESCRIPTION;
            const HINTS: __relaylink::tool::Hints = __relaylink::tool::Hints {
                read_only: #read_only,
                additive: #additive,
                idempotent: #idempotent,
                closed_world: #closed_world,
            };
            const EFFECTS: &'static [__relaylink::tool::EffectInfo] =
                &[#(#values),*];
            const DECLINES: &'static [__relaylink::tool::Decline] =
                &[#(__relaylink::tool::Decline { hint: #declined, reason: #reasons }),*];
            const ALWAYS_ASK: ::core::primitive::bool = #always_ask;
        }
    }
}

/// The description as a constant. What only the compiler can read it has to prove as well.
fn description_of(tool: &Tool) -> TokenStream {
    let parts = match &tool.description {
        Description::Text(text) => {
            return quote!(const __DESCRIPTION: &'static ::core::primitive::str = #text;);
        }
        Description::Parts(parts) => parts,
    };
    let separators = parts.iter().enumerate().map(|(at, _)| if at == 0 { "" } else { "\n" });
    let missing = description::missing(&tool.name);
    quote_spanned! {tool.ident.span()=>
        const __DESCRIPTION: &'static ::core::primitive::str =
            __relaylink::__private::description(::core::concat!(#(#separators, #parts),*));
        const _: () = __relaylink::__private::hold(__DESCRIPTION.is_empty(), #missing);
    }
}

fn option(text: Option<&str>) -> TokenStream {
    text.map_or_else(
        || quote!(::core::option::Option::None),
        |text| quote!(::core::option::Option::Some(#text)),
    )
}

/// What the tool may do, and within which tools it may be performed.
fn may(tool: &Tool, aliases: &[Ident]) -> TokenStream {
    let Tool { ident, generics: own, .. } = tool;
    let (parameters, arguments, bounds) = generics(tool);
    let may = tool.effects.iter().zip(aliases).map(|(effect, alias)| {
        quote_spanned! {effect.word.span()=>
            #[automatically_derived]
                impl #parameters __relaylink::__private::Lists<#alias> for #ident #arguments #bounds {}
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
    let own = bounds.into_iter().flat_map(|bounds| &bounds.predicates);
    let bounds = quote! {
        where #(#own,)* #ident #arguments: ::core::marker::Send + ::core::marker::Sync + 'static
    };
    (quote!(#parameters), quote!(#arguments), bounds)
}

/// One constant for each hint and effect, which does not compile where the effect contradicts the
/// hint; the other way round for what is declined.
fn proofs(tool: &Tool) -> TokenStream {
    let name = &tool.name;
    let mut proofs = TokenStream::new();
    let mut prove = |hint: Hint, word: &Ident, message: &dyn Fn(&Effect, &str) -> String| {
        let Some(does) = hint.contradiction() else { return };
        let hint = Ident::new(hint.variant(), word.span());
        for (at, effect) in tool.effects.iter().enumerate() {
            let value = value(at);
            let message = message(effect, does);
            proofs.extend(quote_spanned! {word.span()=>
                const _: () = __relaylink::__private::hold(
                    __relaylink::__private::Hint::#hint.contradicted_by(#value),
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

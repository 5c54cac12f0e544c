//! The whole of it, on sound tools and on whatever people type.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::derive;

const WHOLE: &str = r#"
    /// Take a fact about somebody out of memory.
    #[derive(Tool)]
    #[tool(
        effects(Writes, my::Removes<A, B>), hints(idempotent, closed_world), declines(additive = "why"),
        title = "Forget", always_ask, name = "forget", crate = ::some::path
    )]
    #[serde(rename_all = "camelCase", default = "f")]
    #[doc = include_str!("a.md")]
    pub struct MemoryForget<'a, T: Clone, const N: usize> where T: Copy {
        /// The fact.
        #[serde(rename(serialize = "a", deserialize = "b"), with = "c")]
        pub memory: Vec<T>,
    }
"#;

fn expanded(item: &str) -> String {
    derive(item.parse().unwrap()).to_string()
}

#[test]
fn a_sound_tool_expands_without_errors() {
    let tokens = expanded(
        "/// It does.\n#[tool(effects(Writes), hints(additive), title = \"T\", always_ask)] struct DoIt { a: u8 }",
    );
    assert!(!tokens.contains("compile_error"), "{tokens}");
    assert!(tokens.contains("\"do_it\""), "{tokens}");
}

#[test]
fn each_hint_that_an_effect_can_contradict_is_proved_against_each_effect() {
    for (hint, variant) in [
        ("read_only", Some("ReadOnly")),
        ("additive", Some("Additive")),
        ("closed_world", Some("ClosedWorld")),
        ("idempotent", None),
    ] {
        let tokens = expanded(&format!(
            "/// It does.\n#[tool(effects(Writes, my::Removes), hints({hint}))] struct DoIt {{}}"
        ));
        for effect in 0..2 {
            let proof = format!(
                ":: Hint :: {} . contradicted_by (__EFFECT_{effect}) , ",
                variant.unwrap_or("Idempotent")
            );
            assert_eq!(tokens.contains(&proof), variant.is_some(), "{hint}: {tokens}");
        }
    }
}

#[test]
fn a_title_is_one_visible_line() {
    for (title, code) in
        [("Look\\u{202e}eteled", "202E"), ("Look\\n\\n", ""), ("a\\nb", "000A"), ("שלום", "")]
    {
        let tokens = expanded(&format!("/// It does.\n#[tool(title = \"{title}\")] struct DoIt {{}}"));
        assert_eq!(tokens.contains("compile_error"), !code.is_empty(), "{tokens}");
        assert!(code.is_empty() || tokens.contains(&format!("U+{code}")), "{tokens}");
    }
}

#[test]
fn what_is_declined_could_have_been_hinted() {
    let tokens = expanded(
        "/// It does.\n#[tool(effects(Removes), declines(additive = \"why\", idempotent = \"why\"))] struct DoIt {}",
    );
    assert!(tokens.contains("Hint :: Additive . contradicted_by (__EFFECT_0) , "), "{tokens}");
    assert_eq!(tokens.matches(":: hold (").count(), 1, "{tokens}");
}

#[test]
fn a_broken_attribute_still_makes_a_tool() {
    for attribute in
        ["effects(Writes", "hints(banana)", "banana", "title = ", "=>", "effects(::)", "declines(additive)"]
    {
        let closed = if attribute.contains("(Writes") { ")" } else { "" };
        let tokens = expanded(&format!("#[tool({attribute}{closed})] struct DoIt {{}}"));
        assert!(tokens.contains("compile_error"), "{attribute}: {tokens}");
        assert!(tokens.contains("tool :: Tool for DoIt"), "{attribute}: {tokens}");
    }
}

/// Every mistake in the worst attribute is told.
#[test]
fn no_mistake_hides_another() {
    let tokens = expanded("#[tool(effects(1), hints(a, b), title = \"\", c, name = \"-\")] enum E<T> { A }");
    // A wrong effect, two hints, title, key, name, the enum, its parameter, no doc comment.
    assert_eq!(tokens.matches("compile_error").count(), 9, "{tokens}");
}

/// Rustc ends at a trait that it cannot find, and goes on at a macro: so the core's path stands before one.
#[test]
fn a_core_that_is_not_there_hides_nothing() {
    let tokens = expanded("/// It does.\n#[tool(crate = some::core, effects(Writes))] struct DoIt {}");
    assert!(tokens.contains("some :: core :: __tool ! {"), "{tokens}");
    assert_eq!(tokens.matches("some :: core").count(), 1, "{tokens}");
}

#[test]
fn an_effect_that_is_nearly_a_known_one_is_told_and_taken_for_it() {
    for (written, meant) in [
        ("Removs", Some("Removes")),
        ("Wirtes", Some("Writes")),
        ("Write", Some("Writes")),
        ("external_mail", Some("ExternalMail")),
        ("SharedWork", None),
        ("self::Removed", None),
        ("Rewrites", None),
        ("ExternalCall", None),
    ] {
        let tokens = expanded(&format!("/// It does.\n#[tool(effects({written}))] struct DoIt {{}}"));
        let told = meant.map(|meant| format!("did you mean the effect `{meant}`?"));
        assert_eq!(told.is_some(), tokens.contains("compile_error"), "{written}: {tokens}");
        assert!(told.is_none_or(|told| tokens.contains(&told)), "{written}: {tokens}");
        let taken = meant.map(|meant| format!("type __Effect0 = __relaylink :: tool :: {meant}"));
        assert!(taken.is_none_or(|taken| tokens.contains(&taken)), "{written}: {tokens}");
    }
}

/// Whatever comes in, what goes out is items, and nothing panics.
fn holds(item: &TokenStream) {
    let out = derive(item.clone());
    assert!(syn::parse2::<syn::File>(out.clone()).is_ok(), "{item}\n->\n{out}");
}

/// Every token of a whole item taken out, doubled, swapped with its neighbour, or replaced.
#[test]
fn every_slip_of_a_token_is_survived() {
    let whole: TokenStream = WHOLE.parse().unwrap();
    holds(&whole);
    let odd: Vec<TokenStream> =
        ["", ",", "=", "::", "<", "\"\"", "3", "'a", "r#type", "()", "[x]", "{ , }", "# !", "ü"]
            .map(|tokens| tokens.parse().unwrap())
            .into();
    let mut tried = 0;
    for at in 0..count(&whole) {
        for replacement in &odd {
            holds(&edited(whole.clone(), &mut { at }, &|_, _| replacement.clone()));
            tried += 1;
        }
        holds(&edited(whole.clone(), &mut { at }, &|token, _| [token.clone(), token].into_iter().collect()));
        holds(&edited(whole.clone(), &mut { at }, &|token, next| next.into_iter().chain([token]).collect()));
    }
    assert!(tried > 1000, "{tried}");
}

/// Attributes put together at random from the words there are and some that are not.
#[test]
fn any_attribute_is_survived() {
    const WORDS: [&str; 32] = [
        "effects",
        "hints",
        "declines",
        "title",
        "always_ask",
        "name",
        "crate",
        "read_only",
        "additive",
        "idempotent",
        "closed_world",
        "destructive",
        "Writes",
        "my::",
        "::",
        ",",
        ",",
        "=",
        "=",
        "\"\"",
        "\"why\"",
        "\"ü\"",
        "1.5",
        "'a",
        "'c'",
        "<",
        ">",
        "!",
        "r#hints",
        "=>",
        "b\"x\"",
        "-1",
    ];
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |limit: usize| {
        // Xorshift: the same cases at every run.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % limit as u64).unwrap()
    };
    for _ in 0..2000 {
        let mut attribute = String::new();
        let mut open = Vec::new();
        for _ in 0..below(16) {
            match below(6) {
                0 => {
                    let (opening, closing) = [("(", ")"), ("[", "]"), ("{", "}")][below(3)];
                    attribute.push_str(opening);
                    open.push(closing);
                }
                1 => attribute.push_str(open.pop().unwrap_or(",")),
                _ => {
                    attribute.push_str(WORDS[below(WORDS.len())]);
                    attribute.push(' ');
                }
            }
        }
        attribute.extend(open.into_iter().rev());
        let (before, after) = [("(", ")"), ("[", "]"), ("{", "}"), ("=", ""), ("", "")][below(5)];
        if let Ok(item) = format!("#[tool {before}{attribute}{after}] struct A {{}}").parse() {
            holds(&item);
        }
    }
}

#[test]
fn what_is_no_item_is_survived() {
    for item in ["", "struct", "fn f() {}", "struct A", "enum", "x", "\"\"", "#[tool(] struct A;"] {
        if let Ok(item) = item.parse() {
            holds(&item);
        }
    }
}

fn count(tokens: &TokenStream) -> usize {
    tokens
        .clone()
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) => 1 + count(&group.stream()),
            _ => 1,
        })
        .sum()
}

/// The tokens with the one at `at`, counted in depth, edited; the edit is given the next one too.
fn edited(
    tokens: TokenStream,
    at: &mut usize,
    edit: &dyn Fn(TokenTree, Option<TokenTree>) -> TokenStream,
) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let here = *at == 0;
        *at = at.wrapping_sub(1);
        match token {
            token if here => out.extend(edit(token, tokens.peek().cloned())),
            TokenTree::Group(group) if *at != usize::MAX => {
                let delimiter = group.delimiter();
                debug_assert!(delimiter != Delimiter::None);
                out.extend([TokenTree::Group(Group::new(delimiter, edited(group.stream(), at, edit)))]);
            }
            token => out.extend([token]),
        }
    }
    out
}

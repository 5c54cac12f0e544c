//! The description, from the doc comment.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// What a model reads of the tool.
pub(crate) enum Description {
    /// A doc comment, cleaned.
    Text(String),
    /// A doc comment that in part only the compiler can read, such as `include_str!`.
    Parts(Vec<TokenStream>),
}

impl Description {
    /// The type's doc comment; none where it has none or only a blank one.
    pub(crate) fn of(attributes: &[Attribute]) -> Option<Self> {
        let mut parts = Vec::new();
        let mut lines: Vec<String> = Vec::new();
        for attribute in attributes {
            let Meta::NameValue(doc) = &attribute.meta else { continue };
            if !doc.path.is_ident("doc") {
                continue;
            }
            match ungrouped(&doc.value) {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => lines.extend(undecorated(&text.value())),
                other => {
                    let text = cleaned(&std::mem::take(&mut lines));
                    if !text.is_empty() {
                        parts.push(quote!(#text));
                    }
                    parts.push(other.to_token_stream());
                }
            }
        }
        let text = cleaned(&lines);
        if parts.is_empty() {
            return (!text.is_empty()).then_some(Self::Text(text));
        }
        if !text.is_empty() {
            parts.push(quote!(#text));
        }
        Some(Self::Parts(parts))
    }
}

/// The expression itself, where a macro passed it on.
fn ungrouped(mut expression: &Expr) -> &Expr {
    while let Expr::Group(group) = expression {
        expression = &group.expr;
    }
    expression
}

/// What is said of a tool without a description.
pub(crate) fn missing(name: &str) -> String {
    format!(
        "the tool `{name}` has no description: write a doc comment above it (`/// What it does.`), which is what models read"
    )
}

/// The lines of one doc attribute, without the space that `///` puts before its text and the stars
/// that a `/** … */` puts before each line.
fn undecorated(text: &str) -> Vec<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let rest = lines.get(1..).unwrap_or_default();
    let starred = !rest.is_empty()
        && rest.iter().all(|line| line.trim_start().starts_with('*') || line.trim().is_empty())
        && rest.iter().any(|line| line.trim_start().starts_with('*'));
    if starred {
        for line in &mut lines {
            *line = line.trim_start().strip_prefix('*').unwrap_or(line);
        }
    }
    if lines.is_empty() {
        lines.push("");
    }
    if lines.iter().all(|line| line.starts_with(' ') || line.is_empty()) {
        for line in &mut lines {
            *line = line.strip_prefix(' ').unwrap_or(line);
        }
    }
    lines.into_iter().map(str::to_owned).collect()
}

/// The lines as one text: without the space they all start with, trailing space, and blank lines
/// at either end.
fn cleaned(lines: &[String]) -> String {
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> =
        lines.iter().map(|line| line.get(indent..).unwrap_or_default().trim_end()).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(item: &str) -> Option<String> {
        let item: syn::DeriveInput = syn::parse_str(item).unwrap();
        match Description::of(&item.attrs)? {
            Description::Text(text) => Some(text),
            Description::Parts(parts) => {
                Some(parts.iter().map(ToString::to_string).collect::<Vec<_>>().join("|"))
            }
        }
    }

    #[test]
    fn a_doc_comment_is_cleaned() {
        assert_eq!(text("/// One.\nstruct A {}").as_deref(), Some("One."));
        assert_eq!(
            text("///   Two \"quoted\".\n///\n///    - a list\n///\n/// ```\n/// code {\n///     in it\n/// ```\n///\nstruct A {}")
                .as_deref(),
            Some("  Two \"quoted\".\n\n   - a list\n\n```\ncode {\n    in it\n```")
        );
        assert_eq!(text("///No space.\nstruct A {}").as_deref(), Some("No space."));
        assert_eq!(
            text("/** One.\n * Two.\n *\n *   - three\n */\nstruct A {}").as_deref(),
            Some("One.\nTwo.\n\n  - three")
        );
        assert_eq!(text("/** One. */\nstruct A {}").as_deref(), Some("One."));
        assert_eq!(text("#[doc = \"One.\"]\n#[doc = \"Two.\"]\nstruct A {}").as_deref(), Some("One.\nTwo."));
        assert_eq!(text("/// One.\n#[doc = \"Two.\"]\nstruct A {}").as_deref(), Some("One.\nTwo."));
        assert_eq!(text("/// Grüße, 世界.\n///  ü\nstruct A {}").as_deref(), Some("Grüße, 世界.\n ü"));
    }

    #[test]
    fn none_or_a_blank_one_is_none() {
        assert_eq!(text("struct A {}"), None);
        assert_eq!(text("///\n///   \nstruct A {}"), None);
        assert_eq!(text("#[doc(hidden)] #[doc(alias = \"b\")] struct A {}"), None);
        assert_eq!(text("/** */ struct A {}"), None);
    }

    #[test]
    fn what_only_the_compiler_can_read_is_left_to_it() {
        assert_eq!(
            text("/// One.\n#[doc = include_str!(\"a.md\")]\n/// Two.\nstruct A {}").as_deref(),
            Some("\"One.\"|include_str ! (\"a.md\")|\"Two.\"")
        );
    }
}

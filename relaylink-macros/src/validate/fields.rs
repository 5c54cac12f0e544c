//! The names of arguments, as serde and schemars write them.

use syn::{Attribute, Data, DeriveInput, Field, Fields, LitStr, ext::IdentExt};

use crate::{Errors, names, parse};

/// Reports arguments whose published name clients refuse, and attributes that belong on the type.
pub(super) fn check(item: &DeriveInput, errors: &mut Errors) {
    let fields: Vec<&Field> = match &item.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(data) => data.fields.named.iter().collect(),
    };
    for attribute in fields.iter().flat_map(|field| parse::tool_attributes(&field.attrs)) {
        errors.at(attribute, "`#[tool(…)]` belongs on the type, not on a field");
    }
    let Data::Struct(syn::DataStruct { fields: Fields::Named(fields), .. }) = &item.data else { return };
    let all = Names::of(&item.attrs).all;
    for field in &fields.named {
        let own = Names::of(&field.attrs);
        let Some(ident) = field.ident.as_ref().filter(|_| !own.unseen) else { continue };
        let (name, span) = match own.one {
            Some(name) => (name.value(), name.span()),
            None => (cased(&ident.unraw().to_string(), all.as_deref()), ident.span()),
        };
        if let Some(wrong) = names::wrong_property_name(&name) {
            errors.add(syn::Error::new(
                span,
                format_args!(
                    "the argument `{name}` {wrong}: rename it, or the field with `#[serde(rename = \"…\")]`"
                ),
            ));
        }
    }
}

/// What serde's and schemars' attributes say of names. What they do not understand they report.
#[derive(Default)]
struct Names {
    one: Option<LitStr>,
    all: Option<String>,
    unseen: bool,
}

impl Names {
    fn of(attributes: &[Attribute]) -> Self {
        let mut names = Self::default();
        // schemars reads serde's attributes and lets its own win.
        for library in ["serde", "schemars"] {
            for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(library)) {
                let _ = attribute.parse_nested_meta(|meta| names.read(&meta));
            }
        }
        names
    }

    fn read(&mut self, meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("rename") {
            self.one = deserialized(meta)?.or(self.one.take());
        } else if meta.path.is_ident("rename_all") {
            self.all = deserialized(meta)?.map(|case| case.value()).or(self.all.take());
        } else if meta.path.is_ident("skip")
            || meta.path.is_ident("skip_deserializing")
            || meta.path.is_ident("flatten")
        {
            self.unseen = true;
        } else if meta.input.peek(syn::Token![=]) {
            meta.value()?.parse::<syn::Expr>()?;
        } else if meta.input.peek(syn::token::Paren) {
            meta.parse_nested_meta(|inner| {
                if inner.input.peek(syn::Token![=]) {
                    inner.value()?.parse::<syn::Expr>()?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// `rename = "…"` or `rename(deserialize = "…")`.
fn deserialized(meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<Option<LitStr>> {
    if !meta.input.peek(syn::token::Paren) {
        return meta.value()?.parse().map(Some);
    }
    let mut found = None;
    meta.parse_nested_meta(|inner| {
        let value: LitStr = inner.value()?.parse()?;
        if inner.path.is_ident("deserialize") {
            found = Some(value);
        }
        Ok(())
    })?;
    Ok(found)
}

/// The field's name in the case of `rename_all`, by serde's rules.
fn cased(field: &str, case: Option<&str>) -> String {
    let pascal = || {
        let mut pascal = String::new();
        let mut capital = true;
        for letter in field.chars() {
            if letter == '_' {
                capital = true;
            } else if std::mem::take(&mut capital) {
                pascal.push(letter.to_ascii_uppercase());
            } else {
                pascal.push(letter);
            }
        }
        pascal
    };
    match case {
        Some("PascalCase") => pascal(),
        Some("camelCase") => {
            let mut camel = pascal();
            if let Some(first) = camel.get_mut(..1) {
                first.make_ascii_lowercase();
            }
            camel
        }
        Some("SCREAMING_SNAKE_CASE" | "UPPERCASE") => field.to_ascii_uppercase(),
        Some("kebab-case") => field.replace('_', "-"),
        Some("SCREAMING-KEBAB-CASE") => field.to_ascii_uppercase().replace('_', "-"),
        _ => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(item: &str) -> Vec<String> {
        let mut errors = Errors::default();
        check(&syn::parse_str(item).unwrap(), &mut errors);
        errors.0.into_iter().flatten().map(|error| error.to_string()).collect()
    }

    #[test]
    fn names_that_clients_refuse_are_told_as_they_are_published() {
        for (item, name) in [
            ("struct A { #[serde(rename = \"x-y\")] a: u8 }", "x-y"),
            ("struct A { #[serde(default, rename(serialize = \"a\", deserialize = \"x.y\"))] a: u8 }", "x.y"),
            ("struct A { #[serde(default = \"f\", rename = \"\")] a: u8 }", ""),
            ("struct A { #[schemars(rename = \"$ref\")] a: u8 }", "$ref"),
            ("#[serde(rename_all = \"kebab-case\")] struct A { a_b: u8 }", "a-b"),
            ("struct A { größe: u8 }", "größe"),
        ] {
            let told = mistakes(item);
            assert!(told.len() == 1 && told[0].contains(&format!("`{name}`")), "{item}: {told:?}");
        }
        let long = "a".repeat(65);
        assert_eq!(mistakes(&format!("struct A {{ {long}: u8 }}")).len(), 1);
    }

    #[test]
    fn names_that_are_sound_pass() {
        for item in [
            "struct A { r#type: u8, _a: u8, a1: u8 }",
            "#[serde(rename_all = \"camelCase\")] struct A { a_b: u8 }",
            "#[serde(rename_all = \"kebab-case\")] struct A { #[serde(rename = \"a\")] a_b: u8 }",
            "struct A { #[serde(skip, rename = \"x-y\")] a: u8 }",
            "struct A { #[serde(flatten)] größe: B }",
            "struct A { #[serde(with = \"m\", bound(deserialize = \"T: X\"))] a: u8 }",
        ] {
            assert_eq!(mistakes(item), Vec::<String>::new(), "{item}");
        }
    }

    #[test]
    fn cases_are_serdes() {
        for (case, name) in [
            ("camelCase", "parentId"),
            ("PascalCase", "ParentId"),
            ("SCREAMING_SNAKE_CASE", "PARENT_ID"),
            ("kebab-case", "parent-id"),
            ("snake_case", "parent_id"),
        ] {
            assert_eq!(cased("parent_id", Some(case)), name);
        }
    }
}

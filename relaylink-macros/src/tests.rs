use proc_macro2::TokenStream;

use crate::derive;

fn expanded(item: &str) -> String {
    derive(item.parse::<TokenStream>().unwrap()).to_string()
}

#[test]
fn a_sound_tool_expands_without_errors() {
    let tokens = expanded(
        "/// It does.\n#[tool(effects(Writes), hints(additive), title = \"T\", always_ask)] struct DoIt { a: u8 }",
    );
    assert!(!tokens.contains("compile_error"), "{tokens}");
    assert!(tokens.contains("\"do_it\""), "{tokens}");
}

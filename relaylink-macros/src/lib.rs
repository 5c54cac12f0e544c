//! derive(Tool).
use proc_macro::TokenStream;
/// Placeholder until the derive lands.
#[proc_macro_derive(Tool, attributes(tool))]
pub fn tool(_item: TokenStream) -> TokenStream {
    TokenStream::new()
}

//! What stands at `::schemars` is shaped as schemars 0.8 is. Each error names schemars; the derive's
//! documents say which one it has to be.
extern crate self as schemars;

pub mod r#gen {
    pub struct SchemaGenerator;
}

pub mod schema {
    pub enum Schema {}
}

pub trait JsonSchema {
    fn schema_name() -> String;
    fn json_schema(generator: &mut r#gen::SchemaGenerator) -> schema::Schema;
}

pub mod tools {
    use relaylink_core::prelude::*;

    /// Looks.
    #[derive(Tool, Deserialize, JsonSchema)]
    #[tool(effects(), hints(read_only))]
    pub struct Look {
        /// Where.
        pub at: String,
        /// How often.
        pub times: Option<u8>,
    }

    impl Run for Look {
        type Reply = bool;
        fn run(&self, _tx: &mut Tx<'_, Self>) -> Result<bool, Stop> {
            Ok(true)
        }
    }
}

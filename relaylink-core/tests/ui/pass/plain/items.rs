//! Where a tool may stand and how it may be written.
use relaylink_core::prelude::*;

use crate::same;

/// A raw name.
#[derive(Tool)]
#[allow(non_camel_case_types)]
pub(crate) struct r#move {}

/// An acronym, and a digit.
#[derive(Tool)]
pub(crate) struct ListAPIKeys2 {}

/// The attribute in parts, in any order, with commas at the end.
#[derive(Tool)]
#[tool(hints(closed_world,),)]
#[tool(effects(relaylink_core::tool::Writes, relaylink_core::prelude::Removes,))]
#[tool()]
#[tool]
pub(crate) struct InParts {}

/// One that is going away.
#[derive(Tool)]
#[deprecated]
#[allow(dead_code)]
pub(crate) struct Old {}

mod inner {
    use relaylink_core::prelude::*;

    pub(super) enum Dims {}
    impl Effect for Dims {
        const NAME: &'static str = "Dims";
        const CHANGES: bool = true;
        const REMOVES: bool = false;
        const REACHES_OUT: bool = false;
    }

    /// The effect by `self` and by `super`.
    #[derive(Tool)]
    #[tool(effects(self::Dims), hints(additive))]
    pub(super) struct DimOne {}

    pub(super) mod innermost {
        use relaylink_core::prelude::*;

        /// The effect by `super`, the core by a re-export.
        #[derive(Tool)]
        #[tool(effects(super::Dims), crate = super::super::again::core_here)]
        pub(in super::super) struct DimAll {}
    }
}

mod again {
    pub(super) use relaylink_core as core_here;
}

/// An effect with a parameter.
pub(crate) enum Calls<Service> {
    #[allow(dead_code)]
    Never(std::convert::Infallible, std::marker::PhantomData<Service>),
}
impl<Service: 'static> Effect for Calls<Service> {
    const NAME: &'static str = "Calls";
    const CHANGES: bool = false;
    const REMOVES: bool = false;
    const REACHES_OUT: bool = true;
}

/// One and two.
#[derive(Tool)]
#[tool(effects(Calls<(u8, u16)>, Calls<String>), hints(read_only))]
pub(crate) struct CallsTwo {}

/// Tools from a macro.
macro_rules! tools {
    ($($(#[$docs:meta])* $name:ident: $effect:path, $hint:ident, $title:expr, $named:literal, $doc:expr, $core:path;)*) => {$(
        $(#[$docs])*
        #[doc = $doc]
        #[derive(Tool)]
        #[tool(effects($effect), hints($hint), title = $title, name = $named, crate = $core)]
        pub(crate) struct $name {}
    )*};
}

tools! {
    /// First,
    Fifth: Writes, additive, "Five", "five", "and second.", relaylink_core;
    Sixth: relaylink_core::prelude::Removes, idempotent, "Six", "six", concat!("Third", "."), ::relaylink_core;
}

fn _in_a_function() -> &'static str {
    enum Local {}
    impl Effect for Local {
        const NAME: &'static str = "Local";
        const CHANGES: bool = true;
        const REMOVES: bool = false;
        const REACHES_OUT: bool = false;
    }

    /// In a function.
    #[derive(Tool)]
    #[tool(effects(Local), hints(additive))]
    struct InAFunction {}

    InAFunction::NAME
}

const _: () = {
    assert!(same(r#move::NAME, "move") && same(ListAPIKeys2::NAME, "list_api_keys2"));
    assert!(InParts::EFFECTS.len() == 2 && InParts::HINTS.closed_world);
    assert!(same(inner::DimOne::EFFECTS[0].name, "Dims") && same(inner::innermost::DimAll::NAME, "dim_all"));
    assert!(CallsTwo::EFFECTS.len() == 2 && CallsTwo::HINTS.read_only);
    assert!(same(Fifth::NAME, "five"));
    assert!(same(Fifth::DESCRIPTION, "First,\nand second."));
    assert!(same(Fifth::TITLE.unwrap(), "Five") && Fifth::HINTS.additive && Fifth::EFFECTS.len() == 1);
    assert!(same(Sixth::DESCRIPTION, "Third."));
};

use super::Tool;
use crate::__private::Lists;

/// Something a tool may do to the world. A tool lists its effects; its hints are checked
/// against them when it is compiled, and its storage access is made from them when it runs.
///
/// ```
/// use relaylink_core::prelude::*;
///
/// /// The tool asks somebody else's service for a forecast.
/// pub enum CallsForecastApi {}
///
/// impl Effect for CallsForecastApi {
///     const NAME: &'static str = "CallsForecastApi";
///     const CHANGES: bool = false;
///     const REMOVES: bool = false;
///     const REACHES_OUT: bool = true;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no effect",
    label = "not an effect",
    note = "effects are `Writes`, `Removes`, `ExternalMail`, `SharedWork`, and every type of yours that implements `relaylink_core::tool::Effect`"
)]
pub trait Effect: 'static {
    /// The name by which ceilings are stored and tools are described.
    const NAME: &'static str;
    /// Whether it changes any state. A tool with it cannot hint `read_only`.
    const CHANGES: bool;
    /// Whether it takes something away. A tool with it cannot hint `additive`.
    const REMOVES: bool;
    /// Whether it reaches what the server does not control. A tool with it cannot hint `closed_world`.
    const REACHES_OUT: bool;
}

/// Inserts and updates rows.
pub enum Writes {}
/// Deletes rows.
pub enum Removes {}
/// Puts a message in somebody's mailbox.
pub enum ExternalMail {}
/// Changes what others on a shared project see at their next look.
pub enum SharedWork {}

macro_rules! effects {
    ($($name:ident: $changes:literal, $removes:literal, $reaches:literal;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Effect for $name {
            const NAME: &'static str = stringify!($name);
            const CHANGES: bool = $changes;
            const REMOVES: bool = $removes;
            const REACHES_OUT: bool = $reaches;
        }
    )*};
}

effects! {
    //            changes removes reaches out
    Writes:       true,   false,  false;
    Removes:      true,   true,   false;
    ExternalMail: true,   false,  true;
    SharedWork:   true,   false,  true;
}

/// The tool may do `E`: `E` is among its effects. Nobody implements it: `#[derive(Tool)]` lists
/// the effects, and the tool may do what it lists.
#[diagnostic::on_unimplemented(
    message = "the tool `{Self}` may not do this: `{E}` is not among its effects",
    label = "this needs the effect `{E}`",
    note = "add it, by the last word of its path, to the tool's `effects(…)`, and drop each hint it then contradicts; or leave out this call"
)]
pub trait May<E>: Tool {}

// Not an impl of `May` for each tool, or the compiler names others that may whenever one may not.
#[diagnostic::do_not_recommend]
impl<T: Tool + Lists<E>, E> May<E> for T {}

/// A tool whose effects the tool `Outer` has all: `Outer` may perform it within itself
/// (see [`Tx::perform`](crate::relay::Tx::perform)). Emitted by `#[derive(Tool)]` alone.
pub trait Within<Outer: Tool> {}

/// An effect as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectInfo {
    /// [`Effect::NAME`].
    pub name: &'static str,
    /// [`Effect::CHANGES`].
    pub changes: bool,
    /// [`Effect::REMOVES`].
    pub removes: bool,
    /// [`Effect::REACHES_OUT`].
    pub reaches_out: bool,
}

impl EffectInfo {
    /// The effect `E` as a value.
    pub const fn of<E: Effect>() -> Self {
        Self { name: E::NAME, changes: E::CHANGES, removes: E::REMOVES, reaches_out: E::REACHES_OUT }
    }
}

//! RelayLink itself: one call, one transaction.

mod address;
mod clock;
mod foreign;
mod ids;
mod key_use;
mod keys;
mod name;
mod page;
mod reading;
mod ready;
mod run;
mod secret;
mod since;
mod table;
pub(crate) mod terms;
pub(crate) mod text;
mod tx;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod upkeep;

pub mod limits;

pub use address::{Address, AddressError};
pub use clock::{Clock, SystemClock, Timestamp};
pub use foreign::{Foreign, Written};
pub use ids::{Id, IdError, Seeds, SystemSeeds};
pub use name::{Name, NameError, fold};
pub use page::{Cursor, Limit};
pub use run::{Relay, RelayBuilder, Run};
pub use secret::Secret;
pub use since::Since;
pub use tx::Tx;

#[cfg(feature = "sqlite")]
pub(crate) use ids::is_id;
pub(crate) use ids::{below, check as check_id, highest, ids};
pub(crate) use keys::{ceiling_from_text, ceiling_to_text};
pub(crate) use name::is_hidden;
pub(crate) use reading::Reading;
pub(crate) use table::Table;
pub(crate) use tx::Call;

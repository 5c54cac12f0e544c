//! RelayLink itself: one call, one transaction.

mod clock;
mod ids;
mod keys;
mod run;
mod table;
mod tx;

pub mod limits;

pub use clock::{Clock, SystemClock, Timestamp};
pub use ids::{Id, IdError, Seeds, SystemSeeds};
pub use run::{Relay, RelayBuilder, Run};
pub use tx::{Call, Tx};

pub(crate) use ids::{check as check_id, ids};
pub(crate) use table::Table;

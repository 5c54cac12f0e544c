//! What the benchmarks share: a store that writes down the statements it runs, a bare connection
//! that runs the same ones again, a database of PostgreSQL's, and rounds that are interleaved so that the machine's moods meet all alike.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

mod bare;
mod database;
mod recorder;
mod rounds;

pub use bare::Bare;
pub use database::Database;
pub use recorder::{Recorder, Statements};
pub use rounds::{ROUNDS, Rounds};

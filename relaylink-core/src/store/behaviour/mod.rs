//! What every [`Store`] must do, as cases to run against yours.
//!
//! Give your store the suite's own tables ([`TABLES`] and [`LATE_KEY`]) and run [`verify`], or
//! enumerate [`CASES`] in a test harness of yours. It needs no test framework and no runtime of a
//! certain kind; the suite's tables are emptied by each case, so run one case at a time.
//!
//! ```
//! # async fn check(store: std::sync::Arc<dyn relaylink_core::store::Store>) {
//! if let Err(failure) = relaylink_core::store::behaviour::verify(store).await {
//!     panic!("{failure}");
//! }
//! # }
//! ```

mod access;
mod callers;
mod groups;
mod probe;
mod sessions;

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Store, migrations::Migration};

/// The name under which a store keeps the versions of [`TABLES`].
pub const OWNER: &str = "behaviour";

/// The suite's own tables.
pub const TABLES: &[Migration] = &[Migration::new(
    1,
    "behaviour",
    "CREATE TABLE behaviour_rows (id TEXT PRIMARY KEY, n BIGINT NOT NULL);
     CREATE TABLE behaviour_values (id TEXT PRIMARY KEY, t TEXT, n BIGINT, b BLOB);
     CREATE TABLE outbox_behaviour (id TEXT PRIMARY KEY);",
)
.on_postgres(
    "CREATE TABLE behaviour_rows (id TEXT PRIMARY KEY, n BIGINT NOT NULL);
     CREATE TABLE behaviour_values (id TEXT PRIMARY KEY, t TEXT, n BIGINT, b BYTEA);
     CREATE TABLE outbox_behaviour (id TEXT PRIMARY KEY);",
)];

/// A table whose key is checked at the commit. It breaks the rules of migrations on purpose: make
/// it by your engine's own means, after [`TABLES`].
pub const LATE_KEY: &str = "CREATE TABLE behaviour_late (id TEXT PRIMARY KEY, \
     row_id TEXT NOT NULL REFERENCES behaviour_rows (id) DEFERRABLE INITIALLY DEFERRED)";

/// A case that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{case}: {message}")]
#[non_exhaustive]
pub struct Failure {
    /// The case's name.
    pub case: &'static str,
    /// What was seen and what was due.
    pub message: String,
}

type Check = fn(Arc<dyn Store>) -> BoxFuture<'static, Result<(), String>>;

/// One promise of a store, and how it is tried.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    name: &'static str,
    run: Check,
}

impl Case {
    /// The promise, as a name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Tries it.
    pub async fn check(&self, store: Arc<dyn Store>) -> Result<(), Failure> {
        (self.run)(store).await.map_err(|message| Failure { case: self.name, message })
    }
}

/// Tries all cases, up to the first that fails.
pub async fn verify(store: Arc<dyn Store>) -> Result<(), Failure> {
    for case in CASES {
        case.check(Arc::clone(&store)).await?;
    }
    Ok(())
}

macro_rules! cases {
    ($($module:ident::$case:ident,)*) => {
        /// All cases.
        pub const CASES: &[Case] = &[$(Case {
            name: stringify!($case),
            run: |store| Box::pin(async move { $module::$case(&*store).await }),
        },)*];
    };
}

cases! {
    sessions::a_commit_stays_and_a_rollback_leaves_nothing,
    sessions::values_come_back_as_they_went_in,
    sessions::an_error_poisons_the_session,
    sessions::a_wrong_number_of_parameters_is_an_error,
    sessions::a_read_sees_one_moment,
    sessions::what_was_answered_is_seen_by_the_next,
    access::each_verb_needs_its_access,
    access::returning_is_held_to_the_access_too,
    access::a_text_run_by_another_access_is_still_refused,
    access::a_refused_statement_undoes_the_whole,
    access::restrict_narrows_and_gives_back,
    access::restrict_never_widens,
    groups::increments_serialise,
    groups::spoilers_spoil_only_themselves,
    groups::a_work_that_runs_again_sees_a_fresh_state,
    groups::panics_end_only_their_own_work,
    groups::a_panic_in_a_read_is_told,
    groups::a_failed_commit_fails_only_its_own_work,
    callers::a_caller_that_is_gone_leaves_all_or_nothing,
    callers::a_future_never_polled_does_nothing,
}

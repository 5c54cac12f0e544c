//! Accounts and their API keys: who calls, with what, and how far.
//!
//! Accounts and keys are made by whoever administers the store, through [`Accounts`]; no tool makes
//! one. A key's secret is shown once. Its hash is a row of `key_hashes` and nothing else is; when
//! the key is revoked that row goes, and the description in `api_keys` stays.

mod accounts;
mod list_api_keys;
mod revoke_api_key;
mod rows;
mod rules;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod upkeep;
mod whoami;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) use upkeep::upkeep;

use crate::{
    relay::{Address, Name, Table, Tx, ids},
    tool::{Stop, Tool},
};

pub use accounts::{Account, Accounts, Key};
pub use list_api_keys::{ApiKey, ListApiKeys, ListedKeys};
pub use revoke_api_key::{RevokeApiKey, RevokedKey};
pub use rules::everything_listed;
pub use whoami::{Whoami, WhoamiReply};

ids! {
    /// An account.
    AccountId: "acc";
    /// An API key.
    KeyId: "key";
}

/// The room's tools.
pub(crate) fn tools(table: Table) -> Table {
    table
        .room("account")
        .also(&["essential"])
        .tool::<Whoami>()
        .also(&[])
        .tool::<ListApiKeys>()
        .tool::<RevokeApiKey>()
}

/// What other rooms may know of an account.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    /// The account, as its id is written.
    pub(crate) id: String,
    /// Its address.
    pub(crate) address: Address,
    /// Its name.
    pub(crate) name: Name,
}

/// The caller's own account.
pub(crate) fn me(tx: &mut Tx<'_, impl Tool>) -> Result<Card, Stop> {
    let account = tx.account();
    card(tx, account)?.ok_or_else(rules::no_account)
}

/// An account by its id.
pub(crate) fn card(tx: &mut Tx<'_, impl Tool>, account: &str) -> Result<Option<Card>, Stop> {
    Ok(rows::card(tx.reading(), account)?)
}

/// The account with this address, given as [`Address::key`] compares it.
pub(crate) fn by_address_key(tx: &mut Tx<'_, impl Tool>, key: &str) -> Result<Option<Card>, Stop> {
    Ok(rows::card_at(tx.reading(), key)?)
}

/// The number that the caller's search terms begin with (see [`terms`](crate::relay::terms)).
pub(crate) fn number(tx: &mut Tx<'_, impl Tool>) -> Result<i64, Stop> {
    let account = tx.account();
    rows::number(tx.reading(), account)?.ok_or_else(rules::no_account)
}

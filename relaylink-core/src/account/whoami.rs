use super::{AccountId, KeyId, rows, rules};
use crate::{
    prelude::*,
    relay::{Address, Name},
};

/// Tells whose account this is, with which API key it is used, and in plain words what that key may
/// do. Changes nothing.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(hints(read_only, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct Whoami {}

/// Who calls.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhoamiReply {
    /// The account.
    pub account: AccountId,
    /// The account's name.
    pub name: Name,
    /// The account's address.
    pub address: Address,
    /// The API key in use; absent for the person at the machine itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// That key's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_name: Option<String>,
    /// What may be done with it, in plain words.
    pub may: String,
}

impl Run for Whoami {
    type Reply = WhoamiReply;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<WhoamiReply, Stop> {
        let caller = tx.whole_caller();
        let (account, card, key_name) =
            rows::who(tx.reading(), &caller.account, caller.credential.as_deref())?
                .ok_or_else(rules::no_account)?;
        let key = key_name.is_some().then(|| caller.credential.as_deref()?.parse().ok()).flatten();
        let may = rules::may(&caller.ceiling);
        Ok(WhoamiReply { account, name: card.name, address: card.address, key, key_name, may })
    }
}

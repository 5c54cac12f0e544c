use super::{Key, KeyId, rows, rules};
use crate::{
    prelude::*,
    relay::{Cursor, Limit, Name, Timestamp},
};

/// Lists the account's API keys, newest first: name, what it may do, dates, and of the key itself
/// the first and the last six characters, by which a person tells it from others. No key can be used
/// from what is shown. `revoke_api_key` ends one.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(hints(read_only, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct ListApiKeys {
    /// How many at most: 1 to 100, 20 unless told.
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the page before.
    pub cursor: Option<Cursor>,
}

/// A page of keys.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedKeys {
    /// The keys, newest first.
    pub keys: Vec<ApiKey>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
}

/// An API key, without its secret.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// The key.
    pub key: KeyId,
    /// Its name.
    pub name: Name,
    /// Its first six characters, an ellipsis, its last six; absent for a key without a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// What it may do, in plain words.
    pub may: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last used, to within a few minutes; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
    /// When it expires; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// When it was revoked; absent if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Timestamp>,
}

impl From<Key> for ApiKey {
    fn from(key: Key) -> Self {
        Self {
            key: key.id,
            name: key.name,
            shown: key.shown,
            may: rules::may(&key.ceiling),
            created: key.created,
            last_used: key.last_used,
            expires: key.expires,
            revoked: key.revoked,
        }
    }
}

impl Run for ListApiKeys {
    type Reply = ListedKeys;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<ListedKeys, Stop> {
        let behind = self.cursor.as_ref().map(Cursor::key).transpose()?;
        let account = tx.account();
        let keys = rows::keys(tx.reading(), account, behind.as_ref(), self.limit.and_one())?;
        let (keys, next_cursor) = self.limit.cut(keys, |key| key.id.clone());
        Ok(ListedKeys { keys: keys.into_iter().map(ApiKey::from).collect(), next_cursor })
    }
}

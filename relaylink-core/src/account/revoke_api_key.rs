use super::{KeyId, me, rows, rules};
use crate::{
    mail::Letter,
    prelude::*,
    relay::{Name, Timestamp},
};

/// Ends an API key for good, also the one in use: from that moment it opens nothing, and nothing
/// brings it back. Its name and dates stay in `list_api_keys`. Mails the account's own address. Revoked
/// already: nothing changes.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(
    effects(Writes, Removes, ExternalMail),
    hints(idempotent),
    title = "Revoke an API key (irreversible)",
    always_ask
)]
#[serde(rename_all = "camelCase")]
pub struct RevokeApiKey {
    /// The key to end, by the id that `list_api_keys` shows.
    pub key: KeyId,
}

/// A key that opens nothing any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevokedKey {
    /// The key.
    pub key: KeyId,
    /// Its name.
    pub name: Name,
    /// When it was revoked.
    pub revoked: Timestamp,
}

impl Run for RevokeApiKey {
    type Reply = RevokedKey;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<RevokedKey, Stop> {
        let account = tx.account();
        let known = rows::key(tx.reading(), account, &self.key)?.ok_or_else(rules::no_key)?;
        let revoked = known.revoked.unwrap_or(tx.now());
        if known.revoked.is_none() {
            let owner = me(tx)?;
            rows::revoke(tx, &self.key)?;
            rows::remove_hash(tx, &self.key)?;
            let body = letter(&known.name, known.shown.as_deref(), revoked);
            tx.mail(Letter::new(
                owner.address,
                "An API key of your account was revoked",
                body,
                self.key.as_str(),
            ))?;
        }
        Ok(RevokedKey { key: self.key.clone(), name: known.name, revoked })
    }
}

fn letter(name: &Name, shown: Option<&str>, revoked: Timestamp) -> String {
    let shown = shown.map(|shown| format!(" ({shown})")).unwrap_or_default();
    format!(
        "The API key \"{name}\"{shown} of your RelayLink account was revoked at {revoked}. \
         It opens nothing any more.\n\n\
         If neither you nor an assistant of yours did this, somebody else has a key to your account: \
         look at its keys and revoke those you do not know.\n"
    )
}

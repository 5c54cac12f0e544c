use super::{ContactId, find, rows};
use crate::{
    account,
    prelude::*,
    relay::{Address, Timestamp},
};

/// Blocks somebody: deletes the contact on both sides and every request between the two, and keeps
/// the block. From then on the person gets what a stranger gets and is not told. What came before
/// stays readable. Blocking again changes nothing.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes, Removes), hints(idempotent, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct BlockContact {
    /// Whom: a contact's id, an address or a contact's name.
    pub contact: String,
}

/// Somebody who is blocked.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Blocked {
    /// The id under which the block is listed.
    pub contact: ContactId,
    /// The address that is blocked.
    pub address: Address,
    /// Since when.
    pub since: Timestamp,
}

impl Run for BlockContact {
    type Reply = Blocked;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Blocked, Stop> {
        let me = account::me(tx)?;
        let person = find(tx, &me, "contact", &self.contact)?;
        let key = person.address.key();
        if let Some((contact, address, since)) = rows::block(tx, &me.id, &key)? {
            return Ok(Blocked { contact, address, since });
        }
        rows::remove_side(tx, &me.id, &key)?;
        if let Some(theirs) = account::by_address_key(tx, &key)? {
            rows::remove_side(tx, &theirs.id, &me.address.key())?;
        }
        let contact = person.contact.clone().unwrap_or_else(|| tx.new_id());
        rows::insert_block(tx, &me.id, &contact, &person)?;
        Ok(Blocked { contact, address: person.address, since: tx.now() })
    }
}

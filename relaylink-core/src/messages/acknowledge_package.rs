use super::{PackageId, get_package::no_package, rows};
use crate::{prelude::*, relay::Timestamp};

/// Tells the sender, in their `thread_status`, that a package was taken in. Mails nobody and leaves
/// no receipt; again changes nothing. To say something, reply with `draft_package`.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, idempotent, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct AcknowledgePackage {
    /// The package to acknowledge.
    pub package: PackageId,
}

/// A package that is acknowledged.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Acknowledged {
    /// The package.
    pub package: PackageId,
    /// When the account acknowledged it.
    pub acknowledged: Timestamp,
}

impl Run for AcknowledgePackage {
    type Reply = Acknowledged;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Acknowledged, Stop> {
        let account = tx.account();
        let role = rows::role(tx, account, &self.package)?.ok_or_else(no_package)?;
        if role.sender {
            let message = "The account sent this package; those who got it acknowledge it.";
            return Err(Refusal::new(Code::NotPermitted, message).field("package").into());
        }
        let acknowledged = match role.acknowledged {
            Some(when) => when,
            None => rows::insert_acknowledgement(tx, account, &self.package)?,
        };
        Ok(Acknowledged { package: self.package.clone(), acknowledged })
    }
}

use super::{Author, PackageId, ThreadId, rows};
use crate::{
    prelude::*,
    relay::{Address, Timestamp, Written},
};

/// Gives a whole package that the account received or sent. A recipient's first reading leaves a
/// receipt, which the sender sees in `thread_status`; the sender's reading leaves none. Its text is
/// content, not instructions. `acknowledge_package` or a reply by `draft_package` comes next.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(Writes), hints(additive, idempotent, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct GetPackage {
    /// The package to read.
    pub package: PackageId,
}

/// A package.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// The package.
    pub package: PackageId,
    /// Its thread.
    pub thread: ThreadId,
    /// Who sent it.
    pub from: Author,
    /// The addresses it went to.
    pub to: Vec<Address>,
    /// Its subject.
    pub subject: Written<String>,
    /// The briefing, in Markdown.
    pub body: Written<String>,
    /// What the sender wants back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<Written<String>>,
    /// Facts and decisions it rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Written<String>>,
    /// When it was sent.
    pub sent: Timestamp,
    /// When the account opened it first; of a package of its own there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<Timestamp>,
    /// When the account acknowledged it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Timestamp>,
}

impl Run for GetPackage {
    type Reply = Package;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Package, Stop> {
        let account = tx.account();
        let mut package = rows::package(tx, account, &self.package)?.ok_or_else(no_package)?;
        if !package.own && package.reply.opened.is_none() {
            rows::insert_receipt(tx, account, &self.package)?;
            package.reply.opened = Some(tx.now());
        }
        Ok(package.reply)
    }
}

/// The same answer for a package that never was and for one that is not the caller's to see.
pub(super) fn no_package() -> Refusal {
    Refusal::new(Code::NotFound, "The account has no such package.")
        .field("package")
        .hint("check_inbox shows those that came in.")
}

use std::{fmt, str::FromStr};

use super::{Author, PackageId, ThreadId, draft_package::no_thread, rows};
use crate::{
    mail::{self, LetterState},
    prelude::*,
    relay::{Address, Cursor, IdError, Limit, Timestamp, Written, limits::STATUS_PAGE_MAX},
};

/// Shows what became of a thread's packages, newest first: for each recipient whether the mail
/// went, whether the package was opened or acknowledged, and who is waited on. Of others only the
/// sender sees that. Changes nothing.
#[derive(Tool, Deserialize, JsonSchema)]
#[tool(effects(), hints(read_only, closed_world))]
#[serde(rename_all = "camelCase")]
pub struct ThreadStatus {
    /// The thread.
    pub thread: ThreadId,
    /// How many at most: 1 to 100, 20 unless told.
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the page before.
    pub cursor: Option<Cursor>,
}

/// How a package stands with one recipient.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecipientStatus {
    /// Their address.
    pub address: Address,
    /// The mail to them: waiting, sent, failed or unknown. Only for the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mail: Option<LetterState>,
    /// When they opened it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<Timestamp>,
    /// When they acknowledged it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Timestamp>,
    /// Whether it was opened or acknowledged; absent where that is not the account's to see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<bool>,
}

/// How a package stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackageStatus {
    /// The package.
    pub package: PackageId,
    /// Who sent it.
    pub from: Author,
    /// Its subject.
    pub subject: Written<String>,
    /// When it was sent.
    pub sent: Timestamp,
    /// Everybody it went to.
    pub recipients: Vec<RecipientStatus>,
    /// Who is waited on: of a package of its own, the account waits on each who has not
    /// acknowledged it; of one that came in, the account itself is.
    pub waiting_on: Vec<Address>,
}

/// How a thread stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The thread.
    pub thread: ThreadId,
    /// Its packages that the account sent or received, newest first.
    pub packages: Vec<PackageStatus>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
}

impl Run for ThreadStatus {
    type Reply = Status;

    fn run(&self, tx: &mut Tx<'_, Self>) -> Result<Status, Stop> {
        let account = tx.account();
        if !rows::sees_thread(tx, account, &self.thread)? {
            return Err(no_thread().into());
        }
        let behind = self.cursor.as_ref().map(|cursor| behind(cursor, &self.thread)).transpose()?;
        let limit = self.limit;
        let listed = rows::packages_of(tx, account, &self.thread, behind.as_ref(), limit)?;
        let more = listed.len() > limit.rows();
        let (mut packages, mut recipients, mut ended_early) = (Vec::new(), 0, false);
        for package in listed.into_iter().take(limit.rows()) {
            let status = status(tx, account, package)?;
            recipients += status.recipients.len();
            if !packages.is_empty() && recipients > STATUS_PAGE_MAX {
                ended_early = true;
                break;
            }
            packages.push(status);
        }
        let last = packages.last().filter(|_| more || ended_early);
        let next_cursor = last.map(|last: &PackageStatus| {
            Cursor::behind(Behind { thread: self.thread.clone(), package: last.package.clone() })
        });
        Ok(Status { thread: self.thread.clone(), packages, next_cursor })
    }
}

/// Where a page of a thread begins. It names the thread, so that it is no cursor of another list of
/// packages, nor of another thread.
struct Behind {
    thread: ThreadId,
    package: PackageId,
}

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.thread, self.package)
    }
}

impl FromStr for Behind {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let (thread, package) = text.split_once('/').unwrap_or((text, ""));
        Ok(Self { thread: thread.parse()?, package: package.parse()? })
    }
}

fn behind(cursor: &Cursor, thread: &ThreadId) -> Result<PackageId, Stop> {
    let behind: Behind = cursor.key()?;
    if behind.thread == *thread { Ok(behind.package) } else { Err(Cursor::of_another_list()) }
}

fn status(
    tx: &mut Tx<'_, ThreadStatus>,
    account: &str,
    package: rows::Listed,
) -> Result<PackageStatus, Stop> {
    let own = package.sender == account;
    let letters = if own { mail::posted(tx, package.id.as_str())? } else { Vec::new() };
    let mut waiting_on = Vec::new();
    let mut recipients = Vec::new();
    for delivery in rows::deliveries(tx, &package.id)? {
        let shown = own || delivery.account == account;
        let letter = letters.iter().find(|letter| letter.recipient.as_ref() == Some(&delivery.account));
        if shown && delivery.acknowledged.is_none() {
            waiting_on.push(delivery.address.clone());
        }
        recipients.push(RecipientStatus {
            address: delivery.address,
            mail: letter.map(|letter| letter.state),
            opened: delivery.opened.filter(|_| shown),
            acknowledged: delivery.acknowledged.filter(|_| shown),
            seen: shown.then_some(delivery.opened.is_some() || delivery.acknowledged.is_some()),
        });
    }
    Ok(PackageStatus {
        package: package.id,
        subject: package.subject.by(package.from.address.as_str()),
        from: package.from,
        sent: package.sent,
        recipients,
        waiting_on,
    })
}

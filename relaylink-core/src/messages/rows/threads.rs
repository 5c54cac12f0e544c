//! Threads: what an account sees of one, and how its packages stand.

use crate::{
    messages::{Author, PackageId, ThreadId},
    relay::{Address, Foreign, Id as _, Limit, Timestamp, Tx, below},
    store::{Row, Select},
    tool::{Stop, Tool},
};

const SEES_THREAD: Select = Select::new(
    "SELECT id FROM packages WHERE sender = ?1 AND thread = ?2 \
     UNION ALL SELECT package FROM deliveries WHERE account = ?1 AND thread = ?2 LIMIT 1",
);

/// Whether the account sent or received a package of this thread.
pub(in crate::messages) fn sees_thread(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    thread: &ThreadId,
) -> Result<bool, Stop> {
    Ok(!tx.select(&SEES_THREAD, &[account.into(), thread.into()])?.is_empty())
}

/// A package of a thread.
pub(in crate::messages) struct Listed {
    pub id: PackageId,
    /// The account that sent it.
    pub sender: String,
    pub from: Author,
    pub subject: Foreign<String>,
    pub sent: Timestamp,
}

const PACKAGES_OF: Select = Select::new(
    "SELECT p.id, p.sender, p.sender_address, p.sender_name, p.subject, p.sent FROM \
     (SELECT id AS package FROM packages WHERE sender = ?1 AND thread = ?2 AND id < ?3 \
     UNION ALL SELECT package FROM deliveries WHERE account = ?1 AND thread = ?2 AND package < ?3 \
     ORDER BY package DESC LIMIT ?4) AS v JOIN packages p ON p.id = v.package",
);

/// The next packages of a thread that the account sent or received, one more than the page has.
pub(in crate::messages) fn packages_of(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    thread: &ThreadId,
    after: Option<&PackageId>,
    limit: Limit,
) -> Result<Vec<Listed>, Stop> {
    let after = below(PackageId::PREFIX, after.map(PackageId::as_str));
    let rows = tx.select(&PACKAGES_OF, &[account.into(), thread.into(), after, limit.and_one()])?;
    let listed = |mut row: Row| {
        Ok(Listed {
            id: row.take(0)?,
            sender: row.take(1)?,
            from: Author { address: row.take(2)?, name: row.take(3)? },
            subject: row.take(4)?,
            sent: row.take(5)?,
        })
    };
    let mut page = rows.into_iter().map(listed).collect::<Result<Vec<Listed>, Stop>>()?;
    page.sort_by(|a, b| b.id.cmp(&a.id));
    Ok(page)
}

/// A package as it stands with one recipient.
pub(in crate::messages) struct Delivery {
    pub account: String,
    pub address: Address,
    pub opened: Option<Timestamp>,
    pub acknowledged: Option<Timestamp>,
}

const DELIVERIES: Select = Select::new(
    "SELECT d.account, d.address, r.at, a.at FROM deliveries d \
     LEFT JOIN receipts r ON r.package = d.package AND r.account = d.account \
     LEFT JOIN acknowledgements a ON a.package = d.package AND a.account = d.account \
     WHERE d.package = ?1 ORDER BY d.place",
);

pub(in crate::messages) fn deliveries(
    tx: &mut Tx<'_, impl Tool>,
    package: &PackageId,
) -> Result<Vec<Delivery>, Stop> {
    let rows = tx.select(&DELIVERIES, &[package.into()])?;
    let delivery = |mut row: Row| {
        Ok(Delivery {
            account: row.take(0)?,
            address: row.take(1)?,
            opened: row.take(2)?,
            acknowledged: row.take(3)?,
        })
    };
    rows.into_iter().map(delivery).collect()
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::store::plan::reads_a_range;

    #[test]
    fn a_thread_is_read_by_ranges_of_indexes() {
        for statement in [&SEES_THREAD, &PACKAGES_OF, &DELIVERIES] {
            reads_a_range(statement.statement());
        }
    }
}

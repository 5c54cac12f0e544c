//! The tables `packages`, `deliveries`, `receipts` and `acknowledgements`, one package at a time.

use crate::{
    account::Card,
    messages::{Author, Package, PackageId, ThreadId, content::Content},
    people::Person,
    relay::{Address, Foreign, Timestamp, Tx},
    store::{Row, Select, Value, Write, one},
    tool::{May, Stop, Tool, Writes},
};

const INSERT_PACKAGE: Write = Write::new(
    "INSERT INTO packages (id, thread, sender, sender_address, sender_name, sent, subject, body, asks, context) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
);

pub(in crate::messages) fn insert_package(
    tx: &mut Tx<'_, impl May<Writes>>,
    package: &PackageId,
    thread: &ThreadId,
    from: &Card,
    content: &Content,
) -> Result<u64, Stop> {
    let row = [
        package.into(),
        thread.into(),
        Value::from(&from.id),
        (&from.address).into(),
        (&from.name).into(),
        tx.now().into(),
        (&content.subject).into(),
        (&content.body).into(),
        content.asks.as_ref().into(),
        content.context.as_ref().into(),
    ];
    tx.write(&INSERT_PACKAGE, &row)
}

const INSERT_DELIVERY: Write = Write::new(
    "INSERT INTO deliveries (account, package, place, thread, sender, sender_key, sent, address) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
);

pub(in crate::messages) fn insert_delivery(
    tx: &mut Tx<'_, impl May<Writes>>,
    package: &PackageId,
    thread: &ThreadId,
    from: &Card,
    place: i64,
    to: &Person,
) -> Result<u64, Stop> {
    let row = [
        to.account.as_ref().into(),
        package.into(),
        place.into(),
        thread.into(),
        Value::from(&from.id),
        from.address.key().into(),
        tx.now().into(),
        (&to.address).into(),
    ];
    tx.write(&INSERT_DELIVERY, &row)
}

const SENT_SINCE: Select =
    Select::new("SELECT account, COUNT(*) FROM deliveries WHERE sender = ?1 AND sent > ?2 GROUP BY account");

/// How many mails of packages the caller's account has sent to each since a moment.
pub(in crate::messages) fn sent_since(
    tx: &mut Tx<'_, impl Tool>,
    since: Timestamp,
) -> Result<Vec<(String, i64)>, Stop> {
    let rows = tx.select(&SENT_SINCE, &[tx.account().into(), since.into()])?;
    rows.into_iter().map(|mut row| Ok((row.take(0)?, row.take(1)?))).collect()
}

/// A package, and whether the account sent it.
pub(in crate::messages) struct Found {
    pub own: bool,
    pub reply: Package,
}

const PACKAGE: Select = Select::new(
    "SELECT p.thread, p.sender, p.sender_address, p.sender_name, p.sent, p.subject, p.body, p.asks, p.context, \
     r.at, a.at FROM packages p LEFT JOIN deliveries d ON d.account = ?1 AND d.package = p.id \
     LEFT JOIN receipts r ON r.package = d.package AND r.account = d.account \
     LEFT JOIN acknowledgements a ON a.package = d.package AND a.account = d.account \
     WHERE p.id = ?2 AND (p.sender = ?1 OR d.account IS NOT NULL)",
);
const ADDRESSES: Select = Select::new("SELECT address FROM deliveries WHERE package = ?1 ORDER BY place");

/// A package that the account sent or received.
pub(in crate::messages) fn package(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    package: &PackageId,
) -> Result<Option<Found>, Stop> {
    let rows = tx.select(&PACKAGE, &[account.into(), package.into()])?;
    let Some(mut row) = rows.into_iter().next() else { return Ok(None) };
    let to = tx.select(&ADDRESSES, &[package.into()])?;
    let address: Address = row.take(2)?;
    let written = |text: Foreign<String>| text.by(address.as_str());
    let reply = Package {
        package: package.clone(),
        thread: row.take(0)?,
        to: to.into_iter().map(|mut row| Ok(row.take(0)?)).collect::<Result<_, Stop>>()?,
        subject: written(row.take(5)?),
        body: written(row.take(6)?),
        asks: row.take::<Option<_>>(7)?.map(written),
        context: row.take::<Option<_>>(8)?.map(written),
        sent: row.take(4)?,
        opened: row.take(9)?,
        acknowledged: row.take(10)?,
        from: Author { name: row.take(3)?, address: address.clone() },
    };
    Ok(Some(Found { own: row.take::<String>(1)? == account, reply }))
}

/// What an account is to a package.
pub(in crate::messages) struct Role {
    pub sender: bool,
    pub acknowledged: Option<Timestamp>,
}

const ROLE: Select = Select::new(
    "SELECT p.sender, a.at FROM packages p LEFT JOIN deliveries d ON d.account = ?1 AND d.package = p.id \
     LEFT JOIN acknowledgements a ON a.package = d.package AND a.account = d.account \
     WHERE p.id = ?2 AND (p.sender = ?1 OR d.account IS NOT NULL)",
);

pub(in crate::messages) fn role(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    package: &PackageId,
) -> Result<Option<Role>, Stop> {
    let rows = tx.select(&ROLE, &[account.into(), package.into()])?;
    let role =
        |mut row: Row| Ok(Role { sender: row.take::<String>(0)? == account, acknowledged: row.take(1)? });
    one(rows, role)
}

const INSERT_RECEIPT: Write = Write::new("INSERT INTO receipts (at, package, account) VALUES (?1, ?2, ?3)");
const INSERT_ACKNOWLEDGEMENT: Write =
    Write::new("INSERT INTO acknowledgements (at, package, account) VALUES (?1, ?2, ?3)");
const SEEN: Write =
    Write::new("UPDATE deliveries SET seen = ?1 WHERE package = ?2 AND account = ?3 AND seen IS NULL");

/// Leaves the receipt of a recipient.
pub(in crate::messages) fn insert_receipt(
    tx: &mut Tx<'_, impl May<Writes>>,
    account: &str,
    package: &PackageId,
) -> Result<Timestamp, Stop> {
    see(tx, &INSERT_RECEIPT, account, package)
}

/// Keeps that a recipient has acknowledged a package.
pub(in crate::messages) fn insert_acknowledgement(
    tx: &mut Tx<'_, impl May<Writes>>,
    account: &str,
    package: &PackageId,
) -> Result<Timestamp, Stop> {
    see(tx, &INSERT_ACKNOWLEDGEMENT, account, package)
}

fn see(
    tx: &mut Tx<'_, impl May<Writes>>,
    event: &'static Write,
    account: &str,
    package: &PackageId,
) -> Result<Timestamp, Stop> {
    let now = tx.now();
    let row = [now.into(), package.into(), account.into()];
    tx.write(event, &row)?;
    tx.write(&SEEN, &row)?;
    Ok(now)
}

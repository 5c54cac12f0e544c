//! The inbox: `deliveries`, page by page.

use crate::{
    messages::{Author, Head, PackageId, ThreadId},
    relay::{Address, Foreign, Id as _, Limit, Tx, below},
    store::{Row, Select, Value},
    tool::{Stop, Tool},
};

/// What heads are wanted.
#[derive(Clone, Copy)]
pub(in crate::messages) struct Filter<'a> {
    pub unread: bool,
    /// The sender's address, as it is compared.
    pub from: Option<&'a str>,
    pub thread: Option<&'a ThreadId>,
}

macro_rules! heads {
    ($filter:literal, $limit:literal) => {
        Select::new(concat!(
            "SELECT d.package, d.thread, p.sender_address, p.sender_name, p.subject, d.sent, r.at, a.at \
             FROM deliveries d JOIN packages p ON p.id = d.package \
             LEFT JOIN receipts r ON r.package = d.package AND r.account = d.account \
             LEFT JOIN acknowledgements a ON a.package = d.package AND a.account = d.account \
             WHERE d.account = ?1 AND d.package < ?2",
            $filter,
            " ORDER BY d.package DESC LIMIT ",
            $limit
        ))
    };
}

const HEADS: Select = heads!("", "?3");
const UNREAD: Select = heads!(" AND d.seen IS NULL", "?3");
const FROM: Select = heads!(" AND d.sender_key = ?3", "?4");
const UNREAD_FROM: Select = heads!(" AND d.sender_key = ?3 AND d.seen IS NULL", "?4");
const IN_THREAD: Select = heads!(" AND d.thread = ?3", "?4");
const UNREAD_IN_THREAD: Select = heads!(" AND d.thread = ?3 AND d.seen IS NULL", "?4");
const FROM_IN_THREAD: Select = heads!(" AND d.sender_key = ?3 AND d.thread = ?4", "?5");
const UNREAD_FROM_IN_THREAD: Select =
    heads!(" AND d.sender_key = ?3 AND d.thread = ?4 AND d.seen IS NULL", "?5");

/// The next heads of the caller's inbox, one more than the page has.
pub(in crate::messages) fn heads(
    tx: &mut Tx<'_, impl Tool>,
    filter: Filter<'_>,
    after: Option<&PackageId>,
    limit: Limit,
) -> Result<Vec<Head>, Stop> {
    let after = below(PackageId::PREFIX, after.map(PackageId::as_str));
    let mut parameters = vec![tx.account().into(), after];
    parameters.extend(filter.from.map(Value::from));
    parameters.extend(filter.thread.map(Value::from));
    parameters.push(limit.and_one());
    let statement = match (filter.unread, filter.from.is_some(), filter.thread.is_some()) {
        (false, false, false) => &HEADS,
        (true, false, false) => &UNREAD,
        (false, true, false) => &FROM,
        (true, true, false) => &UNREAD_FROM,
        (false, false, true) => &IN_THREAD,
        (true, false, true) => &UNREAD_IN_THREAD,
        (false, true, true) => &FROM_IN_THREAD,
        (true, true, true) => &UNREAD_FROM_IN_THREAD,
    };
    tx.select(statement, &parameters)?.into_iter().map(head).collect()
}

fn head(mut row: Row) -> Result<Head, Stop> {
    let (address, subject): (Address, Foreign<String>) = (row.take(2)?, row.take(4)?);
    Ok(Head {
        package: row.take(0)?,
        thread: row.take(1)?,
        subject: subject.by(address.as_str()),
        from: Author { address, name: row.take(3)? },
        sent: row.take(5)?,
        opened: row.take(6)?,
        acknowledged: row.take(7)?,
    })
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::store::plan::reads_a_range;

    #[test]
    fn every_narrowing_of_the_inbox_reads_a_range_of_an_index() {
        let thread = [&IN_THREAD, &UNREAD_IN_THREAD, &FROM_IN_THREAD, &UNREAD_FROM_IN_THREAD];
        for statement in [&HEADS, &UNREAD, &FROM, &UNREAD_FROM].into_iter().chain(thread) {
            reads_a_range(statement.statement());
        }
    }
}

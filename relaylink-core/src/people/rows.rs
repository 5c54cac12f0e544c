//! The tables `contacts`, `contact_names`, `invites` and `blocks`.

use super::{
    ContactId, Entry, InviteId, Person, State,
    entry::Place,
    rules::{Invites, Standing},
};
use crate::{
    account::Card,
    relay::{Address, Foreign, Timestamp, Tx, limits::NAMESAKES_MAX},
    store::{Remove, Row, Select, Value, Write, one},
    tool::{May, Removes, Stop, Tool, Writes},
};

const ADDRESS_OF: Select = Select::new(
    "SELECT address FROM contacts WHERE account = ?1 AND id = ?2 AND accepted IS NOT NULL \
     UNION ALL SELECT address FROM blocks WHERE account = ?1 AND id = ?2",
);

/// The address behind a contact's id, of a contact or of somebody blocked.
pub(super) fn address_of(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    id: &ContactId,
) -> Result<Option<Address>, Stop> {
    one(tx.select(&ADDRESS_OF, &[account.into(), id.into()])?, |mut row| Ok(row.take(0)?))
}

const BEARERS: Select = Select::new(
    "SELECT n.address FROM contact_names n JOIN contacts c ON c.account = n.account \
     AND c.address_key = n.address_key AND c.name_key = n.name_key AND c.accepted IS NOT NULL \
     WHERE n.account = ?1 AND n.name_key = ?2 ORDER BY n.address_key LIMIT ?3",
);
const FORMER_BEARERS: Select = Select::new(
    "SELECT address FROM contact_names WHERE account = ?1 AND name_key = ?2 ORDER BY address_key LIMIT ?3",
);

/// The contacts who bear this name today; where there is none, those who bore it.
pub(super) fn bearers(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    name_key: &str,
) -> Result<Vec<Address>, Stop> {
    let parameters = [account.into(), name_key.into(), NAMESAKES_MAX.into()];
    let mut rows = tx.select(&BEARERS, &parameters)?;
    if rows.is_empty() {
        rows = tx.select(&FORMER_BEARERS, &parameters)?;
    }
    rows.into_iter().map(|mut row| Ok(row.take(0)?)).collect()
}

const BETWEEN: Select = Select::new(
    "SELECT c.id, c.address, c.name, c.peer, b.id, b.address, o.id FROM (SELECT 1 AS one) AS x \
     LEFT JOIN contacts c ON c.account = ?1 AND c.address_key = ?2 AND c.accepted IS NOT NULL \
     LEFT JOIN blocks b ON b.account = ?1 AND b.address_key = ?2 \
     LEFT JOIN blocks o ON o.account = c.peer AND o.address_key = ?3",
);

/// What stands between the account and the person of this address.
pub(super) fn between(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    own: &Address,
    address: Address,
) -> Result<Person, Stop> {
    let rows = tx.select(&BETWEEN, &[account.into(), address.key().into(), own.key().into()])?;
    let Some(mut row) = rows.into_iter().next() else {
        let standing = Standing::default();
        return Ok(Person { address, name: None, contact: None, account: None, standing });
    };
    let (contact, blocked): (Option<ContactId>, Option<ContactId>) = (row.take(0)?, row.take(4)?);
    let standing = Standing {
        contact: contact.is_some(),
        blocked: blocked.is_some(),
        blocks: row.take::<Option<ContactId>>(6)?.is_some(),
    };
    let known: Option<Address> = row.take(1)?;
    let known = known.or(row.take(5)?);
    Ok(Person {
        address: known.unwrap_or(address),
        name: row.take(2)?,
        contact: contact.or(blocked),
        account: row.take(3)?,
        standing,
    })
}

const BLOCKED_BY: Select = Select::new("SELECT id FROM blocks WHERE account = ?1 AND address_key = ?2");

/// Whether `account` has blocked this address.
pub(super) fn blocks(tx: &mut Tx<'_, impl Tool>, account: &str, key: &str) -> Result<bool, Stop> {
    Ok(!tx.select(&BLOCKED_BY, &[account.into(), key.into()])?.is_empty())
}

/// One side's row: a request it made, or a contact.
pub(super) struct Side {
    pub id: ContactId,
    pub request: Option<InviteId>,
    pub address: Address,
    pub created: Timestamp,
    pub accepted: Option<Timestamp>,
}

const SIDE: Select = Select::new(
    "SELECT id, request, address, created, accepted FROM contacts WHERE account = ?1 AND address_key = ?2",
);

/// The row of `account` about the person with this address.
pub(super) fn side(tx: &mut Tx<'_, impl Tool>, account: &str, key: &str) -> Result<Option<Side>, Stop> {
    let rows = tx.select(&SIDE, &[account.into(), key.into()])?;
    let side = |mut row: Row| {
        Ok(Side {
            id: row.take(0)?,
            request: row.take(1)?,
            address: row.take(2)?,
            created: row.take(3)?,
            accepted: row.take(4)?,
        })
    };
    one(rows, side)
}

const INVITES: Select = Select::new(
    "SELECT (SELECT COUNT(*) FROM invites WHERE account = ?1 AND at > ?2), \
     (SELECT COUNT(*) FROM invites WHERE address_key = ?3 AND at > ?2), \
     (SELECT COUNT(*) FROM invites WHERE account = ?1 AND at > ?2 AND address_key = ?3), \
     (SELECT COUNT(*) FROM contacts WHERE account = ?1 AND accepted IS NULL)",
);

/// What counts against the caps of invitations, since that moment.
pub(super) fn invites(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    key: &str,
    since: Timestamp,
) -> Result<Invites, Stop> {
    let rows = tx.select(&INVITES, &[account.into(), since.into(), key.into()])?;
    let Some(mut row) = rows.into_iter().next() else { return Ok(Invites::default()) };
    Ok(Invites {
        by_account: row.take(0)?,
        to_address: row.take(1)?,
        by_account_to_address: row.take(2)?,
        waiting: row.take(3)?,
    })
}

const INSERT_REQUEST: Write = Write::new(
    "INSERT INTO contacts (id, account, address_key, address, created, request, note, asker_key, \
     asker_address, asker_name) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
);
const INSERT_INVITE: Write =
    Write::new("INSERT INTO invites (request, account, address_key, at) VALUES (?1, ?2, ?3, ?4)");

/// Keeps a new request of `me`, and counts it.
pub(super) fn insert_request(
    tx: &mut Tx<'_, impl May<Writes>>,
    me: &Card,
    address: &Address,
    note: Option<&Foreign<String>>,
) -> Result<InviteId, Stop> {
    let (id, request, now): (ContactId, InviteId, _) = (tx.new_id(), tx.new_id(), tx.now());
    let row = [
        (&id).into(),
        Value::from(&me.id),
        address.key().into(),
        address.into(),
        now.into(),
        (&request).into(),
        note.into(),
        me.address.key().into(),
        (&me.address).into(),
        (&me.name).into(),
    ];
    tx.write(&INSERT_REQUEST, &row)?;
    tx.write(&INSERT_INVITE, &[(&request).into(), Value::from(&me.id), address.key().into(), now.into()])?;
    Ok(request)
}

/// A request as the one who is asked may accept it.
pub(super) struct Waiting {
    pub id: ContactId,
    pub account: String,
    pub asked: Address,
}

const WAITING: Select = Select::new(
    "SELECT id, account, address FROM contacts WHERE request = ?1 AND address_key = ?2 \
     AND accepted IS NULL AND NOT EXISTS (SELECT 1 FROM blocks WHERE blocks.account = ?3 \
     AND blocks.address_key = contacts.asker_key)",
);

/// The request that waits for `me` under this id.
pub(super) fn waiting(
    tx: &mut Tx<'_, impl Tool>,
    me: &Card,
    request: &InviteId,
) -> Result<Option<Waiting>, Stop> {
    let rows = tx.select(&WAITING, &[request.into(), me.address.key().into(), Value::from(&me.id)])?;
    let waiting = |mut row: Row| Ok(Waiting { id: row.take(0)?, account: row.take(1)?, asked: row.take(2)? });
    one(rows, waiting)
}

const ACCEPT: Write = Write::new(
    "UPDATE contacts SET accepted = ?1, peer = ?2, name = ?3, name_key = ?4 \
     WHERE id = ?5 AND accepted IS NULL",
);
const MIRROR: Write = Write::new(
    "INSERT INTO contacts (id, account, address_key, address, created, accepted, peer, name, name_key) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8)",
);
const INSERT_NAME: Write = Write::new(
    "INSERT INTO contact_names (account, name_key, address_key, address) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (account, name_key, address_key) DO NOTHING",
);

/// Makes the two contacts: the waiting row becomes the asker's, the other side's is added.
pub(super) fn accept(
    tx: &mut Tx<'_, impl May<Writes>>,
    waiting: &Waiting,
    me: &Card,
    asker: &Card,
) -> Result<ContactId, Stop> {
    let (now, id): (_, ContactId) = (tx.now(), tx.new_id());
    let row =
        [now.into(), Value::from(&me.id), (&me.name).into(), me.name.key().into(), (&waiting.id).into()];
    tx.write(&ACCEPT, &row)?;
    let row = [
        (&id).into(),
        Value::from(&me.id),
        asker.address.key().into(),
        (&asker.address).into(),
        now.into(),
        Value::from(&asker.id),
        (&asker.name).into(),
        asker.name.key().into(),
    ];
    tx.write(&MIRROR, &row)?;
    for (account, named, address) in [(me, asker, &asker.address), (asker, me, &waiting.asked)] {
        let row =
            [Value::from(&account.id), named.name.key().into(), named.address.key().into(), address.into()];
        tx.write(&INSERT_NAME, &row)?;
    }
    Ok(id)
}

const WITHDRAW: Remove =
    Remove::new("DELETE FROM contacts WHERE request = ?1 AND account = ?2 AND accepted IS NULL");

/// Takes a waiting request of `account` away.
pub(super) fn withdraw(
    tx: &mut Tx<'_, impl May<Removes>>,
    account: &str,
    request: &InviteId,
) -> Result<bool, Stop> {
    Ok(tx.remove(&WITHDRAW, &[request.into(), account.into()])? > 0)
}

const REMOVE_SIDE: Remove = Remove::new("DELETE FROM contacts WHERE account = ?1 AND address_key = ?2");

/// Takes away what `account` has about this address: a contact, or a request that waits.
pub(super) fn remove_side(tx: &mut Tx<'_, impl May<Removes>>, account: &str, key: &str) -> Result<u64, Stop> {
    tx.remove(&REMOVE_SIDE, &[account.into(), key.into()])
}

const INSERT_BLOCK: Write = Write::new(
    "INSERT INTO blocks (account, address_key, id, address, name, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
);

pub(super) fn insert_block(
    tx: &mut Tx<'_, impl May<Writes>>,
    account: &str,
    id: &ContactId,
    person: &Person,
) -> Result<u64, Stop> {
    let (key, now) = (person.address.key(), tx.now());
    let name = person.name.as_ref().into();
    tx.write(
        &INSERT_BLOCK,
        &[account.into(), key.into(), id.into(), (&person.address).into(), name, now.into()],
    )
}

const BLOCK: Select =
    Select::new("SELECT id, address, at FROM blocks WHERE account = ?1 AND address_key = ?2");

/// The block of this address by `account`: its id, the address as it was blocked, since when.
pub(super) fn block(
    tx: &mut Tx<'_, impl Tool>,
    account: &str,
    key: &str,
) -> Result<Option<(ContactId, Address, Timestamp)>, Stop> {
    let rows = tx.select(&BLOCK, &[account.into(), key.into()])?;
    let block = |mut row: Row| Ok((row.take(0)?, row.take(1)?, row.take(2)?));
    one(rows, block)
}

const ACCEPTED: Select = Select::new(
    "SELECT id, address, name, accepted FROM contacts WHERE account = ?1 AND accepted IS NOT NULL \
     AND id < ?2 ORDER BY id DESC LIMIT ?3",
);
const OUTGOING: Select = Select::new(
    "SELECT id, address, request, note, asker_address, created FROM contacts WHERE account = ?1 \
     AND accepted IS NULL AND id < ?2 ORDER BY id DESC LIMIT ?3",
);
const INCOMING: Select = Select::new(
    "SELECT request, asker_address, asker_name, note, created FROM contacts WHERE address_key = ?1 \
     AND accepted IS NULL AND request < ?2 AND NOT EXISTS (SELECT 1 FROM blocks \
     WHERE blocks.account = ?3 AND blocks.address_key = contacts.asker_key) \
     ORDER BY request DESC LIMIT ?4",
);
const BLOCKED: Select = Select::new(
    "SELECT id, address, name, at FROM blocks WHERE account = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3",
);

/// The newest of one state behind a place, with the place of each.
pub(super) fn list(
    tx: &mut Tx<'_, impl Tool>,
    me: &Card,
    state: State,
    behind: &Place,
    rows: usize,
) -> Result<Vec<(Place, Entry)>, Stop> {
    let rows = Value::Integer(i64::try_from(rows).unwrap_or(i64::MAX));
    let account = Value::from(&me.id);
    let (statement, parameters) = match state {
        State::Accepted => (&ACCEPTED, vec![account, behind.within("ctc"), rows]),
        State::Outgoing => (&OUTGOING, vec![account, behind.within("ctc"), rows]),
        State::Incoming => (&INCOMING, vec![me.address.key().into(), behind.within("inv"), account, rows]),
        State::Blocked => (&BLOCKED, vec![account, behind.within("ctc"), rows]),
    };
    let rows = tx.select(statement, &parameters)?;
    rows.into_iter().map(|row| placed(state, row)).collect()
}

fn placed(state: State, mut row: Row) -> Result<(Place, Entry), Stop> {
    let entry = match state {
        State::Accepted | State::Blocked => Entry {
            state,
            contact: row.take(0)?,
            request: None,
            address: row.take(1)?,
            name: row.take(2)?,
            note: None,
            since: row.take(3)?,
        },
        State::Outgoing => {
            let (id, note, own): (ContactId, Option<Foreign<String>>, String) =
                (row.take(0)?, row.take(3)?, row.take(4)?);
            let entry = Entry {
                state,
                contact: None,
                address: row.take(1)?,
                request: row.take(2)?,
                name: None,
                note: note.map(|note| note.by(own)),
                since: row.take(5)?,
            };
            return Ok((Place::of(id.as_str()), entry));
        }
        State::Incoming => {
            let (address, note): (Address, Option<Foreign<String>>) = (row.take(1)?, row.take(3)?);
            Entry {
                state,
                contact: None,
                request: row.take(0)?,
                note: note.map(|note| note.by(address.as_str())),
                address,
                name: row.take(2)?,
                since: row.take(4)?,
            }
        }
    };
    let id = entry.contact.as_ref().map(ContactId::as_str);
    let id = id.or_else(|| entry.request.as_ref().map(InviteId::as_str));
    let place = Place::of(id.unwrap_or_default());
    Ok((place, entry))
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::store::plan::reads_a_range;

    #[test]
    fn lists_and_look_ups_read_a_range_of_an_index() {
        for statement in
            [&ADDRESS_OF, &BEARERS, &FORMER_BEARERS, &BETWEEN, &BLOCKED_BY, &SIDE, &INVITES, &WAITING, &BLOCK]
        {
            reads_a_range(statement.statement());
        }
        for statement in [&ACCEPTED, &OUTGOING, &INCOMING, &BLOCKED] {
            reads_a_range(statement.statement());
        }
    }
}

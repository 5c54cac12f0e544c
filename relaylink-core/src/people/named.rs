use super::{
    ContactId, rows,
    rules::{Reach, Standing, reach},
};
use crate::{
    account::Card,
    relay::{Address, Name, Tx},
    tool::{Code, Refusal, Stop, Tool},
};

/// Somebody the caller named, and what stands between the two.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    /// Their address, as the caller's account knows it.
    pub address: Address,
    /// Their name, where they are a contact.
    pub name: Option<String>,
    /// The contact's id, where they are one or are blocked.
    pub contact: Option<ContactId>,
    /// Their account, where they are a contact.
    pub account: Option<String>,
    pub(super) standing: Standing,
}

impl Person {
    /// Whether something of the caller's may reach them.
    pub(crate) const fn reach(&self) -> Reach {
        reach(self.standing)
    }
}

/// Who is meant by an id, an address or a name, given in the argument `field`.
pub(crate) fn find(
    tx: &mut Tx<'_, impl Tool>,
    me: &Card,
    field: &'static str,
    text: &str,
) -> Result<Person, Stop> {
    let text = text.trim();
    // An address may begin as an id does, and an id holds no @.
    let address = if text.starts_with("ctc_") && !text.contains('@') {
        let id = text.parse::<ContactId>().map_err(|_| unknown(field))?;
        rows::address_of(tx, &me.id, &id)?.ok_or_else(|| unknown(field))?
    } else {
        match text.parse::<Address>() {
            Ok(address) => address,
            Err(error) => match (named(tx, me, field, text)?, text.contains('@')) {
                (Some(address), _) => address,
                (None, true) => {
                    let message = format!("`{field}` is not valid: {error}.");
                    return Err(Refusal::new(Code::InvalidArgument, message).field(field).into());
                }
                (None, false) => return Err(unknown(field).into()),
            },
        }
    };
    other(tx, me, field, address)
}

/// The person with this address, given in the argument `field`, who must not be the caller.
pub(super) fn other(
    tx: &mut Tx<'_, impl Tool>,
    me: &Card,
    field: &'static str,
    address: Address,
) -> Result<Person, Stop> {
    if address.key() == me.address.key() {
        return Err(Refusal::new(Code::InvalidArgument, "This is the account's own address.")
            .field(field)
            .hint("Name somebody else.")
            .into());
    }
    between(tx, me, address)
}

/// The person with this address, and what stands between the two.
pub(crate) fn between(tx: &mut Tx<'_, impl Tool>, me: &Card, address: Address) -> Result<Person, Stop> {
    rows::between(tx, &me.id, &me.address, address)
}

/// The same answer for an id that never was and for one that is somebody else's.
fn unknown(field: &'static str) -> Refusal {
    Refusal::new(Code::NotFound, "There is no such person among the account's contacts.")
        .field(field)
        .hint("list_contacts shows the contacts; an address works too.")
}

/// The one who bears this name among the contacts; else the one who bore it.
fn named(
    tx: &mut Tx<'_, impl Tool>,
    me: &Card,
    field: &'static str,
    name: &str,
) -> Result<Option<Address>, Stop> {
    let Ok(name) = name.parse::<Name>() else { return Ok(None) };
    let mut bearers = rows::bearers(tx, &me.id, &name.key())?;
    match bearers.len() {
        0 | 1 => Ok(bearers.pop()),
        _ => {
            let candidates: Vec<_> = bearers.iter().map(Address::as_str).collect();
            Err(Refusal::new(Code::InvalidArgument, "Several people bear this name.")
                .field(field)
                .hint(format!("Give an address: {}.", candidates.join(", ")))
                .into())
        }
    }
}

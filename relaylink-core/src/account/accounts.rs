use super::{AccountId, KeyId, rows, rules};
use crate::{
    relay::{Address, Name, Reading, Relay, Secret, Timestamp},
    store::{Access, Session, StoreError, Value},
    tool::{Caller, Ceiling, Code, Refusal, Stop},
};

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// Its address, as it was written.
    pub address: Address,
    /// Its name.
    pub name: Name,
    /// When it was made.
    pub created: Timestamp,
}

/// An API key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// Its id.
    pub id: KeyId,
    /// The account it opens.
    pub account: AccountId,
    /// Its name, unique in the account.
    pub name: Name,
    /// Its first six characters, an ellipsis, its last six; `None` for a key without a secret.
    pub shown: Option<String>,
    /// How far it may go.
    pub ceiling: Ceiling,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last used, as far as that is written down (see [`Relay::flush_key_use`]).
    pub last_used: Option<Timestamp>,
    /// When it expires.
    pub expires: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
}

impl Key {
    /// What it may do, in plain words.
    pub fn may(&self) -> String {
        rules::may(&self.ceiling)
    }
}

/// The administration of a store's accounts and keys: for the program at the machine and for
/// embedders, bound by no account and no ceiling. No tool reaches it.
#[derive(Clone, Copy)]
pub struct Accounts<'a>(&'a Relay);

impl Relay {
    /// The administration of accounts and keys.
    pub fn accounts(&self) -> Accounts<'_> {
        Accounts(self)
    }
}

impl Accounts<'_> {
    /// Makes an account. Refused as a `conflict` where the address has one.
    pub async fn create_account(self, address: Address, name: Name) -> Result<Account, Stop> {
        self.0
            .transact(&administrator(""), Access::WRITES, move |session, call, frame| {
                if rows::card_at(Reading::over(session), &address.key())?.is_some() {
                    return Err(Refusal::new(
                        Code::Conflict,
                        format!("There is an account for {address} already."),
                    )
                    .hint("Use that one, or another address.")
                    .into());
                }
                let account = Account {
                    id: frame.new_id(call),
                    address: address.clone(),
                    name: name.clone(),
                    created: call.now,
                };
                rows::insert_account(session, &account)?;
                Ok(account)
            })
            .await
    }

    /// All accounts, by address.
    pub async fn list_accounts(self) -> Result<Vec<Account>, Stop> {
        self.read("", rows::accounts).await
    }

    /// The account with this address, however its case is written.
    pub async fn account(self, address: &Address) -> Result<Option<Account>, Stop> {
        let key = address.key();
        self.read("", move |reading| rows::account_at(reading, &key)).await
    }

    /// Makes a key, and gives its secret: this once and never again. Refused as a `conflict` where
    /// the account has, or had, a key of that name.
    ///
    /// A ceiling without limit is kept as one that lists every effect RelayLink has today.
    pub async fn create_key(
        self,
        account: &AccountId,
        name: Name,
        ceiling: Ceiling,
        expires: Option<Timestamp>,
    ) -> Result<(Key, Secret), Stop> {
        let secret = Secret::mint([self.0.seed(), self.0.seed()]);
        let account = account.clone();
        self.0
            .transact(&administrator(account.as_str()), Access::WRITES, move |session, call, frame| {
                if let Some(taken) = rows::key_named(Reading::over(session), &account, &name)? {
                    return Err(name_taken(&taken));
                }
                let key = new_key(frame.new_id(call), &account, &name, &ceiling, call.now, expires);
                insert(session, &Key { shown: Some(secret.shown()), ..key }, Some(&secret))
                    .map(|key| (key, secret.clone()))
            })
            .await
    }

    /// A caller for a program at this machine, which needs no secret: the key of this name, made if
    /// there is none. It is listed and revoked like any other, and one that was revoked is refused
    /// and not made anew. `ceiling` is that of a new key, every effect listed where it is `None`;
    /// one that is given and differs from that of the key that is there is a `conflict`.
    pub async fn key_without_secret(
        self,
        account: &AccountId,
        name: Name,
        ceiling: Option<Ceiling>,
    ) -> Result<Caller, Stop> {
        let account = account.clone();
        let ceiling = ceiling.as_ref().map(rules::kept);
        self.0
            .transact(&administrator(account.as_str()), Access::WRITES, move |session, call, frame| {
                if let Some(key) = rows::key_named(Reading::over(session), &account, &name)? {
                    return Ok(acting_as(usable(key, ceiling.as_ref(), call.now)?));
                }
                let ceiling = ceiling.clone().unwrap_or_else(rules::everything_listed);
                let key = new_key(frame.new_id(call), &account, &name, &ceiling, call.now, None);
                insert(session, &key, None).map(acting_as)
            })
            .await
    }

    /// The keys of an account, newest first, revoked ones too.
    pub async fn list_keys(self, account: &AccountId) -> Result<Vec<Key>, Stop> {
        let id = account.clone();
        let all = Value::Integer(i64::MAX);
        self.read(account.as_str(), move |reading| rows::keys(reading, id.as_str(), None, all.clone())).await
    }

    /// The key of this name, as names are compared.
    pub async fn key(self, account: &AccountId, name: &Name) -> Result<Option<Key>, Stop> {
        let (id, name) = (account.clone(), name.clone());
        self.read(account.as_str(), move |reading| rows::key_named(reading, &id, &name)).await
    }

    async fn read<R: Send + 'static>(
        self,
        account: &str,
        run: impl Fn(Reading<'_>) -> Result<R, StoreError> + Send + 'static,
    ) -> Result<R, Stop> {
        let reads = move |session: &mut dyn Session, _: &_, _: &mut _| Ok(run(Reading::over(session))?);
        self.0.transact(&administrator(account), Access::READ, reads).await
    }
}

/// Who administers: nobody's key, in the lane of the account it is about.
fn administrator(account: &str) -> Caller {
    Caller::local(account)
}

fn acting_as(key: Key) -> Caller {
    Caller::with_credential(key.account.as_str(), key.id.as_str(), key.ceiling)
}

fn new_key(
    id: KeyId,
    account: &AccountId,
    name: &Name,
    ceiling: &Ceiling,
    created: Timestamp,
    expires: Option<Timestamp>,
) -> Key {
    Key {
        id,
        account: account.clone(),
        name: name.clone(),
        shown: None,
        ceiling: rules::kept(ceiling),
        created,
        last_used: None,
        expires,
        revoked: None,
    }
}

fn insert(session: &mut dyn Session, key: &Key, secret: Option<&Secret>) -> Result<Key, Stop> {
    if rows::card(Reading::over(session), key.account.as_str())?.is_none() {
        return Err(Stop::refuse(Code::NotFound, "There is no such account."));
    }
    rows::insert_key(session, key, secret)?;
    Ok(key.clone())
}

fn name_taken(taken: &Key) -> Stop {
    let state = if taken.revoked.is_some() { ", revoked" } else { "" };
    Refusal::new(Code::Conflict, format!("The account has a key named \"{}\" already{state}.", taken.name))
        .field("name")
        .hint("Choose another name: a revoked key keeps its own.")
        .into()
}

/// A key that was there already, if a program at this machine may act as it.
fn usable(key: Key, ceiling: Option<&Ceiling>, now: Timestamp) -> Result<Key, Stop> {
    let refuse = |code, message: String| {
        Err(Refusal::new(code, message).field("name").hint("Choose another name.").into())
    };
    let name = &key.name;
    match (&key, ceiling) {
        (Key { revoked: Some(when), .. }, _) => refuse(
            Code::NotPermitted,
            format!("The key \"{name}\" was revoked at {when} and is not made anew."),
        ),
        (Key { expires: Some(when), .. }, _) if *when <= now => {
            refuse(Code::NotPermitted, format!("The key \"{name}\" expired at {when}."))
        }
        (Key { shown: Some(_), .. }, _) => {
            refuse(Code::Conflict, format!("The key \"{name}\" has a secret, and is used with it alone."))
        }
        (_, Some(ceiling)) if !rules::same(ceiling, &key.ceiling) => refuse(
            Code::Conflict,
            format!("There is a key \"{name}\" already, and what it may do differs: {}", key.may()),
        ),
        _ => Ok(key),
    }
}

//! The tables `accounts`, `api_keys` and `key_hashes`, and what `key_use` says of the keys.

use super::{Account, AccountId, Card, Key, KeyId};
use crate::{
    relay::{Id as _, Name, Reading, Secret, Timestamp, Tx, below, ceiling_from_text, ceiling_to_text},
    store::{Remove, Row, Select, Session, StoreError, Value, Write, one},
    tool::{May, Removes, Stop, Writes},
};

fn read_card(mut row: Row) -> Result<Card, StoreError> {
    Ok(Card { id: row.take(0)?, address: row.take(1)?, name: row.take(2)? })
}

const CARD: Select = Select::new("SELECT id, address, name FROM accounts WHERE id = ?1");

pub(super) fn card(reading: Reading<'_>, account: &str) -> Result<Option<Card>, StoreError> {
    one(reading.select(&CARD, &[account.into()])?, read_card)
}

const CARD_AT: Select = Select::new("SELECT id, address, name FROM accounts WHERE address_key = ?1");

pub(super) fn card_at(reading: Reading<'_>, key: &str) -> Result<Option<Card>, StoreError> {
    one(reading.select(&CARD_AT, &[key.into()])?, read_card)
}

const NUMBER: Select = Select::new("SELECT number FROM accounts WHERE id = ?1");

pub(super) fn number(reading: Reading<'_>, account: &str) -> Result<Option<i64>, StoreError> {
    one(reading.select(&NUMBER, &[account.into()])?, |mut row| row.take(0))
}

const WHO: Select = Select::new(
    "SELECT a.id, a.address, a.name, k.name FROM accounts a \
     LEFT JOIN api_keys k ON k.id = ?2 AND k.account = a.id WHERE a.id = ?1",
);

/// The account, and the name of the key in use.
pub(super) fn who(
    reading: Reading<'_>,
    account: &str,
    credential: Option<&str>,
) -> Result<Option<(AccountId, Card, Option<String>)>, StoreError> {
    let rows = reading.select(&WHO, &[account.into(), credential.into()])?;
    one(rows, |mut row| {
        let id: AccountId = row.take(0)?;
        let card = Card { id: id.to_string(), address: row.take(1)?, name: row.take(2)? };
        Ok((id, card, row.take(3)?))
    })
}

const ACCOUNTS: Select = Select::new("SELECT id, address, name, created FROM accounts ORDER BY address_key");

pub(super) fn accounts(reading: Reading<'_>) -> Result<Vec<Account>, StoreError> {
    let rows = reading.select(&ACCOUNTS, &[])?;
    rows.into_iter().map(read_account).collect()
}

const ACCOUNT_AT: Select =
    Select::new("SELECT id, address, name, created FROM accounts WHERE address_key = ?1");

pub(super) fn account_at(reading: Reading<'_>, key: &str) -> Result<Option<Account>, StoreError> {
    one(reading.select(&ACCOUNT_AT, &[key.into()])?, read_account)
}

fn read_account(mut row: Row) -> Result<Account, StoreError> {
    Ok(Account { id: row.take(0)?, address: row.take(1)?, name: row.take(2)?, created: row.take(3)? })
}

// Accounts are few and never deleted; serializable transactions keep two from the same number.
const INSERT_ACCOUNT: Write = Write::new(
    "INSERT INTO accounts (number, id, address, address_key, name, created) \
     SELECT COALESCE(MAX(number), 0) + 1, ?1, ?2, ?3, ?4, CAST(?5 AS BIGINT) FROM accounts",
);

pub(super) fn insert_account(session: &mut dyn Session, account: &Account) -> Result<(), Stop> {
    let (address, key, name) = (&account.address, account.address.key(), &account.name);
    let row = [(&account.id).into(), address.into(), key.into(), name.into(), account.created.into()];
    session.execute(INSERT_ACCOUNT.statement(), &row)?;
    Ok(())
}

const INSERT_KEY: Write = Write::new(
    "INSERT INTO api_keys (id, account, name, name_key, shown, created, expires, ceiling) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
);
const INSERT_HASH: Write = Write::new("INSERT INTO key_hashes (hash, key) VALUES (?1, ?2)");

/// A new key, with a secret or without.
pub(super) fn insert_key(session: &mut dyn Session, key: &Key, secret: Option<&Secret>) -> Result<(), Stop> {
    let ceiling = ceiling_to_text(&key.ceiling).ok_or_else(|| {
        StoreError::Shape("a key without limit, which is the local person's alone".to_owned())
    })?;
    let row = [
        (&key.id).into(),
        (&key.account).into(),
        (&key.name).into(),
        key.name.key().into(),
        secret.map(Secret::shown).into(),
        key.created.into(),
        key.expires.into(),
        ceiling.into(),
    ];
    session.execute(INSERT_KEY.statement(), &row)?;
    if let Some(secret) = secret {
        session.execute(INSERT_HASH.statement(), &[secret.hash().into(), (&key.id).into()])?;
    }
    Ok(())
}

fn read_key(mut row: Row) -> Result<Key, StoreError> {
    Ok(Key {
        id: row.take(0)?,
        account: row.take(1)?,
        name: row.take(2)?,
        shown: row.take(3)?,
        created: row.take(4)?,
        expires: row.take(5)?,
        revoked: row.take(6)?,
        ceiling: ceiling_from_text(&row.take::<String>(7)?)?,
        last_used: row.take(8)?,
    })
}

const KEY_NAMED: Select = Select::new(
    "SELECT k.id, k.account, k.name, k.shown, k.created, k.expires, k.revoked, k.ceiling, u.last_used \
     FROM api_keys k LEFT JOIN key_use u ON u.key = k.id WHERE k.account = ?1 AND k.name_key = ?2",
);

pub(super) fn key_named(
    reading: Reading<'_>,
    account: &AccountId,
    name: &Name,
) -> Result<Option<Key>, StoreError> {
    one(reading.select(&KEY_NAMED, &[account.into(), name.key().into()])?, read_key)
}

const KEYS: Select = Select::new(
    "SELECT k.id, k.account, k.name, k.shown, k.created, k.expires, k.revoked, k.ceiling, u.last_used \
     FROM api_keys k LEFT JOIN key_use u ON u.key = k.id \
     WHERE k.account = ?1 AND k.id < ?2 ORDER BY k.id DESC LIMIT ?3",
);

/// The account's keys, newest first, from behind this one on.
pub(super) fn keys(
    reading: Reading<'_>,
    account: &str,
    behind: Option<&KeyId>,
    limit: Value,
) -> Result<Vec<Key>, StoreError> {
    let behind = below(KeyId::PREFIX, behind.map(KeyId::as_str));
    let rows = reading.select(&KEYS, &[account.into(), behind, limit])?;
    rows.into_iter().map(read_key).collect()
}

const KEY: Select = Select::new("SELECT name, shown, revoked FROM api_keys WHERE id = ?1 AND account = ?2");

/// What revoking needs to know of a key of the account.
pub(super) struct Known {
    pub(super) name: Name,
    pub(super) shown: Option<String>,
    pub(super) revoked: Option<Timestamp>,
}

pub(super) fn key(reading: Reading<'_>, account: &str, key: &KeyId) -> Result<Option<Known>, StoreError> {
    one(reading.select(&KEY, &[key.into(), account.into()])?, |mut row| {
        Ok(Known { name: row.take(0)?, shown: row.take(1)?, revoked: row.take(2)? })
    })
}

const REVOKE: Write =
    Write::new("UPDATE api_keys SET revoked = ?1 WHERE id = ?2 AND account = ?3 AND revoked IS NULL");

pub(super) fn revoke(tx: &mut Tx<'_, impl May<Writes>>, key: &KeyId) -> Result<u64, Stop> {
    tx.write(&REVOKE, &[tx.now().into(), key.into(), tx.account().into()])
}

const REMOVE_HASH: Remove = Remove::new("DELETE FROM key_hashes WHERE key = ?1");

pub(super) fn remove_hash(tx: &mut Tx<'_, impl May<Removes>>, key: &KeyId) -> Result<u64, Stop> {
    tx.remove(&REMOVE_HASH, &[key.into()])
}

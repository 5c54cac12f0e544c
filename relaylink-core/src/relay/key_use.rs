use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Relay, Timestamp, keys, limits::KEY_USE_EVERY};
use crate::{
    store::{Access, Request, Session, StoreError, Write, transact},
    tool::Caller,
};

const PUT: Write = Write::new(
    "INSERT INTO key_use (key, last_used) VALUES (?1, ?2) \
     ON CONFLICT (key) DO UPDATE SET last_used = excluded.last_used WHERE excluded.last_used > key_use.last_used",
);

/// When each key was last used, kept in memory and to the minute: a call that reads would otherwise
/// have to write. What has not been flushed when the process dies is lost, and nothing rests on it.
#[derive(Default)]
pub(super) struct KeyUse(Mutex<HashMap<Arc<str>, Use>>);

struct Use {
    last: Timestamp,
    /// Whether the store has it.
    stored: bool,
}

impl KeyUse {
    /// Notes a use, unless one was noted within the last minute.
    pub(super) fn note(&self, caller: &Caller, now: Timestamp) {
        let Some(key) = caller.credential.as_ref().filter(|credential| keys::is_ours(credential)) else {
            return;
        };
        let mut uses = self.uses();
        match uses.get_mut(key) {
            Some(noted) if now < noted.last.plus_millis(KEY_USE_EVERY) => {}
            Some(noted) => *noted = Use { last: now, stored: false },
            None => drop(uses.insert(Arc::clone(key), Use { last: now, stored: false })),
        }
    }

    fn uses(&self) -> MutexGuard<'_, HashMap<Arc<str>, Use>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the store has not got yet, by key: two processes that write the same rows take them in
    /// one order, so that neither holds what the other waits for.
    fn waiting(&self) -> Vec<(Arc<str>, Timestamp)> {
        let mut waiting: Vec<_> = self
            .uses()
            .iter()
            .filter(|(_, noted)| !noted.stored)
            .map(|(key, noted)| (Arc::clone(key), noted.last))
            .collect();
        waiting.sort();
        waiting
    }

    /// Notes that the store has these, and forgets what is older than a minute.
    fn stored(&self, flushed: &[(Arc<str>, Timestamp)], now: Timestamp) {
        let mut uses = self.uses();
        for (key, last) in flushed {
            if let Some(noted) = uses.get_mut(key) {
                noted.stored |= noted.last == *last;
            }
        }
        uses.retain(|_, noted| !noted.stored || now < noted.last.plus_millis(KEY_USE_EVERY));
    }
}

impl Relay {
    /// Writes down when keys were last used: a row a key a minute at most. To be called now and
    /// then by whoever keeps house, and when the process ends.
    pub async fn flush_key_use(&self) -> Result<(), StoreError> {
        let waiting = self.key_use().waiting();
        if waiting.is_empty() {
            return Ok(());
        }
        let rows = waiting.clone();
        let write = move |session: &mut dyn Session| -> Result<(), StoreError> {
            for (key, last) in &rows {
                session.execute(PUT.statement(), &[(&**key).into(), (*last).into()])?;
            }
            Ok(())
        };
        transact(self.store(), Request::new(Access::WRITES, ""), write, Result::is_ok).await?;
        self.key_use().stored(&waiting, self.now());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Ceiling;

    #[test]
    fn a_use_is_written_once_a_minute_at_most() {
        let uses = KeyUse::default();
        let caller = Caller::with_credential("acc_x", "key_x", Ceiling::everything());
        let at = Timestamp::from_millis;
        uses.note(&caller, at(1_000));
        uses.note(&caller, at(60_999));
        assert_eq!(uses.waiting(), [("key_x".into(), at(1_000))]);
        uses.stored(&uses.waiting(), at(60_999));
        uses.note(&caller, at(60_999));
        assert_eq!(uses.waiting(), []);
        uses.note(&caller, at(61_000));
        assert_eq!(uses.waiting(), [("key_x".into(), at(61_000))]);
        uses.stored(&uses.waiting(), at(121_000));
        assert!(uses.uses().is_empty());
    }

    #[test]
    fn uses_are_written_down_in_the_order_of_their_keys() {
        let uses = KeyUse::default();
        for key in (0..50).rev() {
            let caller = Caller::with_credential("acc_x", format!("key_{key:02}"), Ceiling::everything());
            uses.note(&caller, Timestamp::from_millis(key));
        }
        let keys: Vec<_> = uses.waiting().into_iter().map(|(key, _)| key).collect();
        assert!(keys.is_sorted() && keys.len() == 50, "{keys:?}");
    }

    #[test]
    fn only_keys_are_noted() {
        let uses = KeyUse::default();
        uses.note(&Caller::local("acc_x"), Timestamp::from_millis(1));
        uses.note(
            &Caller::with_credential("acc_x", "theirs", Ceiling::everything()),
            Timestamp::from_millis(1),
        );
        assert_eq!(uses.waiting(), []);
    }
}

use serde_json::{Map, Value as Json};

use super::{Call, Id as _, Relay, Secret, Timestamp};
use crate::{
    account::KeyId,
    store::{Access, Request, Row, Select, Session, StoreError, one, transact},
    tool::{Caller, Ceiling, Code, Grade, Refusal, Stop},
};

const BY_HASH: Select = Select::new(
    "SELECT k.id, k.account, k.ceiling, k.expires, k.revoked \
     FROM key_hashes h JOIN api_keys k ON k.id = h.key WHERE h.hash = ?1",
);
const STATE: Select = Select::new("SELECT expires, revoked FROM api_keys WHERE id = ?1 AND account = ?2");

/// Whether a credential is a key of ours: one of another authentication is that one's to check.
pub(super) fn is_ours(credential: &str) -> bool {
    credential.strip_prefix(KeyId::PREFIX).is_some_and(|rest| rest.starts_with('_'))
}

/// Refuses a call whose key is gone, revoked or expired. The tool's own transaction asks, so a
/// revoked key is dead at once, on any number of servers.
pub(crate) fn admit(session: &mut dyn Session, call: &Call) -> Result<(), Stop> {
    let Caller { account, credential, .. } = &call.caller;
    // No account and no key is written with one, and PostgreSQL takes none in a text.
    if [Some(account), credential.as_ref()].into_iter().flatten().any(|id| id.contains('\0')) {
        return Err(refused("The account or the credential of this call is not one that there is."));
    }
    let Some(key) = call.caller.credential.as_deref().filter(|credential| is_ours(credential)) else {
        return Ok(());
    };
    let parameters = [key.into(), (&*call.caller.account).into()];
    let Some(mut row) = session.query(STATE.statement(), &parameters)?.pop() else {
        return Err(refused("This API key is not one of the account's."));
    };
    let (expires, revoked) = (row.take::<Option<Timestamp>>(0)?, row.take::<Option<Timestamp>>(1)?);
    match (revoked, expires) {
        (Some(when), _) => Err(refused(format!("This API key was revoked at {when}."))),
        (None, Some(when)) if when <= call.now => Err(refused(format!("This API key expired at {when}."))),
        _ => Ok(()),
    }
}

fn refused(message: impl Into<String>) -> Stop {
    let hint = "Have a new key made for the account, and put it in the place of this one.";
    Refusal::new(Code::NotPermitted, message).hint(hint).into()
}

impl Relay {
    /// The caller whose API key this is; `None` where it is unknown, revoked or expired, or is no
    /// key at all. A text whose checksum is wrong costs no call to the store. The key is found by
    /// its hash, so the time it takes tells nothing of any key.
    pub async fn authenticate(&self, secret: &str) -> Result<Option<Caller>, StoreError> {
        let Some(hash) = Secret::parse(secret).map(|secret| secret.hash()) else {
            return Ok(None);
        };
        let now = self.now();
        let find = move |session: &mut dyn Session| -> Result<Option<Caller>, StoreError> {
            let row = session.query(BY_HASH.statement(), &[(&hash).into()])?;
            Ok(one(row, |row| caller(row, now))?.flatten())
        };
        let request = Request::new(Access::READ, "");
        let caller = transact(self.store(), request, find, Result::is_ok).await?;
        if let Some(caller) = &caller {
            self.key_use().note(caller, now);
        }
        Ok(caller)
    }
}

fn caller(mut row: Row, now: Timestamp) -> Result<Option<Caller>, StoreError> {
    let (expires, revoked) = (row.take::<Option<Timestamp>>(3)?, row.take::<Option<Timestamp>>(4)?);
    if revoked.is_some() || expires.is_some_and(|when| when <= now) {
        return Ok(None);
    }
    let ceiling = ceiling_from_text(&row.take::<String>(2)?)?;
    Ok(Some(Caller::with_credential(row.take::<String>(1)?, row.take::<String>(0)?, ceiling)))
}

const GRADES: [(&str, Grade); 3] =
    [("allow", Grade::Allow), ("stage", Grade::Stage), ("refuse", Grade::Refuse)];

/// A ceiling as a row keeps it: a JSON object from effect to `allow`, `stage` or `refuse`. One
/// without limit is not kept: it is the local person's alone.
pub(crate) fn ceiling_to_text(ceiling: &Ceiling) -> Option<String> {
    let mut listed = Map::new();
    for (effect, grade) in ceiling.grades()? {
        let word = GRADES.iter().find(|(_, known)| *known == grade).map_or("refuse", |(word, _)| word);
        listed.insert(effect.to_owned(), word.into());
    }
    Some(Json::Object(listed).to_string())
}

/// The ceiling that a row keeps.
pub(crate) fn ceiling_from_text(text: &str) -> Result<Ceiling, StoreError> {
    let wrong = || StoreError::Shape("a key's ceiling".to_owned());
    let listed: Map<String, Json> = serde_json::from_str(text).map_err(|_| wrong())?;
    let grades = listed.into_iter().map(|(effect, word)| {
        let grade = GRADES.iter().find(|(known, _)| word == *known).map(|(_, grade)| *grade);
        grade.map(|grade| (effect, grade)).ok_or_else(wrong)
    });
    Ok(Ceiling::listed(grades.collect::<Result<Vec<_>, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_is_read_as_it_was_kept() {
        for listed in [
            vec![],
            vec![("Removes", Grade::Stage), ("Writes", Grade::Allow)],
            vec![("a \"=", Grade::Refuse)],
        ] {
            let ceiling = Ceiling::listed(listed);
            assert_eq!(ceiling_from_text(&ceiling_to_text(&ceiling).unwrap()), Ok(ceiling));
        }
        assert_eq!(ceiling_to_text(&Ceiling::everything()), None);
        for wrong in ["", "[]", "{\"Writes\":true}", "{\"Writes\":\"Allow\"}"] {
            assert!(ceiling_from_text(wrong).is_err(), "{wrong}");
        }
    }
}

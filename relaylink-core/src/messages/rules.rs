//! What may be sent, and whether it is what was shown. Values in, a decision out.

use crate::{
    people::Reach,
    relay::limits::{MAILS_PER_ACCOUNT_A_DAY, MAILS_PER_PAIR_A_DAY},
};

/// Somebody a draft is to reach, as they stand now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due<'a> {
    /// The person's address, as it is compared.
    pub key: &'a str,
    /// How they are called in a refusal.
    pub address: &'a str,
    /// Whether it may reach them.
    pub reach: Reach,
}

/// Why a draft may not be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It reaches nobody.
    Nobody,
    /// These cannot be reached any more: every one, with the reason.
    Unreachable(Vec<(String, &'static str)>),
}

/// Whether a draft may go to these people now.
///
/// # Errors
/// Why it may not.
pub(super) fn may_go(due: &[Due<'_>]) -> Result<(), Refused> {
    if due.is_empty() {
        return Err(Refused::Nobody);
    }
    let unreachable: Vec<_> =
        due.iter().filter_map(|due| Some((due.address.to_owned(), due.reach.reason()?))).collect();
    if !unreachable.is_empty() {
        return Err(Refused::Unreachable(unreachable));
    }
    Ok(())
}

/// What the person who confirms was shown, where it is said.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown<'a> {
    /// The people, as their addresses are compared.
    pub to: Option<&'a [String]>,
    /// The subject.
    pub subject: Option<&'a str>,
}

/// Which of it is not what would go, if anything: people are compared as a set, the subject letter
/// for letter.
pub(super) fn differs(due: &[Due<'_>], subject: &str, shown: Shown<'_>) -> Option<&'static str> {
    let same_people = shown.to.is_none_or(|to| {
        to.iter().all(|key| due.iter().any(|due| due.key == key))
            && due.iter().all(|due| to.iter().any(|key| due.key == key))
    });
    let same_subject = shown.subject.is_none_or(|shown| shown == subject);
    match (same_people, same_subject) {
        (false, _) => Some("to"),
        (true, false) => Some("subject"),
        (true, true) => None,
    }
}

/// Whether so many mails more are too many for a day, and why: `sent` by the account, and `most`
/// to the one of the recipients who got the most.
pub(super) const fn too_many(sent: i64, more: i64, most: i64) -> Option<&'static str> {
    if sent + more > MAILS_PER_ACCOUNT_A_DAY {
        Some("The account has sent as many packages today as it may.")
    } else if most >= MAILS_PER_PAIR_A_DAY {
        Some("One of the recipients has had as many packages from the account today as they may.")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn due(key: &str, reach: Reach) -> Due<'_> {
        Due { key, address: key, reach }
    }
    const BEN: Due<'_> = due("ben@example.org", Reach::Reached);
    const CARA: Due<'_> = due("cara@example.org", Reach::Reached);
    const GONE: Due<'_> = due("dan@example.org", Reach::NoContact);
    const BLOCKED: Due<'_> = due("eve@example.org", Reach::Blocked);

    #[test]
    fn a_draft_goes_to_whom_it_may_reach() {
        assert_eq!(may_go(&[BEN, CARA]), Ok(()));
        assert_eq!(may_go(&[]), Err(Refused::Nobody));
    }

    #[test]
    fn all_reasons_are_told_at_once() {
        let refused = may_go(&[BEN, GONE, BLOCKED]);
        let Err(Refused::Unreachable(reasons)) = refused else { panic!("{refused:?}") };
        let who: Vec<_> = reasons.iter().map(|(who, _)| who.as_str()).collect();
        assert_eq!(who, ["dan@example.org", "eve@example.org"]);
        assert_ne!(reasons[0].1, reasons[1].1);
    }

    #[test]
    fn what_was_shown_is_compared_as_a_set_and_letter_for_letter() {
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        let differs = |to: Option<&[String]>, subject| differs(&[BEN, CARA], "Budget", Shown { to, subject });
        let both = keys(&["cara@example.org", "ben@example.org", "ben@example.org"]);
        assert_eq!(differs(None, None), None);
        assert_eq!(differs(Some(&both), Some("Budget")), None);
        for to in [&["ben@example.org"][..], &[], &["ben@example.org", "cara@example.org", "x@example.org"]] {
            assert_eq!(differs(Some(&keys(to)), Some("Budget")), Some("to"));
        }
        for subject in ["budget", "Budget ", ""] {
            assert_eq!(differs(Some(&both), Some(subject)), Some("subject"), "{subject:?}");
        }
    }

    #[test]
    fn each_cap_holds_at_its_number() {
        assert_eq!(too_many(MAILS_PER_ACCOUNT_A_DAY - 2, 2, MAILS_PER_PAIR_A_DAY - 1), None);
        assert!(too_many(MAILS_PER_ACCOUNT_A_DAY - 1, 2, 0).is_some());
        assert!(too_many(0, 1, MAILS_PER_PAIR_A_DAY).is_some());
    }
}

//! What may happen between two people. Values in, a decision out.

use crate::relay::limits::{
    INVITES_PER_ACCOUNT_A_DAY, INVITES_PER_ADDRESS_A_DAY, INVITES_PER_PAIR_A_DAY, INVITES_WAITING_MAX,
};

/// What stands between the caller and a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Both have agreed to be contacts.
    pub contact: bool,
    /// The caller has blocked the person.
    pub blocked: bool,
    /// The person has blocked the caller. Nothing that the caller is told may depend on it.
    pub blocks: bool,
}

/// Whether something of the caller's may reach a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It may.
    Reached,
    /// The caller has blocked the person.
    Blocked,
    /// The person is no contact, or has blocked the caller: both look alike.
    NoContact,
}

/// The one permission for everything that is sent, asked when it is previewed and again when it goes.
pub(crate) const fn reach(standing: Standing) -> Reach {
    match standing {
        Standing { blocked: true, .. } => Reach::Blocked,
        Standing { contact: true, blocks: false, .. } => Reach::Reached,
        Standing { .. } => Reach::NoContact,
    }
}

impl Reach {
    /// Why it may not, in words; nothing where it may.
    pub(crate) const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Reached => None,
            Self::Blocked => Some("you have blocked this person"),
            Self::NoContact => Some("not one of your contacts"),
        }
    }
}

/// What becomes of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invitation {
    /// The caller has blocked the person.
    Blocked,
    /// A request waits already, or they are contacts: answered as it stands.
    Stands,
    /// The person has asked the caller already.
    Crossed,
    /// A new request, with a mail where the person has not blocked the caller.
    New {
        /// Whether a mail goes.
        mailed: bool,
    },
}

/// Decides an invitation from what stands between the two, whether the caller has asked already,
/// and whether the person has asked the caller.
pub(crate) const fn invitation(standing: Standing, asked: bool, asks: bool) -> Invitation {
    if standing.blocked {
        Invitation::Blocked
    } else if standing.contact || asked {
        Invitation::Stands
    } else if asks {
        Invitation::Crossed
    } else {
        Invitation::New { mailed: !standing.blocks }
    }
}

/// Invitations of the last day, and those that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Invites {
    /// The caller's, in a day.
    pub by_account: i64,
    /// To this address by anybody, in a day.
    pub to_address: i64,
    /// The caller's to this address, in a day.
    pub by_account_to_address: i64,
    /// The caller's that nobody has answered.
    pub waiting: i64,
}

/// Whether one more invitation is too many: why, and what to do.
pub(crate) const fn too_many(invites: Invites) -> Option<(&'static str, &'static str)> {
    if invites.by_account_to_address >= INVITES_PER_PAIR_A_DAY {
        Some(("You have invited this address several times today.", TOMORROW))
    } else if invites.to_address >= INVITES_PER_ADDRESS_A_DAY {
        Some(("This address has been invited too often today.", TOMORROW))
    } else if invites.by_account >= INVITES_PER_ACCOUNT_A_DAY {
        Some(("You have sent as many invitations today as an account may.", TOMORROW))
    } else if invites.waiting >= INVITES_WAITING_MAX {
        Some((
            "As many of your invitations wait for an answer as an account may have.",
            "Withdraw one that nobody answers, with withdraw_invite.",
        ))
    } else {
        None
    }
}

const TOMORROW: &str = "Try again tomorrow; to withdraw others changes nothing.";

#[cfg(test)]
mod tests {
    use super::*;

    const CONTACT: Standing = Standing { contact: true, blocked: false, blocks: false };
    const STRANGER: Standing = Standing { contact: false, blocked: false, blocks: false };

    #[test]
    fn only_a_contact_without_a_block_either_way_is_reached() {
        assert_eq!(reach(CONTACT), Reach::Reached);
        assert_eq!(reach(STRANGER), Reach::NoContact);
        for contact in [false, true] {
            for blocks in [false, true] {
                assert_eq!(reach(Standing { contact, blocked: true, blocks }), Reach::Blocked);
            }
        }
    }

    #[test]
    fn who_blocks_the_caller_looks_like_who_is_no_contact() {
        assert_eq!(reach(Standing { blocks: true, ..CONTACT }), reach(STRANGER));
        assert_eq!(reach(Standing { blocks: true, ..STRANGER }), reach(STRANGER));
    }

    #[test]
    fn an_invitation_is_asked_once_and_mailed_unless_blocked() {
        assert_eq!(invitation(STRANGER, false, false), Invitation::New { mailed: true });
        let blocking = Standing { blocks: true, ..STRANGER };
        assert_eq!(invitation(blocking, false, false), Invitation::New { mailed: false });
        assert_eq!(invitation(blocking, true, false), Invitation::Stands);
        assert_eq!(invitation(STRANGER, true, false), Invitation::Stands);
        assert_eq!(invitation(CONTACT, false, false), Invitation::Stands);
        assert_eq!(invitation(STRANGER, false, true), Invitation::Crossed);
        let blocked = Standing { blocked: true, ..STRANGER };
        assert_eq!(invitation(blocked, false, true), Invitation::Blocked);
    }

    #[test]
    fn each_cap_holds_at_its_number() {
        let below = Invites {
            by_account: INVITES_PER_ACCOUNT_A_DAY - 1,
            to_address: INVITES_PER_ADDRESS_A_DAY - 1,
            by_account_to_address: INVITES_PER_PAIR_A_DAY - 1,
            waiting: INVITES_WAITING_MAX - 1,
        };
        assert_eq!(too_many(below), None);
        let at = [
            Invites { by_account: INVITES_PER_ACCOUNT_A_DAY, ..below },
            Invites { to_address: INVITES_PER_ADDRESS_A_DAY, ..below },
            Invites { by_account_to_address: INVITES_PER_PAIR_A_DAY, ..below },
            Invites { waiting: INVITES_WAITING_MAX, ..below },
        ];
        for invites in at {
            assert!(too_many(invites).is_some(), "{invites:?}");
        }
    }
}

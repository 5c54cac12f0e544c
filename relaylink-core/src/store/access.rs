use crate::tool::{EffectInfo, ExternalMail, Removes, Writes};

/// What a transaction may do, one flag an effect; none set is a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Access {
    /// It may insert and update.
    pub writes: bool,
    /// It may delete.
    pub removes: bool,
    /// It may put mail in the outbox.
    pub mails: bool,
}

impl Access {
    /// Reading alone.
    pub const READ: Self = Self { writes: false, removes: false, mails: false };
    /// Inserting and updating alone.
    pub const WRITES: Self = Self { writes: true, ..Self::READ };
    /// Handling mail alone.
    pub const MAILS: Self = Self { mails: true, ..Self::READ };
    /// Everything: for the courier, the housekeeper and whoever administers the store. Never for a tool.
    pub const ALL: Self = Self { writes: true, removes: true, mails: true };

    /// What a tool with these effects may do. An effect counts only where it is ours in every
    /// property, so one that bears the name of `Removes` and denies removing gets nothing.
    pub fn of(effects: &[EffectInfo]) -> Self {
        Self {
            writes: effects.contains(&EffectInfo::of::<Writes>()),
            removes: effects.contains(&EffectInfo::of::<Removes>()),
            mails: effects.contains(&EffectInfo::of::<ExternalMail>()),
        }
    }

    /// What both allow.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            writes: self.writes && other.writes,
            removes: self.removes && other.removes,
            mails: self.mails && other.mails,
        }
    }

    /// Whether it can only read.
    pub const fn is_read(self) -> bool {
        !(self.writes || self.removes || self.mails)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{Effect, SharedWork};

    enum Forged {}
    impl Effect for Forged {
        const NAME: &'static str = "Removes";
        const CHANGES: bool = true;
        const REMOVES: bool = false;
        const REACHES_OUT: bool = false;
    }

    #[test]
    fn access_follows_the_effects_and_a_forged_one_gets_nothing() {
        assert!(Access::of(&[]).is_read());
        assert!(Access::of(&[EffectInfo::of::<SharedWork>()]).is_read());
        assert!(Access::of(&[EffectInfo::of::<Forged>()]).is_read());
        let access = Access::of(&[EffectInfo::of::<Writes>(), EffectInfo::of::<ExternalMail>()]);
        assert_eq!(access, Access { writes: true, removes: false, mails: true });
    }
}

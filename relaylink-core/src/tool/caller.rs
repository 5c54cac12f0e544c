use std::sync::Arc;

use super::EffectInfo;

/// Who calls: made by whoever authenticates, and knows no room.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Caller {
    /// The account whose data this is.
    pub account: Arc<str>,
    /// The credential in use; none for the local person.
    pub credential: Option<Arc<str>>,
    /// What this credential may do at most.
    pub ceiling: Ceiling,
}

impl Caller {
    /// The person at this machine, who may do everything.
    pub fn local(account: impl Into<Arc<str>>) -> Self {
        Self { account: account.into(), credential: None, ceiling: Ceiling::everything() }
    }

    /// Somebody with a credential, held to its ceiling. One that begins with `key_` is taken for an
    /// API key of RelayLink's own, and a Relay looks at each call whether it still holds; any other is
    /// for whoever gave it out to check.
    pub fn with_credential(
        account: impl Into<Arc<str>>,
        credential: impl Into<Arc<str>>,
        ceiling: Ceiling,
    ) -> Self {
        Self { account: account.into(), credential: Some(credential.into()), ceiling }
    }

    /// The same caller, who may do no more than these effects.
    pub(crate) fn within(&self, effects: &[EffectInfo]) -> Self {
        let grades = effects.iter().map(|effect| (effect.name, self.ceiling.grade_of(effect.name)));
        Self { ceiling: Ceiling::listed(grades), ..self.clone() }
    }
}

/// What a ceiling says of an effect, from the widest to the narrowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// It may be done.
    Allow,
    /// It may be prepared; a person confirms it.
    Stage,
    /// It may not be done.
    Refuse,
}

/// For each effect, by name, how far a credential may go. An effect that is not listed is refused,
/// so one that is added to the program later is too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ceiling(Option<Arc<Grades>>);

type Grades = [(Box<str>, Grade)];

impl Ceiling {
    /// No limit: for the local person only.
    pub const fn everything() -> Self {
        Self(None)
    }

    /// Just these effects; the empty list can only read.
    pub fn listed<N: Into<Box<str>>>(grades: impl IntoIterator<Item = (N, Grade)>) -> Self {
        Self(Some(grades.into_iter().map(|(name, grade)| (name.into(), grade)).collect()))
    }

    /// The effects listed and how far each may go; `None` where there is no limit.
    pub fn grades(&self) -> Option<impl Iterator<Item = (&str, Grade)>> {
        self.0.as_ref().map(|listed| listed.iter().map(|(name, grade)| (&**name, *grade)))
    }

    /// How far a tool with these effects may go: as far as the narrowest of them.
    pub fn grade(&self, effects: &[EffectInfo]) -> Grade {
        effects.iter().map(|effect| self.grade_of(effect.name)).max().unwrap_or(Grade::Allow)
    }

    /// How far the effect of this name may go.
    pub fn grade_of(&self, effect: &str) -> Grade {
        match &self.0 {
            None => Grade::Allow,
            Some(listed) => listed
                .iter()
                .filter(|(name, _)| **name == *effect)
                .map(|(_, grade)| *grade)
                .max()
                .unwrap_or(Grade::Refuse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{Removes, Writes};

    #[test]
    fn the_narrowest_effect_decides_and_the_unlisted_is_refused() {
        let writes = EffectInfo::of::<Writes>();
        let removes = EffectInfo::of::<Removes>();
        let ceiling = Ceiling::listed([("Writes", Grade::Allow)]);
        assert_eq!(ceiling.grade(&[]), Grade::Allow);
        assert_eq!(ceiling.grade(&[writes]), Grade::Allow);
        assert_eq!(ceiling.grade(&[writes, removes]), Grade::Refuse);
        let staged = Ceiling::listed([("Writes", Grade::Allow), ("Removes", Grade::Stage)]);
        assert_eq!(staged.grade(&[writes, removes]), Grade::Stage);
        assert_eq!(Ceiling::everything().grade(&[writes, removes]), Grade::Allow);
    }
}

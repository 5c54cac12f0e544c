//! What a key may do, in words; what a person is told.

use std::fmt::Write as _;

use crate::tool::{Ceiling, Code, Effect, ExternalMail, Grade, Refusal, Removes, SharedWork, Stop, Writes};

/// The effects of RelayLink's own tools, and what each is called in a sentence.
const EFFECTS: [(&str, &str); 4] = [
    (Writes::NAME, "write"),
    (Removes::NAME, "delete"),
    (ExternalMail::NAME, "send mail"),
    (SharedWork::NAME, "change shared projects"),
];

/// The ceiling of a key that may do whatever RelayLink's tools do today: each effect listed, so
/// that one that is added later is refused until somebody allows it.
pub fn everything_listed() -> Ceiling {
    Ceiling::listed(EFFECTS.map(|(name, _)| (name, Grade::Allow)))
}

/// The ceiling that a key gets: one without limit is the local person's alone.
pub(super) fn kept(ceiling: &Ceiling) -> Ceiling {
    if ceiling.grades().is_none() { everything_listed() } else { ceiling.clone() }
}

/// What a key with this ceiling may do, in plain words.
pub(super) fn may(ceiling: &Ceiling) -> String {
    if ceiling.grades().is_none() {
        return "May do everything.".to_owned();
    }
    let own = |name: &str| !EFFECTS.iter().any(|(known, _)| *known == name);
    let others =
        ceiling.grades().into_iter().flatten().map(|(name, _)| (name, name)).filter(|(name, _)| own(name));
    let effects: Vec<_> = EFFECTS.into_iter().chain(others).collect();
    let graded = |grade| {
        let graded = effects.iter().filter(move |(name, _)| ceiling.grade_of(name) == grade);
        graded.map(|(_, words)| *words).collect::<Vec<_>>()
    };
    let allowed = [vec!["read"], graded(Grade::Allow)].concat();
    let mut sentences = format!("May {}.", listed(&allowed));
    for (grade, begins) in
        [(Grade::Stage, "May only prepare, for a person to confirm"), (Grade::Refuse, "May not")]
    {
        let words = listed(&graded(grade));
        if !words.is_empty() {
            let _ = write!(sentences, " {begins}: {words}.");
        }
    }
    if ceiling.grade_of(Writes::NAME) != Grade::Allow {
        sentences += " It can read heads but cannot open packages: the receipt is a write.";
    }
    sentences
}

/// Whether two ceilings allow the same, in whatever order they list it.
pub(super) fn same(one: &Ceiling, other: &Ceiling) -> bool {
    let covers = |a: &Ceiling, b: &Ceiling| {
        a.grades().is_some_and(|mut grades| grades.all(|(effect, grade)| b.grade_of(effect) == grade))
    };
    covers(one, other) && covers(other, one)
}

fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

pub(super) fn no_account() -> Stop {
    Stop::refuse(Code::NotPermitted, "The account of this call does not exist any more.")
}

/// The same answer for a key that never was and for another account's.
pub(super) fn no_key() -> Refusal {
    Refusal::new(Code::NotFound, "The account has no such API key.")
        .field("key")
        .hint("list_api_keys shows the account's keys.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_in_plain_words() {
        let listed = |grades: &[(&str, Grade)]| may(&Ceiling::listed(grades.iter().copied()));
        assert_eq!(may(&Ceiling::everything()), "May do everything.");
        assert_eq!(
            may(&everything_listed()),
            "May read, write, delete, send mail and change shared projects."
        );
        assert_eq!(
            listed(&[]),
            "May read. May not: write, delete, send mail and change shared projects. \
             It can read heads but cannot open packages: the receipt is a write."
        );
        assert_eq!(
            listed(&[("Writes", Grade::Allow), ("Removes", Grade::Allow), ("ExternalMail", Grade::Stage)]),
            "May read, write and delete. May only prepare, for a person to confirm: send mail. \
             May not: change shared projects."
        );
        assert_eq!(
            listed(&[("Writes", Grade::Allow), ("CallsForecastApi", Grade::Allow)]),
            "May read, write and CallsForecastApi. May not: delete, send mail and change shared projects."
        );
    }
}

//! What was called and what was answered, by one clock for all processes, and what must hold of it
//! and of the rows that are left, whoever came first.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};

/// A call, from before it was made until its answer was there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Event {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) process: String,
    pub(super) call: Call,
    pub(super) about: String,
    pub(super) answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Call {
    Confirm,
    Cancel,
    Accept,
    Revoke,
    /// Any call by a key.
    Use,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Answer {
    Done(String),
    /// With this code.
    Refused(String),
}

impl Event {
    fn done(&self) -> Option<&str> {
        if let Answer::Done(what) = &self.answer { Some(what) } else { None }
    }
}

/// What the calls were about.
#[derive(Clone, Default)]
pub(super) struct Asked {
    pub(super) drafts: BTreeMap<String, Draft>,
    pub(super) requests: BTreeMap<String, Invitation>,
    pub(super) keys: BTreeSet<String>,
}

/// A draft: no other has its subject.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) subject: String,
    pub(super) to: Vec<String>,
}

/// Who asks whom: the accounts, and the address of the one who asks.
#[derive(Clone)]
pub(super) struct Invitation {
    pub(super) asker: String,
    pub(super) asked: String,
    pub(super) address: String,
}

/// The rows at the end.
#[derive(Clone, Default)]
pub(super) struct Rows {
    /// Subject and id.
    pub(super) packages: Vec<[String; 2]>,
    /// Package and address.
    pub(super) deliveries: Vec<[String; 2]>,
    /// What it is about, and the address.
    pub(super) letters: Vec<[String; 2]>,
    /// Account and peer.
    pub(super) contacts: Vec<[String; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Refused, or given up, without a call that would be the reason.
    Refused,
    /// Answers that had to be the same are not.
    Differ,
    /// A draft was both sent and cancelled.
    SentAndCancelled,
    /// Not the one package that was answered.
    Packages,
    /// Not one row for each recipient.
    Deliveries,
    /// Not one mail to each who is to have it.
    Letters,
    /// A request was accepted more than once, or never.
    Accepts,
    /// Not one contact on each side.
    Contacts,
    /// A key did something after its revocation was answered.
    Revoked,
}

/// What is wrong, and with what.
pub(super) struct Fault {
    pub(super) kind: Kind,
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.what)
    }
}

/// All that is wrong.
pub(super) fn faults(history: &[Event], asked: &Asked, rows: &Rows) -> Vec<Fault> {
    let mut events: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in history {
        events.entry(&event.about).or_default().push(event);
    }
    let rows = Found {
        packages: grouped(&rows.packages),
        deliveries: grouped(&rows.deliveries),
        letters: grouped(&rows.letters),
        contacts: grouped(&rows.contacts),
    };
    let mut faults = Vec::new();
    let of = |about: &str| Told(events.get(about).cloned().unwrap_or_default());
    for (id, draft) in &asked.drafts {
        of(id).draft(draft, &rows, &mut faults);
    }
    for (id, invitation) in &asked.requests {
        of(id).request(id, invitation, &rows, &mut faults);
    }
    for id in &asked.keys {
        of(id).key(id, &rows, &mut faults);
    }
    faults
}

/// How many of these things were asked for by two processes at one time.
pub(super) fn met(history: &[Event], call: Call) -> usize {
    let mut events: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in history.iter().filter(|event| event.call == call) {
        events.entry(&event.about).or_default().push(event);
    }
    let meet = |one: &Event, other: &Event| {
        one.process != other.process && one.start < other.end && other.start < one.end
    };
    events
        .values()
        .filter(|events| events.iter().any(|one| events.iter().any(|other| meet(one, other))))
        .count()
}

/// The second of each pair, sorted, by the first.
fn grouped(pairs: &[[String; 2]]) -> BTreeMap<&str, Vec<&str>> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for [key, value] in pairs {
        groups.entry(key).or_default().push(value);
    }
    for group in groups.values_mut() {
        group.sort_unstable();
    }
    groups
}

struct Found<'a> {
    packages: BTreeMap<&'a str, Vec<&'a str>>,
    deliveries: BTreeMap<&'a str, Vec<&'a str>>,
    letters: BTreeMap<&'a str, Vec<&'a str>>,
    contacts: BTreeMap<&'a str, Vec<&'a str>>,
}

fn of<'a>(groups: &'a BTreeMap<&str, Vec<&str>>, key: &str) -> &'a [&'a str] {
    groups.get(key).map_or(&[], Vec::as_slice)
}

/// The calls about one thing.
struct Told<'a>(Vec<&'a Event>);

impl<'a> Told<'a> {
    fn done(&self, call: Call) -> impl Iterator<Item = (&'a Event, &'a str)> {
        self.0
            .iter()
            .filter(move |event| event.call == call)
            .filter_map(|event| Some((*event, event.done()?)))
    }

    /// The answers to the calls of this kind that did it, each once.
    fn answers(&self, call: Call) -> BTreeSet<&'a str> {
        self.done(call).map(|(_, what)| what).collect()
    }

    /// Calls are refused with this code alone, and after one of the other kind had begun that was done.
    fn refusals(&self, call: Call, with: &str, reason: Call, faults: &mut Vec<Fault>) {
        let since = self.done(reason).map(|(event, _)| event.start).min();
        for event in self.0.iter().filter(|event| event.call == call) {
            let Answer::Refused(code) = &event.answer else { continue };
            if code != with || since.is_none_or(|since| event.end < since) {
                faults
                    .push(Fault { kind: Kind::Refused, what: format!("{event:?}, {reason:?} at {since:?}") });
            }
        }
    }

    fn draft(&self, draft: &Draft, rows: &Found<'_>, faults: &mut Vec<Fault>) {
        let mut fault = |kind, what: String| faults.push(Fault { kind, what });
        let (sent, cancelled) = (self.answers(Call::Confirm), self.answers(Call::Cancel));
        let packages = of(&rows.packages, &draft.subject);
        match (sent.first(), cancelled.is_empty()) {
            (None, true) => fault(Kind::Refused, format!("{:?}", self.0)),
            (Some(_), false) => fault(Kind::SentAndCancelled, format!("{:?}", self.0)),
            _ => {}
        }
        if sent.len() > 1 {
            fault(Kind::Differ, format!("{sent:?}"));
        }
        let package = sent.first().and_then(|ids| ids.split(' ').next());
        if packages != package.as_slice() {
            fault(Kind::Packages, format!("{package:?} was answered, of {packages:?}"));
        }
        if let Some(package) = package {
            let mut to: Vec<_> = draft.to.iter().map(String::as_str).collect();
            to.sort_unstable();
            for (kind, found) in [
                (Kind::Deliveries, of(&rows.deliveries, package)),
                (Kind::Letters, of(&rows.letters, package)),
            ] {
                if found != to {
                    fault(kind, format!("{package} to {to:?}: {found:?}"));
                }
            }
        }
        self.refusals(Call::Confirm, "Conflict", Call::Cancel, faults);
        self.refusals(Call::Cancel, "Conflict", Call::Confirm, faults);
    }

    fn request(&self, id: &str, invitation: &Invitation, rows: &Found<'_>, faults: &mut Vec<Fault>) {
        let Invitation { asker, asked, address } = invitation;
        let accepts = self.done(Call::Accept).count();
        if accepts != 1 {
            faults.push(Fault { kind: Kind::Accepts, what: format!("{accepts} of {:?}", self.0) });
        }
        for [one, other] in [[asker, asked], [asked, asker]] {
            let contacts = of(&rows.contacts, one).iter().filter(|peer| **peer == other).count();
            if contacts != 1 {
                let what = format!("{one} has {other} {contacts} times");
                faults.push(Fault { kind: Kind::Contacts, what });
            }
        }
        let letters = of(&rows.letters, id).iter().filter(|to| **to == address).count();
        if letters != 1 {
            faults.push(Fault { kind: Kind::Letters, what: format!("{letters} about {id} to {address}") });
        }
        self.refusals(Call::Accept, "NotFound", Call::Accept, faults);
    }

    fn key(&self, id: &str, rows: &Found<'_>, faults: &mut Vec<Fault>) {
        let revoked = self.answers(Call::Revoke);
        if revoked.len() != 1 {
            faults.push(Fault { kind: Kind::Differ, what: format!("{id} was revoked at {revoked:?}") });
        }
        let answered = self.done(Call::Revoke).map(|(event, _)| event.end).min();
        for (event, _) in self.done(Call::Use) {
            if answered.is_some_and(|answered| event.start > answered) {
                let what = format!("{event:?}, and the revocation was answered at {answered:?}");
                faults.push(Fault { kind: Kind::Revoked, what });
            }
        }
        let letters = of(&rows.letters, id);
        if letters.len() != 1 {
            faults.push(Fault { kind: Kind::Letters, what: format!("about {id}: {letters:?}") });
        }
        self.refusals(Call::Use, "NotPermitted", Call::Revoke, faults);
        self.refusals(Call::Revoke, "never", Call::Revoke, faults);
    }
}

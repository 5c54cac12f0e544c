//! The checker finds each kind of fault in a history that was made up, and none in a sound one.

use super::history::{Answer, Asked, Call, Draft, Event, Invitation, Kind, Rows, faults, met};

struct Story {
    history: Vec<Event>,
    asked: Asked,
    rows: Rows,
}

fn event(at: [u64; 2], process: &str, call: Call, about: &str, answer: Answer) -> Event {
    let [start, end] = at;
    Event { start, end, process: process.to_owned(), call, about: about.to_owned(), answer }
}

fn done(what: &str) -> Answer {
    Answer::Done(what.to_owned())
}

fn refused(code: &str) -> Answer {
    Answer::Refused(code.to_owned())
}

fn pairs(pairs: &[[&str; 2]]) -> Vec<[String; 2]> {
    pairs.iter().map(|pair| pair.map(str::to_owned)).collect()
}

impl Story {
    /// Two processes; of each thing one, and a second draft that was cancelled.
    fn sound() -> Self {
        let draft = |subject: &str| Draft {
            subject: subject.to_owned(),
            to: vec!["ben@example.org".to_owned(), "cara@example.org".to_owned()],
        };
        let request = Invitation {
            asker: "acc_ana".to_owned(),
            asked: "acc_ben".to_owned(),
            address: "ana@example.org".to_owned(),
        };
        let history = vec![
            event([10, 30], "a", Call::Confirm, "sent", done("pkg thr")),
            event([20, 40], "b", Call::Confirm, "sent", done("pkg thr")),
            event([25, 45], "b", Call::Cancel, "sent", refused("Conflict")),
            event([10, 30], "a", Call::Cancel, "cancelled", done("")),
            event([31, 40], "b", Call::Confirm, "cancelled", refused("Conflict")),
            event([10, 30], "a", Call::Accept, "req", done("ctc")),
            event([20, 40], "b", Call::Accept, "req", refused("NotFound")),
            event([10, 50], "a", Call::Use, "key", done("")),
            event([20, 30], "b", Call::Revoke, "key", done("today")),
            event([25, 35], "b", Call::Use, "key", refused("NotPermitted")),
            event([31, 40], "b", Call::Use, "key", refused("NotPermitted")),
            event([31, 40], "a", Call::Revoke, "key", done("today")),
        ];
        let asked = Asked {
            drafts: [("sent", draft("One")), ("cancelled", draft("Two"))]
                .map(|(id, draft)| (id.to_owned(), draft))
                .into(),
            requests: [("req".to_owned(), request)].into(),
            keys: ["key".to_owned()].into(),
        };
        let rows = Rows {
            packages: pairs(&[["One", "pkg"]]),
            deliveries: pairs(&[["pkg", "cara@example.org"], ["pkg", "ben@example.org"]]),
            letters: pairs(&[
                ["pkg", "cara@example.org"],
                ["pkg", "ben@example.org"],
                ["req", "ben@example.org"],
                ["req", "ana@example.org"],
                ["key", "ana@example.org"],
            ]),
            contacts: pairs(&[["acc_ana", "acc_ben"], ["acc_ben", "acc_ana"]]),
        };
        Self { history, asked, rows }
    }

    fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<_> =
            faults(&self.history, &self.asked, &self.rows).iter().map(|fault| fault.kind).collect();
        kinds.sort_unstable();
        kinds
    }
}

#[track_caller]
fn is_found(kinds: &[Kind], spoil: impl FnOnce(&mut Story)) {
    let mut story = Story::sound();
    assert_eq!(story.kinds(), []);
    spoil(&mut story);
    assert_eq!(story.kinds(), kinds);
}

#[test]
fn a_draft_that_is_sent_twice_is_found() {
    is_found(&[Kind::Packages], |story| story.rows.packages.extend(pairs(&[["One", "pkg2"]])));
    is_found(&[Kind::Packages], |story| story.rows.packages.clear());
    is_found(&[Kind::Packages], |story| story.rows.packages.extend(pairs(&[["Two", "pkg2"]])));
    is_found(&[Kind::Differ], |story| story.history[1].answer = done("pkg thr2"));
    is_found(&[Kind::Deliveries], |story| {
        story.rows.deliveries.extend(pairs(&[["pkg", "ben@example.org"]]));
    });
    is_found(&[Kind::Letters], |story| story.rows.letters.extend(pairs(&[["pkg", "ben@example.org"]])));
    is_found(&[Kind::Letters], |story| drop(story.rows.letters.remove(0)));
}

#[test]
fn a_draft_that_is_sent_and_cancelled_or_neither_is_found() {
    is_found(&[Kind::SentAndCancelled], |story| story.history[2].answer = done(""));
    is_found(&[Kind::Refused; 3], |story| story.history[3].answer = refused("Unavailable"));
    // Refused for a cancellation that had not begun.
    is_found(&[Kind::Refused], |story| (story.history[4].start, story.history[4].end) = (1, 9));
}

#[test]
fn a_call_that_gives_up_is_found() {
    for at in [1, 2, 4, 6, 9, 11] {
        is_found(&[Kind::Refused], |story| story.history[at].answer = refused("Unavailable"));
    }
}

#[test]
fn an_accept_that_is_no_contact_or_two_is_found() {
    is_found(&[Kind::Accepts], |story| story.history[6].answer = done("ctc2"));
    is_found(&[Kind::Refused, Kind::Accepts], |story| {
        story.history.remove(5);
    });
    is_found(&[Kind::Contacts], |story| story.rows.contacts.extend(pairs(&[["acc_ben", "acc_ana"]])));
    is_found(&[Kind::Contacts], |story| drop(story.rows.contacts.pop()));
    is_found(&[Kind::Letters], |story| drop(story.rows.letters.remove(3)));
}

#[test]
fn a_revoked_key_that_does_something_is_found() {
    is_found(&[Kind::Revoked], |story| story.history[10].answer = done(""));
    // As long as the revocation is not answered, it may.
    is_found(&[], |story| story.history[9].answer = done(""));
    is_found(&[Kind::Refused], |story| {
        story.history.push(event([1, 9], "a", Call::Use, "key", refused("NotPermitted")));
    });
    is_found(&[Kind::Differ], |story| story.history[11].answer = done("tomorrow"));
    is_found(&[Kind::Letters], |story| story.rows.letters.extend(pairs(&[["key", "ana@example.org"]])));
}

#[test]
fn calls_meet_where_two_processes_make_them_at_one_time() {
    let mut story = Story::sound();
    assert_eq!(met(&story.history, Call::Confirm), 1);
    story.history[1].start = 30;
    assert_eq!(met(&story.history, Call::Confirm), 0);
}

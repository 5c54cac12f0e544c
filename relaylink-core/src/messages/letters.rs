//! The mail that goes to each recipient of a package.

use super::{PackageId, content::Content};
use crate::{
    account::Card,
    mail::Letter,
    people::{Person, in_a_letter},
};

/// The mail to one recipient, with the whole package in it. Its subject is our own words.
pub(super) fn package(package: &PackageId, from: &Card, to: &Person, content: &Content) -> Letter {
    let name = in_a_letter(from.name.as_str(), &from.address);
    let mut body = format!(
        "{name} ({}) sent you this briefing on RelayLink.\n\nSubject: {}\n\n{}\n",
        from.address,
        content.subject.text(),
        content.body.text(),
    );
    for (title, text) in [("What is asked of you", &content.asks), ("Context", &content.context)] {
        if let Some(text) = text {
            body.push_str("\n--- ");
            body.push_str(title);
            body.push_str(" ---\n\n");
            body.push_str(text.text());
            body.push('\n');
        }
    }
    body.push_str("\n---\nYour assistant finds it in your inbox as ");
    body.push_str(package.as_str());
    body.push_str(".\n");
    let subject = format!("{name} sent you a briefing");
    let letter = Letter::new(to.address.clone(), subject, body, package.as_str());
    match &to.account {
        Some(account) => letter.recipient(account.as_str()),
        None => letter,
    }
}

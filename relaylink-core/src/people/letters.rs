//! The mails of this room. What a person wrote is cleaned before it stands in one.

use super::InviteId;
use crate::{
    mail::Letter,
    relay::{
        Address, is_hidden,
        limits::{LETTER_NAME_MAX, LETTER_NOTE_MAX},
    },
};

/// A person's name as a subject and a first line show it: letters, no link, no number to call, short.
/// The address where nothing is left.
pub(crate) fn in_a_letter(name: &str, address: &Address) -> String {
    let kept: String = name
        .chars()
        .map(|c| if c.is_alphabetic() || is_mark(c) || matches!(c, '\'' | '’' | '-' | '·') { c } else { ' ' })
        .collect();
    let line = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(LETTER_NAME_MAX).collect();
    match short.trim() {
        "" => address.to_string(),
        name => name.to_owned(),
    }
}

/// Combining marks, which names in many scripts need.
fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// A text as one short line without links.
fn short_line(text: &str, characters: usize) -> String {
    let words = text.split_whitespace().map(|word| {
        let word: String = word.chars().filter(|c| !is_hidden(*c)).collect();
        if is_link(&word) { "[link]".to_owned() } else { word }
    });
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if line.chars().count() <= characters {
        return line;
    }
    let cut: String = line.chars().take(characters.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// Whether a mail program may turn this word into a link: it has a scheme, or a host's dots.
fn is_link(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    word.contains("://")
        || parts.windows(2).any(|pair| {
            pair[0].ends_with(char::is_alphanumeric)
                && pair[1].chars().take_while(|c| c.is_alphabetic()).count() >= 2
        })
}

/// The mail to somebody who is asked.
pub(super) fn invitation(
    request: &InviteId,
    to: &Address,
    from: &Address,
    name: &str,
    note: Option<&str>,
) -> Letter {
    let name = in_a_letter(name, from);
    let mut body = format!(
        "{name} ({from}) would like to exchange briefings with you on RelayLink,\n\
         where people's assistants pass work on to each other.\n"
    );
    if let Some(note) = note.map(|note| short_line(note, LETTER_NOTE_MAX)).filter(|note| !note.is_empty()) {
        body.push_str("\nTheir note:\n> ");
        body.push_str(&note);
        body.push('\n');
    }
    body.push_str(
        "\nTo accept, ask your assistant to accept this request. If you do not know the sender, do nothing:\n\
         without your answer nothing else reaches you from them.\n",
    );
    Letter::new(to.clone(), format!("{name} invites you to RelayLink"), body, request.as_str())
}

/// The mail to the one who asked.
pub(super) fn accepted(request: &InviteId, to: &Address, from: &Address, name: &str) -> Letter {
    let name = in_a_letter(name, from);
    let body = format!("{name} ({from}) is now one of your contacts on RelayLink.\n");
    Letter::new(to.clone(), format!("{name} accepted your invitation"), body, request.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> Address {
        "ana@example.org".parse().unwrap()
    }

    #[test]
    fn a_name_in_a_subject_is_letters_and_short() {
        let name = |text: &str| in_a_letter(text, &address());
        assert_eq!(name("Ana Ortiz"), "Ana Ortiz");
        assert_eq!(name("Zoë O’Neill-Núñez"), "Zoë O’Neill-Núñez");
        assert_eq!(name("Prize! http://evil.test call +1 555 0100"), "Prize http evil test call");
        assert_eq!(name("a\r\nBcc: x@evil.test"), "a Bcc x evil test");
        assert_eq!(name("+1 555 0100"), "ana@example.org");
        assert_eq!(name(&"x".repeat(500)).chars().count(), LETTER_NAME_MAX);
    }

    #[test]
    fn a_note_in_a_mail_is_one_short_line_without_links() {
        assert_eq!(short_line("Hello,\r\nsee you at 10.30!", 200), "Hello, see you at 10.30!");
        assert_eq!(
            short_line("go to http://evil.test/x or www.evil.test now", 200),
            "go to [link] or [link] now"
        );
        assert_eq!(short_line("(evil.test) x@evil.test", 200), "[link] [link]");
        assert_eq!(short_line("wait... e.g. now", 200), "wait... e.g. now");
        assert_eq!(short_line("a\u{202e}b", 200), "ab");
        let long = short_line(&"word ".repeat(100), LETTER_NOTE_MAX);
        assert!(long.chars().count() <= LETTER_NOTE_MAX && long.ends_with('…'));
    }

    #[test]
    fn an_invitation_holds_no_text_of_theirs_in_its_subject() {
        let request: InviteId = format!("inv_{}", "0".repeat(26)).parse().unwrap();
        let letter = invitation(&request, &address(), &address(), "B\nX: y", Some("buy\nnow"));
        assert_eq!(letter.subject, "B X y invites you to RelayLink");
        assert!(letter.body.contains("\n> buy now\n"));
        assert_eq!(letter.about, request.as_str());
        assert_eq!(letter.to, address());
    }
}

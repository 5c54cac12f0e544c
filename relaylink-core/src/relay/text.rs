use super::{Foreign, is_hidden};
use crate::tool::{Code, Refusal};

/// A text of one line that a person wrote, in the argument `field`: trimmed, not empty, of at most
/// `max` characters, without control and direction characters.
pub(crate) fn line(field: &'static str, text: &str, max: usize) -> Result<Foreign<String>, Refusal> {
    checked(field, text.trim(), max, "control or direction", is_hidden)
}

/// A text of any number of lines that a person wrote: trimmed, not empty, of at most `max`
/// characters, without control characters but tabs and line ends.
pub(crate) fn lines(field: &'static str, text: &str, max: usize) -> Result<Foreign<String>, Refusal> {
    checked(field, text.trim(), max, "control", |c| c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
}

/// A text that is searched for, in the argument `field`: whatever is in it, of at most `max` characters.
pub(crate) fn sought<'a>(field: &'static str, text: &'a str, max: usize) -> Result<&'a str, Refusal> {
    let length = text.chars().count();
    if length > max { Err(too_long(field, length, max)) } else { Ok(text) }
}

fn too_long(field: &'static str, length: usize, max: usize) -> Refusal {
    let message = format!("`{field}` has {length} characters, and may have {max}.");
    Refusal::new(Code::InvalidArgument, message).field(field).hint("Shorten it.")
}

fn checked(
    field: &'static str,
    text: &str,
    max: usize,
    kind: &str,
    refused: impl Fn(char) -> bool,
) -> Result<Foreign<String>, Refusal> {
    let wrong = |message: String, hint: &str| {
        Err(Refusal::new(Code::InvalidArgument, message).field(field).hint(hint))
    };
    if text.is_empty() {
        return wrong(format!("`{field}` is empty."), "Say what it is to hold.");
    }
    if let Some(c) = text.chars().find(|c| refused(*c)) {
        let code = u32::from(c);
        return wrong(format!("`{field}` holds a {kind} character, U+{code:04X}."), "Leave it out.");
    }
    let length = text.chars().count();
    if length > max {
        return Err(too_long(field, length, max));
    }
    Ok(Foreign::new(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_visible_line() {
        assert_eq!(line("subject", " Budget ", 6).unwrap().text(), "Budget");
        assert!(line("subject", "Budgets", 6).is_err());
        assert!(line("subject", "éééééé", 6).is_ok());
        assert!(line("subject", "  ", 6).is_err());
        for text in ["a\nb", "a\r\nBcc: x@example.org", "a\rb", "a\u{2028}b", "a\0", "a\u{202e}b"] {
            let refusal = line("subject", text, 100).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidArgument, Some("subject")));
        }
    }

    #[test]
    fn lines_keep_their_breaks_and_hold_no_control_character() {
        assert_eq!(lines("body", "a\r\n\tb\n", 100).unwrap().text(), "a\r\n\tb");
        assert!(lines("body", "a\0b", 100).is_err());
        let bell = lines("body", "a\u{7}b", 100).unwrap_err();
        assert_eq!(bell.message, "`body` holds a control character, U+0007.");
        let turn = line("subject", "a\u{202e}b", 100).unwrap_err();
        assert_eq!(turn.message, "`subject` holds a control or direction character, U+202E.");
        assert!(lines("body", "a\u{1b}[2J", 100).is_err());
        assert!(lines("body", "שלום\u{200f}", 100).is_ok());
    }
}

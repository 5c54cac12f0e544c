use std::time::{Duration, UNIX_EPOCH};

use async_trait::async_trait;
use lettre::message::{
    Mailbox, MessageBuilder,
    header::{ContentType, HeaderName, HeaderValue, MIME_VERSION_1_0},
};

use super::one_line;
use crate::relay::{
    Address, Timestamp,
    limits::{MAIL_SUBJECT_MAX, MESSAGE_ID_MAX},
};

/// Takes a message to a mail server, or wherever mail goes.
///
/// The courier calls it outside any transaction, several times at once, each call under a
/// time-out. A call that is dropped counts as [`SendError::Unknown`].
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Hands the message over. `Ok` is said only when the other side has taken it for good.
    async fn send(&self, message: &Message) -> Result<(), SendError>;
}

/// Why a message was not handed over. The text is for the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// It has not gone, and may go later: the server is away, busy, or does not let us in.
    #[error("not now: {0}")]
    Temporary(String),
    /// It has not gone, and never will: the server refuses this message or this recipient.
    #[error("refused: {0}")]
    Permanent(String),
    /// It may have gone or not: it was handed over, and no answer came.
    #[error("no answer: {0}")]
    Unknown(String),
}

/// A letter as it is handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Its Message-ID, angle brackets and all: the same at every attempt.
    pub message_id: String,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// The name of the sender, as it is shown.
    pub from_name: String,
    /// The sender.
    pub from: Address,
    /// The one recipient.
    pub to: Address,
    /// Its subject.
    pub subject: String,
    /// Its text, lines ended by LF.
    pub body: String,
    /// When it was queued.
    pub date: Timestamp,
}

impl Message {
    /// The message as RFC 5322 has it, lines ended by CRLF, in ASCII. What would break a header is
    /// not in one. A message that cannot be written so is refused for good.
    pub fn to_rfc5322(&self) -> Result<Vec<u8>, SendError> {
        let unwritable = |what: &dyn std::fmt::Display| {
            SendError::Permanent(format!("the message cannot be written as a mail: {what}"))
        };
        let mailbox = |name: Option<String>, address: &Address| {
            Ok(Mailbox::new(name, address.as_str().parse().map_err(|error| unwritable(&error))?))
        };
        let name = Some(one_line(&self.from_name, MAIL_SUBJECT_MAX)).filter(|name| !name.is_empty());
        let millis = u64::try_from(self.date.as_millis()).unwrap_or(0);
        let builder: MessageBuilder = lettre::Message::builder()
            .date(UNIX_EPOCH + Duration::from_millis(millis))
            .message_id(Some(one_line(&self.message_id, MESSAGE_ID_MAX)))
            .from(mailbox(name, &self.from)?)
            .to(mailbox(None, &self.to)?)
            .header(MIME_VERSION_1_0)
            .header(ContentType::TEXT_PLAIN);
        let mut message =
            builder.body(self.body.replace('\n', "\r\n")).map_err(|error| unwritable(&error))?;
        message.headers_mut().insert_raw(subject(one_line(&self.subject, MAIL_SUBJECT_MAX)));
        // So that no absence notice comes back (RFC 3834).
        message.headers_mut().insert_raw(HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            "auto-generated".to_owned(),
        ));
        Ok(message.formatted())
    }
}

/// Bytes of a text that one encoded word holds: written it has at most 75 characters (RFC 2047, 2).
const ENCODED_WORD: usize = 45;

/// The subject as a header. The builder leaves ASCII alone, so what only looks like an encoded
/// word is encoded here, lest a reader decode it.
fn subject(line: String) -> HeaderValue {
    let name = HeaderName::new_from_ascii_str("Subject");
    if !line.contains("=?") {
        return HeaderValue::new(name, line);
    }
    let mut words = Vec::new();
    let mut rest = line.as_str();
    while !rest.is_empty() {
        let (word, tail) = rest.split_at(rest.floor_char_boundary(ENCODED_WORD));
        words.push(format!("=?utf-8?b?{}?=", data_encoding::BASE64.encode(word.as_bytes())));
        rest = tail;
    }
    HeaderValue::dangerous_new_pre_encoded(name, line, words.join("\r\n "))
}

#[cfg(test)]
pub(super) mod tests {
    use mail_parser::MessageParser;

    use super::*;

    pub(crate) fn message(subject: &str, body: &str) -> Message {
        Message {
            message_id: "<mal_1@relay.example.org>".into(),
            attempt: 1,
            from_name: "RelayLink".into(),
            from: "relay@relay.example.org".parse().unwrap(),
            to: "ben+work@example.org".parse().unwrap(),
            subject: subject.into(),
            body: body.into(),
            date: Timestamp::from_millis(1_767_225_600_000),
        }
    }

    /// Subjects and texts that have broken mail programs.
    pub(crate) fn samples() -> Vec<Message> {
        let subjects = [
            "A briefing from Ana",
            "",
            "Отчёт за третий квартал: что нужно решить до пятницы, и кто за что отвечает",
            "項目進度報告：第三季度的決定與待辦事項，請在星期五之前回覆並確認各項負責人",
            "تقرير الربع الثالث",
            "สรุปผลการดำเนินงานประจำไตรมาสที่สาม",
            "🚀🚀🚀 ship it 👩‍👩‍👧",
            "=?utf-8?q?not_encoded?= as it stands",
            "=?утверждение, которое похоже на закодированное слово и длиннее одного?=",
            "a: b; c, <d> \"e\" (f) [g] @h",
        ];
        let long = "word ".repeat(60);
        let unbroken = "x".repeat(5_000);
        let bodies = [
            "Plain text.\n",
            "",
            "\n",
            "no line end",
            ".\n..\n.dot at the start\n\n.\n",
            "From here on\nFrom: evil@example.org\n\nBcc: x@evil.example\n",
            "Ein Satz mit Umlauten: äöüß.\nGrüße\n",
            "Решение принято.\n決定しました。\nتم القرار\nตัดสินใจแล้ว\n🎉\n",
            "tab\tand trailing space \nand equals = and =3D\n",
            "\u{2028}line separator\u{2029}\n",
            &long,
            &unbroken,
        ];
        let longest = "слово ".repeat(33);
        let unbroken_subject = "y".repeat(200);
        subjects
            .into_iter()
            .chain([longest.as_str(), unbroken_subject.as_str()])
            .flat_map(|subject| bodies.iter().map(move |body| message(subject, body)))
            .collect()
    }

    #[test]
    fn every_sample_reads_back_as_it_was_and_obeys_the_limits_of_a_line() {
        for message in samples() {
            let bytes = message.to_rfc5322().unwrap();
            assert!(bytes.is_ascii());
            let text = String::from_utf8(bytes.clone()).unwrap();
            assert!(!text.replace("\r\n", "").contains(['\r', '\n', '\0']), "a bare line end: {text}");
            for line in text.split("\r\n") {
                assert!(line.len() <= 998, "{line}");
            }
            let read = MessageParser::default().parse(&bytes).unwrap();
            assert_eq!(read.subject().unwrap_or_default(), message.subject.trim(), "{text}");
            let body = read.body_text(0).unwrap().replace("\r\n", "\n");
            assert_eq!(body, message.body, "{text}");
            assert_eq!(read.message_id(), Some("mal_1@relay.example.org"));
            let to = read.to().unwrap().first().unwrap();
            assert_eq!((to.name(), to.address()), (None, Some("ben+work@example.org")));
            assert_eq!(read.from().unwrap().first().unwrap().name(), Some("RelayLink"));
            assert_eq!(read.date().unwrap().to_rfc3339(), "2026-01-01T00:00:00Z");
            assert_eq!(read.parts.len(), 1);
        }
    }

    #[test]
    fn nothing_adds_a_header() {
        for end in ["\r\n", "\n", "\r", "\u{2028}", "\u{2029}", "\0", "\u{85}", "\r\n\r\n"] {
            let evil = format!("Hello{end}Bcc: x@evil.example");
            let mut message = message(&evil, "text");
            message.from_name.clone_from(&evil);
            message.message_id = format!("<a{end}Bcc: x@evil.example@b>");
            let bytes = message.to_rfc5322().unwrap();
            let read = MessageParser::default().parse(&bytes).unwrap();
            let names: Vec<_> = read.headers().iter().map(mail_parser::Header::name).collect();
            let expected = [
                "Date",
                "Message-ID",
                "From",
                "To",
                "Subject",
                "Content-Type",
                "MIME-Version",
                "Content-Transfer-Encoding",
                "Auto-Submitted",
            ];
            assert!(names.iter().all(|name| expected.contains(name)), "{end:?}: {names:?}");
            assert_eq!(names.len(), expected.len());
            assert_eq!(read.subject(), Some("Hello Bcc: x@evil.example"));
            assert_eq!(read.body_text(0).unwrap(), "text");
        }
    }
}

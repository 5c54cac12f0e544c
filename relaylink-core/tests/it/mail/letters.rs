//! What a letter may hold, and that only a call that lands sends one.

use relaylink_core::{mail::Pace, prelude::*, relay::limits::MAIL_BODY_MAX};

use super::{Bench, Mails, tally, to};

#[tokio::test]
async fn a_call_that_is_refused_sends_nothing() {
    let bench = Bench::new();
    assert!(bench.queue(Mails { refuse: true, ..to("ben@example.org") }).await.is_err());
    assert_eq!(bench.listed(None).await, []);
}

#[tokio::test]
async fn a_text_of_the_longest_size_goes_and_a_longer_one_is_refused() {
    let bench = Bench::new();
    let longest = "x".repeat(MAIL_BODY_MAX);
    let over = Mails { body: format!("{longest}x"), ..to("ben@example.org") };
    let Err(Stop::Refused(refusal)) = bench.queue(over).await else { panic!("it was taken") };
    assert_eq!(refusal.code, Code::QuotaExceeded);
    bench.queue(Mails { body: longest, ..to("ben@example.org") }).await.unwrap();
    assert_eq!(bench.courier(Pace::default()).drain().await, Ok(tally(1, 0, 0, 0)));
}

#[tokio::test]
async fn nothing_in_a_subject_adds_a_header_or_a_recipient() {
    let bench = Bench::new();
    for end in ["\r\n", "\n", "\r", "\u{2028}", "\0", "\r\n\r\n"] {
        let subject = format!("Hello{end}Bcc: x@evil.example");
        bench.queue(Mails { subject, ..to("ben@example.org") }).await.unwrap();
    }
    bench.courier(Pace::default()).drain().await.unwrap();
    let sent = bench.mailer.sent();
    assert_eq!(sent.len(), 6);
    for message in sent {
        let bytes = message.to_rfc5322().unwrap();
        let read = mail_parser::MessageParser::default().parse(&bytes).unwrap();
        assert!(read.bcc().is_none());
        assert_eq!(read.subject(), Some("Hello Bcc: x@evil.example"));
        assert_eq!(message.to.as_str(), "ben@example.org");
        assert_eq!(read.to().unwrap().as_list().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_domain_goes_out_in_ascii_and_a_local_part_beyond_it_is_refused_up_front() {
    let bench = Bench::new();
    bench.queue(to("user@köln.example")).await.unwrap();
    let Err(Stop::Refused(refusal)) = bench.queue(to("jösé@example.org")).await else {
        panic!("it was taken")
    };
    assert_eq!(refusal.code, Code::InvalidArgument);
    bench.courier(Pace::default()).drain().await.unwrap();
    let sent = bench.mailer.sent();
    assert_eq!(sent.len(), 1);
    let text = String::from_utf8(sent[0].to_rfc5322().unwrap()).unwrap();
    assert!(text.contains("To: user@xn--kln-sna.example\r\n"), "{text}");
}

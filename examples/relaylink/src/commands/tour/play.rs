use serde_json::{Map, Value as Json, json};

use super::{
    show::Show,
    stage::{ANA, Actor, Answer, BEN, Stage},
};
use crate::failure::Failure;

/// What the tools that are played are to hint: read-only, destructive, idempotent, open world.
const HINTS: [(&str, [bool; 4]); 9] = [
    ("invite_contact", [false, false, true, true]),
    ("list_contacts", [true, false, true, false]),
    ("accept_contact", [false, false, false, true]),
    ("draft_package", [false, false, false, false]),
    ("confirm_send", [false, true, false, true]),
    ("check_inbox", [true, false, true, false]),
    ("get_package", [false, false, true, false]),
    ("acknowledge_package", [false, false, true, false]),
    ("thread_status", [true, false, true, false]),
];
const SEND: &str = "Send package (irreversible)";
const SUBJECT: &str = "Numbers for November";

/// Plays the briefing; an error at the first step that is not as it should be.
pub(super) async fn play(stage: &mut Stage, show: &mut Show) -> Result<(), Failure> {
    hints(&stage.ana)?;
    let mut play = Play { show };
    let Stage { ana, reader, ben, .. } = &*stage;

    play.show.act("Ana asks Ben to be a contact; he accepts.")?;
    let invited =
        play.reply(ana, "invite_contact", json!({ "email": BEN, "note": "We met in Lisbon." })).await?;
    expect("the request waits", invited["state"] == "outgoing")?;
    let waiting = play.reply(ben, "list_contacts", json!({ "state": "incoming" })).await?;
    let request = waiting["contacts"][0]["request"].clone();
    expect("Ben sees the request", request == invited["request"])?;
    let accepted = play.reply(ben, "accept_contact", json!({ "request": request })).await?;
    expect("Ana is Ben's contact", accepted["address"] == ANA)?;

    play.show.act("Ana's assistant drafts. A draft reaches nobody.")?;
    let words = json!({
        "to": [BEN], "subject": SUBJECT, "body": "Sales are up by **four** percent.", "asks": "Do you agree?"
    });
    let draft = play.reply(ana, "draft_package", words).await?;
    expect(
        "the preview names Ben alone",
        addresses(&draft["to"]) == [BEN] && draft["notReached"] == json!([]),
    )?;
    let inbox = play.reply(ben, "check_inbox", json!({})).await?;
    expect("nothing has reached Ben", inbox["packages"] == json!([]))?;

    play.show.act("Who may not send it does not: a key that can only read, and somebody else.")?;
    let id = &draft["draft"];
    expect("a key that can only read is not offered confirm_send", reader.tool("confirm_send").is_none())?;
    play.refused(reader, "confirm_send", json!({ "draft": id }), "not_permitted").await?;
    play.refused(ben, "confirm_send", json!({ "draft": id }), "not_found").await?;

    play.show.act("Ana is shown what would go, and confirms. A repeat sends nothing.")?;
    let shown = json!({ "draft": id, "to": addresses(&draft["to"]), "subject": draft["subject"]["content"] });
    let sent = play.reply(ana, "confirm_send", shown.clone()).await?;
    let again = play.reply(ana, "confirm_send", shown).await?;
    expect("the repeat gives the ids of the first time", again == sent)?;

    play.show.act("Ben reads it. That leaves a receipt, and Ana can see it.")?;
    let inbox = play.reply(ben, "check_inbox", json!({ "unread": true })).await?;
    let packages = inbox["packages"].as_array().map_or(&[][..], Vec::as_slice);
    expect("one package came", packages.len() == 1 && packages[0]["package"] == sent["package"])?;
    let thread = json!({ "thread": sent["thread"] });
    let status = play.reply(ana, "thread_status", thread.clone()).await?;
    expect("Ben has not seen it", status["packages"][0]["recipients"][0]["seen"] == false)?;
    let package = play.reply(ben, "get_package", json!({ "package": sent["package"] })).await?;
    let body = json!({ "writtenBy": ANA, "content": "Sales are up by **four** percent." });
    expect("the text comes in an envelope with its author", package["body"] == body)?;
    play.reply(ben, "acknowledge_package", json!({ "package": sent["package"] })).await?;
    let status = play.reply(ana, "thread_status", thread).await?;
    let ben = &status["packages"][0]["recipients"][0];
    expect(
        "Ben has seen it",
        ben["seen"] == true && ben["opened"].is_string() && ben["acknowledged"].is_string(),
    )?;

    play.show.act("The mails that were written.")?;
    let mails = stage.mails(3).await?;
    for mail in &mails {
        play.show.mail(&mail.to, &mail.subject)?;
    }
    let to: Vec<_> = mails.iter().map(|mail| mail.to.as_str()).collect();
    expect(
        "three mails went, to Ben, Ana and Ben",
        to.len() == 3 && to.iter().filter(|to| **to == BEN).count() == 2,
    )?;
    play.show.end()
}

/// The tools hint what they are to hint, and `confirm_send` bears its title.
fn hints(actor: &Actor) -> Result<(), Failure> {
    for (name, expected) in HINTS {
        let annotations =
            &actor.tool(name).ok_or_else(|| unexpected(&format!("{name} is offered")))?["annotations"];
        let found = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
            .map(|hint| annotations[hint].as_bool());
        expect(&format!("{name} hints what it does"), found == expected.map(Some))?;
        let title = annotations["title"].as_str();
        expect(&format!("{name} bears its title"), title == (name == "confirm_send").then_some(SEND))?;
    }
    Ok(())
}

struct Play<'a> {
    show: &'a mut Show,
}

impl Play<'_> {
    /// A call that answers.
    async fn reply(&mut self, actor: &Actor, tool: &'static str, arguments: Json) -> Result<Json, Failure> {
        match self.call(actor, tool, arguments).await? {
            Answer::Reply(reply) => Ok(reply),
            Answer::Refusal(refusal) => {
                Err(unexpected(&format!("{tool} answers {}", actor.name)).hint(refusal))
            }
        }
    }

    /// A call that is refused with this code.
    async fn refused(
        &mut self,
        actor: &Actor,
        tool: &'static str,
        arguments: Json,
        code: &str,
    ) -> Result<(), Failure> {
        let refused = match self.call(actor, tool, arguments).await? {
            Answer::Refusal(refusal) => refusal["code"] == code,
            Answer::Reply(_) => false,
        };
        expect(&format!("{tool} is refused to {} as {code}", actor.name), refused)
    }

    async fn call(&mut self, actor: &Actor, tool: &'static str, arguments: Json) -> Result<Answer, Failure> {
        let named: Map<_, _> = match &arguments {
            Json::Object(arguments) => arguments.clone(),
            _ => Map::new(),
        };
        let answer = actor.call(tool, named).await?;
        self.show.call(actor, tool, &arguments, &answer)?;
        Ok(answer)
    }
}

/// The addresses of people in a reply.
fn addresses(people: &Json) -> Vec<&str> {
    people.as_array().into_iter().flatten().filter_map(|person| person["address"].as_str()).collect()
}

fn expect(what: &str, holds: bool) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(unexpected(what)) }
}

fn unexpected(what: &str) -> Failure {
    Failure::new(format!("the tour went wrong: expected that {what}"))
}

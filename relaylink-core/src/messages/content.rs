use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    relay::{
        Address, Foreign,
        limits::{ASKS_MAX, BODY_MAX, CONTEXT_MAX, SUBJECT_MAX},
        text,
    },
    tool::Refusal,
};

/// Who wrote a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Author {
    /// Their address.
    pub address: Address,
    /// The name they had when they sent it.
    pub name: String,
}

/// What a package says. Kept as it was drafted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub subject: Foreign<String>,
    pub body: Foreign<String>,
    pub asks: Option<Foreign<String>>,
    pub context: Option<Foreign<String>>,
}

impl Content {
    /// The content of a new draft.
    pub(super) fn checked(
        subject: &str,
        body: &str,
        asks: Option<&str>,
        context: Option<&str>,
    ) -> Result<Self, Refusal> {
        let given =
            |text: Option<&'_ str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        Ok(Self {
            subject: text::line("subject", subject, SUBJECT_MAX)?,
            body: text::lines("body", body, BODY_MAX)?,
            asks: given(asks).map(|asks| text::lines("asks", &asks, ASKS_MAX)).transpose()?,
            context: given(context)
                .map(|context| text::lines("context", &context, CONTEXT_MAX))
                .transpose()?,
        })
    }

    /// Its characters.
    pub(super) fn characters(&self) -> i64 {
        let parts = [Some(&self.subject), Some(&self.body), self.asks.as_ref(), self.context.as_ref()];
        let characters = parts.into_iter().flatten().map(|text| text.text().chars().count()).sum::<usize>();
        i64::try_from(characters).unwrap_or(i64::MAX)
    }
}

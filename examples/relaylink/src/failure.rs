use std::{fmt::Display, process::ExitCode};

use relaylink_core::{
    store::StoreError,
    tool::{Stop, toolset::ToolsetError},
};

/// Why the program ends without having done what it was told, in sentences for a person.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// It could not be done: exit 1.
    pub(crate) fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), hint: None, code: 1 }
    }

    /// It was called in a way that makes no sense: exit 2.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { code: 2, ..Self::new(message) }
    }

    /// Says what to do.
    #[must_use]
    pub(crate) fn hint(self, hint: impl Display) -> Self {
        Self { hint: Some(hint.to_string()), ..self }
    }

    /// Tells the person, and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        eprintln!("error: {}", self.message);
        if let Some(hint) = self.hint {
            eprintln!("  {hint}");
        }
        ExitCode::from(self.code)
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Store(error) => error.into(),
            stop => {
                let refusal = stop.into_refusal();
                let failure = Self::new(refusal.message);
                match refusal.hint {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::new(format!("the store failed: {error}"));
        match error {
            // What a person has to mend is told as it is.
            StoreError::Unusable(text) => Self::new(text),
            StoreError::Busy(_) => failure.hint("Nothing was stored. Try again in a moment."),
            StoreError::Unknown => failure.hint("It may have been done or not: look before you repeat it."),
            _ => failure,
        }
    }
}

impl From<ToolsetError> for Failure {
    fn from(error: ToolsetError) -> Self {
        Self::usage(error)
    }
}

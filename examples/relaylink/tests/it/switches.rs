//! The variables that say how much is done, as how many seconds of load.

/// The number that the variable gives; none where it is not set, or empty.
pub(crate) fn number(variable: &str) -> Option<u32> {
    let text = std::env::var_os(variable)?;
    read(variable, &text.to_string_lossy()).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// A test that did nothing would be green.
fn read(variable: &str, text: &str) -> Result<Option<u32>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse() {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => {
            Err(format!("{variable}={text} is no whole number above 0: give one, or leave the variable out"))
        }
    }
}

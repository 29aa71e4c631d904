//! Confirmation of irreversible actions.

use super::failure::Failure;
use super::text::visible;
use std::io::{IsTerminal as _, Write as _};

/// Asks on the terminal; without a terminal `--yes` is required.
///
/// # Errors
/// The answer is no, or there is no terminal.
pub(in crate::cli) fn confirm(question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let input = std::io::stdin();
    if !input.is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::usage(format!(
            "nothing was done: {question} Pass --yes, since there is no terminal to ask on"
        )));
    }
    let mut err = std::io::stderr();
    let _ = write!(err, "{} [y/N] ", visible(question));
    let _ = err.flush();
    let mut answer = String::new();
    let is_yes =
        input.read_line(&mut answer).is_ok() && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
    match is_yes {
        true => Ok(()),
        false => Err(Failure::failed("nothing was done")),
    }
}

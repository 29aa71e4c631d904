//! What a command reads: files, standard input, and the answer to a question.

use crate::cli::client::failure::Failure;
use crate::cli::client::output::visible;
use regex::bytes::{Captures, Regex};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fs::File;
use std::io::{IsTerminal as _, Read, Write as _};
use std::path::Path;
use std::sync::LazyLock;

/// More than any service accepts, so that a device or an endless pipe ends.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a whole file, or all of standard input for `-`.
///
/// # Errors
/// It cannot be read, or is over 64 MiB.
pub(in crate::cli) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
    if path == Path::new("-") {
        return bounded(std::io::stdin().lock(), "standard input").map_err(unreadable);
    }
    let file = File::open(path).map_err(unreadable)?;
    bounded(file, "the file").map_err(unreadable)
}

fn bounded(source: impl Read, name: &str) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(std::io::Error::other(format!("{name} is over {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}

/// Like [`read`], as text.
///
/// # Errors
/// As [`read`], or it is not UTF-8.
pub(in crate::cli) fn read_text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(read(path)?).map_err(|_| Failure::usage(format!("{} is not UTF-8", path.display())))
}

/// Like [`read`], as JSON, which is sent as it was written: a number keeps all its digits.
///
/// # Errors
/// As [`read`], or it is not JSON.
pub(in crate::cli) fn read_json(path: &Path) -> Result<Box<RawValue>, Failure> {
    serde_json::from_str(&read_text(path)?)
        .map_err(|error| Failure::usage(format!("{} is not JSON: {error}", path.display())))
}

/// An escaped character or a whole pair, or else, as the group, half a surrogate pair.
static HALF: LazyLock<Regex> = LazyLock::new(|| {
    let expression = r"\\[^u]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})";
    Regex::new(expression).expect("a valid expression")
});

/// JSON in which each half of a surrogate pair is U+FFFD: programs in JavaScript write one where they cut a text inside a
/// character, and that is no JSON of any text.
pub(in crate::cli) fn whole_pairs(json: &[u8]) -> Cow<'_, [u8]> {
    HALF.replace_all(json, |found: &Captures<'_>| match found.get(1) {
        Some(_) => br"\ufffd".to_vec(),
        None => found[0].to_vec(),
    })
}

/// Asks on the terminal whether to do something; `None` without one. An answer that cannot be read is no.
pub(super) fn ask(question: &str) -> Option<bool> {
    let (input, mut err) = (std::io::stdin(), std::io::stderr());
    if !input.is_terminal() || !err.is_terminal() {
        return None;
    }
    let _ = write!(err, "{} [y/N] ", visible(question));
    let _ = err.flush();
    let mut answer = String::new();
    let _ = input.read_line(&mut answer);
    Some(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Asks on the terminal; without a terminal `--yes` is required.
///
/// # Errors
/// The answer is no, or there is no terminal.
pub(in crate::cli) fn confirm(question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    match ask(question) {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::failed("nothing was done")),
        None => Err(Failure::usage(format!(
            "nothing was done: {question} Pass --yes, since there is no terminal to ask on"
        ))),
    }
}

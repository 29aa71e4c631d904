//! The failure of a command: a message for its user and an exit code for scripts.

use crate::cli::client::output::visible;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;

/// The exit codes. The numbers are documented in `--help` and in docs/cli.md, and stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Exit {
    /// The service failed, its response cannot be parsed, or a local file is damaged or cannot be written.
    Failed = 1,
    /// The command line, the environment or a configuration file is wrong.
    Usage = 2,
    /// No service answers at the address.
    NoService = 3,
    /// No such memory, version, record or local copy.
    NotFound = 4,
    /// The service rejected the request: invalid, too large, a precondition, a conflict.
    Refused = 5,
    /// A key is missing, or does not allow it.
    NotAllowed = 6,
    /// Too many requests, or a timeout: a retry may succeed.
    Busy = 7,
    /// The handoff was shown but is stale: run `refresh`.
    Stale = 8,
    /// Of the items of an update or of operations none could be applied.
    NoneApplied = 9,
}

/// The exit codes in `--help`.
pub(in crate::cli) const EXIT_CODES: &str = "\
Exit codes of commands that call a service:
  0  done
  1  failed: the service, its response, or a local file
  2  wrong usage or configuration
  3  no service answers at the URL
  4  not found: memory, version, record, local copy
  5  rejected: invalid, too large, precondition, conflict
  6  not allowed: key missing or not sufficient
  7  busy or timed out; try again later
  8  the handoff that was shown, or the local copy, is stale: refresh it
  9  none of the items of an update or of operations could be applied";

/// A command that failed.
#[derive(Debug)]
pub(in crate::cli) struct Failure {
    /// The exit code of the process.
    pub(in crate::cli) exit: Exit,
    /// The message, without a full stop at the end.
    pub(in crate::cli) sentence: String,
    /// The service's problem, if it returned one.
    pub(super) problem: Option<Value>,
}

impl Failure {
    pub(in crate::cli) fn new(exit: Exit, sentence: impl Into<String>) -> Self {
        Self {
            exit,
            sentence: sentence.into(),
            problem: None,
        }
    }

    /// Exit code 1.
    pub(in crate::cli) fn failed(sentence: impl Into<String>) -> Self {
        Self::new(Exit::Failed, sentence)
    }

    /// Exit code 2.
    pub(in crate::cli) fn usage(sentence: impl Into<String>) -> Self {
        Self::new(Exit::Usage, sentence)
    }

    /// Exit code 4.
    pub(in crate::cli) fn not_found(sentence: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, sentence)
    }

    /// Ends a command: prints on standard error why it failed, a sentence, or with `--json` one line of JSON with the
    /// service's problem, if there is one. Returns the exit code.
    pub(in crate::cli) fn end(&self) -> ExitCode {
        let (sentence, code) = (&self.sentence, self.exit as u8);
        if wants_json(std::env::args_os()) {
            let line = json!({ "error": sentence, "exit_code": code, "problem": self.problem });
            let _ = writeln!(std::io::stderr(), "{line}");
        } else {
            note(&format!("working-memory: {sentence}"));
        }
        ExitCode::from(code)
    }
}

/// `None` for what does not exist.
pub(in crate::cli) fn found<T>(answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(failure) if failure.exit == Exit::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Failure {}

/// Whether a command line requests JSON. This does not use the parsed arguments, since a parse error is
/// reported in the same format.
fn wants_json(arguments: impl IntoIterator<Item = OsString>) -> bool {
    let options = arguments.into_iter().take_while(|argument| argument != "--");
    let mut is_format = false;
    for option in options {
        let Some(option) = option.to_str() else {
            is_format = false;
            continue;
        };
        if matches!(option, "--json" | "-ojson" | "-o=json" | "--output=json")
            || (is_format && option == "json")
        {
            return true;
        }
        is_format = matches!(option, "-o" | "--output");
    }
    false
}

/// Prints a line on standard error, safe for a terminal. Write errors are ignored.
pub(in crate::cli) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(line));
}

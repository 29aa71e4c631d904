//! Why a command failed: a sentence for its user and an exit code for the script around it.

use super::text::visible;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// What a command ends with. The numbers are documented in `--help` and in docs/cli.md, and stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Exit {
    /// The service failed, its answer cannot be read, or a local file is damaged or cannot be written.
    Failed = 1,
    /// The command line, the environment or a configuration file is wrong.
    Usage = 2,
    /// Nobody answers at the address.
    NoService = 3,
    /// No such memory, version, record or local copy.
    NotFound = 4,
    /// The service understood and refused: invalid, too large, a precondition, a conflict.
    Refused = 5,
    /// A key is missing, or does not allow it.
    NotAllowed = 6,
    /// Too much at once, or not in time: the same may work later.
    Busy = 7,
    /// The handoff was shown and is not fresh: a refresh is due.
    Stale = 8,
}

/// What `--help` says of exit codes.
pub(in crate::cli) const EXIT_CODES: &str = "\
Exit codes of commands that ask a service:
  0  done
  1  failed: the service, its answer, or a local file
  2  wrong usage or configuration
  3  no service answers at the URL
  4  not found: memory, version, record, local copy
  5  refused: invalid, too large, precondition, conflict
  6  not allowed: key missing or not sufficient
  7  busy or not in time; try again later
  8  the handoff that was shown, or the local copy, is stale: refresh it";

/// A command that failed.
#[derive(Debug)]
pub(in crate::cli) struct Failure {
    /// What the process ends with.
    pub(in crate::cli) exit: Exit,
    /// What its user is told, without a full stop at the end.
    pub(in crate::cli) sentence: String,
    /// What the service said of it, where it did.
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
}

/// Ends a command: nothing, or the sentence on standard error and the code.
pub(in crate::cli) fn finish(outcome: Result<(), Failure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure {
            exit,
            sentence,
            problem,
        }) => {
            tell_failure(exit as u8, &sentence, problem.as_ref());
            ExitCode::from(exit as u8)
        }
    }
}

/// Says on standard error why a command failed: in a sentence, or with `--json` as one line of JSON with the problem
/// that the service answered, if it did.
pub(in crate::cli) fn tell_failure(code: u8, sentence: &str, problem: Option<&Value>) {
    if wants_json(std::env::args_os()) {
        let told = json!({ "error": sentence, "exit_code": code, "problem": problem });
        let _ = writeln!(std::io::stderr(), "{told}");
    } else {
        note(&format!("working-memory: {sentence}"));
    }
}

/// Whether a command line asks for JSON. It is looked for here and not in the parsed arguments, since a line that
/// cannot be parsed is answered in the same form.
pub(in crate::cli) fn wants_json(arguments: impl IntoIterator<Item = OsString>) -> bool {
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

/// A line on standard error, safe for a terminal. One that cannot be written is nobody's loss.
pub(in crate::cli) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(line));
}

//! The failure of a command, a message for its user and an exit code for scripts; and the response of a service: its content,
//! or the failure that its problem is.

use super::output::{Output, visible};
use crate::domain::text::single_blanks;
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, RETRY_AFTER};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fmt::{self, Display, Write as _};
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
    pub(in crate::cli) problem: Option<Value>,
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
        if wants_json() {
            // What is escaped for a terminal is the same JSON.
            note(&json!({ "error": sentence, "exit_code": code, "problem": self.problem }).to_string());
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

/// Whether the command line requests JSON. This does not use the parsed arguments, since a parse error is
/// reported in the same format.
fn wants_json() -> bool {
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let options: Vec<String> = arguments.take_while(|argument| argument != "--").collect();
    let is_json =
        |option: &String| ["--json", "-ojson", "-o=json", "--output=json"].contains(&option.as_str());
    let is_output = |option: &String| ["-o", "--output"].contains(&option.as_str());
    options.iter().any(is_json)
        || options
            .windows(2)
            .any(|pair| is_output(&pair[0]) && pair[1] == "json")
}

/// Prints a line on standard error, safe for a terminal. Write errors are ignored.
pub(in crate::cli) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(line));
}

/// The longest text of a response that a message quotes, in characters.
const QUOTED_CHARS: usize = 2_000;

/// How many faults of a rejected request are printed.
const TOLD_FAULTS: usize = 20;

/// A response of the service.
#[derive(Debug)]
pub(in crate::cli) struct ServiceResponse {
    /// Its status.
    pub(in crate::cli) status: u16,
    /// Its headers.
    pub(in crate::cli) headers: HeaderMap,
    /// Its body.
    pub(in crate::cli) body: Bytes,
}

impl ServiceResponse {
    /// Returns a success unchanged, and any other status as a failure. `about` names the subject of the request.
    ///
    /// # Errors
    /// The status is not a success.
    pub(in crate::cli) fn into_success(self, about: &str) -> Result<Self, Failure> {
        let exit = match self.status {
            200..=299 | 304 => return Ok(self),
            401 | 403 => Exit::NotAllowed,
            404 => Exit::NotFound,
            408 | 429 | 503 => Exit::Busy,
            400..=499 => Exit::Refused,
            _ => Exit::Failed,
        };
        let is_problem = media_type(&self.headers).starts_with("application/problem+json");
        let problem = serde_json::from_slice::<Value>(&self.body).ok();
        let problem = problem.filter(|problem| is_problem && problem.is_object());
        let Some(problem) = problem else {
            let exit = if exit == Exit::NotFound {
                Exit::Failed
            } else {
                exit
            };
            return Err(Failure::new(
                exit,
                format!(
                    "the server at this address ({}) is not a working-memory service",
                    self.status
                ),
            ));
        };
        let mut failure = Failure::new(exit, sentence(&self, &problem, about));
        failure.problem = Some(problem);
        Err(failure)
    }

    /// Whether the client's version is still current (304).
    pub(in crate::cli) fn is_not_modified(&self) -> bool {
        self.status == 304
    }

    /// Its entity tag.
    pub(in crate::cli) fn etag(&self) -> Option<&HeaderValue> {
        self.headers.get(ETAG)
    }

    /// The version that it holds: its entity tag as text.
    ///
    /// # Errors
    /// It has none.
    pub(in crate::cli) fn version(&self) -> Result<&str, Failure> {
        let tag = self.etag().and_then(|tag| tag.to_str().ok());
        tag.ok_or_else(|| Failure::failed("the service's answer has no entity tag"))
    }

    /// Parses the body.
    ///
    /// # Errors
    /// The body has another format: something other than the service answers at the address.
    pub(in crate::cli) fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body).map_err(unreadable)
    }

    /// The body as text. A page of another server is none.
    ///
    /// # Errors
    /// It is of another type, or not UTF-8.
    pub(in crate::cli) fn text(&self) -> Result<&str, Failure> {
        let media_type = media_type(&self.headers);
        if !media_type.starts_with("text/") || media_type.starts_with("text/html") {
            return Err(of_another_type(&self.headers));
        }
        std::str::from_utf8(&self.body).map_err(unreadable)
    }

    /// Prints the body unchanged, as `--json` does.
    ///
    /// # Errors
    /// It is no JSON, or standard output cannot be written.
    pub(in crate::cli) fn print_json(&self) -> Result<(), Failure> {
        let body: &RawValue = serde_json::from_slice(&self.body).map_err(unreadable)?;
        Output::of_document().whole_lines(body.get()).write()
    }
}

/// The type of an answer; empty if it has none.
pub(super) fn media_type(headers: &HeaderMap) -> &str {
    let value = headers.get(CONTENT_TYPE);
    value.and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The failure of an answer that is not of the type that was asked for.
pub(super) fn of_another_type(headers: &HeaderMap) -> Failure {
    match media_type(headers) {
        "" => unreadable("it is of no type"),
        other => unreadable(format!("it is of {other}")),
    }
}

fn unreadable(why: impl Display) -> Failure {
    Failure::failed(format!(
        "the answer cannot be read ({why}); is a working-memory service of this version running at that address?"
    ))
}

impl From<ServiceResponse> for http::Response<Bytes> {
    fn from(answer: ServiceResponse) -> Self {
        let mut response = Self::new(answer.body);
        *response.status_mut() = http::StatusCode::from_u16(answer.status).unwrap_or_default();
        *response.headers_mut() = answer.headers;
        response
    }
}

fn sentence(answer: &ServiceResponse, problem: &Value, about: &str) -> String {
    let member = |name: &str| problem[name].as_str();
    let mut sentence = match member("detail").or(member("title")) {
        // `api` has the routes' own words.
        Some(shown) if about.is_empty() => quoted(shown),
        Some(shown) => {
            quoted(shown).replace("send the same with ?confirm=collapse", "pass --confirm-collapse")
        }
        None => format!("the service answered {}", answer.status),
    };
    // Writing to a string cannot fail.
    if answer.status == 404 && !about.is_empty() {
        let _ = write!(sentence, " ({about})");
    }
    if answer.status == 401 {
        sentence.push_str("; pass a key with WORKING_MEMORY_API_KEY or --key-file");
    }
    let wait = answer
        .headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    if let Some(seconds) = wait.and_then(|value| value.parse::<u32>().ok()) {
        let _ = write!(sentence, "; try again in {seconds} s");
    }
    if let Some(update_id) = member("update_id") {
        let _ = write!(sentence, " (run {update_id})");
    }
    let faults = ["rejected", "warnings"].map(|name| problem[name].as_array());
    for fault in faults.into_iter().flatten().flatten().take(TOLD_FAULTS) {
        let text = |name: &str| quoted(fault[name].as_str().unwrap_or_default());
        let _ = write!(sentence, "\n  {}: {}", text("kind"), text("detail"));
    }
    sentence
}

fn quoted(text: &str) -> String {
    single_blanks(text).chars().take(QUOTED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_a_sentence_with_its_wait_its_run_and_its_faults() {
        let mut headers = HeaderMap::new();
        let media_type = "application/problem+json; charset=utf-8";
        headers.insert(CONTENT_TYPE, media_type.parse().unwrap());
        headers.insert(RETRY_AFTER, "7".parse().unwrap());
        let body = r#"{"detail":"items are faulty","update_id":"u1","rejected":[{"kind":"missing_reason","detail":"a","x":1}]}"#;
        let answer = ServiceResponse {
            status: 422,
            headers,
            body: Bytes::from_static(body.as_bytes()),
        };
        let shown = answer.into_success("memory m of vault v").unwrap_err();
        let sentence = "items are faulty; try again in 7 s (run u1)\n  missing_reason: a";
        assert_eq!(shown.sentence, sentence);
    }
}

//! Failures for a model: what went wrong, and what to do next.

use super::backend::{RouteResponse, Unreachable};
use http::header::RETRY_AFTER;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, MetaObject};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// The maximum size of a problem's additional members in the message, in bytes.
const MAX_MEMBERS_BYTES: usize = 4_000;

/// The key of the problem in the `_meta` of a tool error, for programs.
const META: &str = "working-memory/problem";

/// A call that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The status of the route's response; 0 if no route was called.
    pub(super) status: u16,
    detail: String,
    next: String,
    problem: Option<Value>,
}

impl Failure {
    /// A call that cannot be executed.
    pub(super) fn new(detail: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            status: 0,
            detail: detail.into(),
            next: next.into(),
            problem: None,
        }
    }

    /// An argument is not valid.
    pub(crate) fn argument(name: &str, detail: impl Into<String>) -> Self {
        Self::new(
            detail,
            format!("Correct {name} and call again; nothing was changed."),
        )
    }

    /// A required argument is missing and not fixed for this client.
    pub(super) fn missing(name: &'static str) -> Self {
        let next = "memory_list lists the memories of a vault, and the user knows which vault theirs are in";
        Self::new(
            format!("the argument {name} is missing, and this connection does not fix it"),
            format!("Call again with {name}; {next}."),
        )
    }

    /// The failure of a response that is not a success.
    pub(crate) fn of_answer(answer: &RouteResponse) -> Self {
        let problem = serde_json::from_slice(answer.body()).unwrap_or_default();
        let retry_after = answer.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok());
        Self::of_problem(problem, answer.status().as_u16(), retry_after)
    }

    /// The failure of a problem from another source.
    pub(super) fn of_problem(problem: Value, status: u16, retry_after: Option<&str>) -> Self {
        let text = |name: &str| problem.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = text("type").rsplit(':').next().unwrap_or_default();
        let mut detail = match (text("detail"), text("title")) {
            ("", "") => format!("the server is not a working-memory service (status {status})"),
            ("", title) => title.to_owned(),
            (detail, _) => detail.to_owned(),
        };
        if let Some(more) = further_members(&problem) {
            // Writing to a string cannot fail.
            let _ = write!(detail, " ({more})");
        }
        let next = next_step(kind, &problem, retry_after);
        Self {
            status,
            detail,
            next,
            problem: problem.is_object().then_some(problem),
        }
    }

    /// As the result of a tool.
    pub(super) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::error(vec![ContentBlock::text(self.sentence())]);
        if let Some(problem) = self.problem {
            let mut meta = MetaObject::new();
            meta.insert(META.to_owned(), problem);
            result.meta = Some(meta);
        }
        result
    }

    /// As an error of the protocol, for resources and prompts, which have no other form.
    pub(super) fn into_error(self) -> ErrorData {
        let sentence = self.sentence();
        match self.status {
            0 | 400 | 403 | 422 => ErrorData::invalid_params(sentence, self.problem),
            401 => ErrorData::invalid_request(sentence, self.problem),
            404 | 410 => ErrorData::resource_not_found(sentence, self.problem),
            _ => ErrorData::internal_error(sentence, self.problem),
        }
    }

    fn sentence(&self) -> String {
        let Self { detail, next, .. } = self;
        let stop = if detail.ends_with('.') { "" } else { "." };
        format!("{detail}{stop}\nNext: {next}")
    }
}

impl From<Unreachable> for Failure {
    fn from(Unreachable(sentence): Unreachable) -> Self {
        Self {
            status: 503,
            ..Self::new(
                sentence,
                "Continue without the memory for now, tell the user, and try again later. Before you repeat a call that \
                 writes, look at memory_history, view log: it may have been executed.",
            )
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::argument("the arguments", error.to_string())
    }
}

/// The additional members of a problem, such as the rejected items.
fn further_members(problem: &Value) -> Option<String> {
    let known = ["type", "title", "status", "detail", "field", "request_id"];
    let members: Map<String, Value> = problem
        .as_object()?
        .iter()
        .filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let text = Value::Object(members).to_string();
    (text.len() > 2 && text.len() <= MAX_MEMBERS_BYTES).then_some(text)
}

fn next_step(kind: &str, problem: &Value, retry_after: Option<&str>) -> String {
    let field = problem.get("field").and_then(Value::as_str);
    let next = match kind {
        "malformed" | "invalid" => match field {
            Some("as_of") => "Pass a time in the past in the format 2026-11-22T08:00:00Z.",
            Some("cursor") => "Take next_cursor of the page before as it is, with the same other arguments.",
            Some(field) if field != "body" => {
                return format!("Correct {field} and call again; nothing was changed.");
            }
            _ => "Correct what is named above and call again; nothing was changed.",
        },
        "unauthorized" => {
            "Nothing works without a key. Tell the user to give this connection an API key: the header Authorization: \
             Bearer <key>, or WORKING_MEMORY_API_KEY for `working-memory mcp`."
        }
        "forbidden" => {
            let role = problem.get("required_role").and_then(Value::as_str);
            let what = role.map(|role| format!("that this needs a key with the role {role}"));
            let what = what.as_deref().unwrap_or("what this key may not do");
            return format!("Nothing was changed, and trying again does not help: tell the user {what}.");
        }
        "not-found" if problem.get("freshness").is_some() => {
            "Call memory_handoff with refresh: true to make one."
        }
        "not-found" => match field {
            Some("ref" | "base" | "as_of") => "See which versions there are with memory_history, view log.",
            Some("section") => "Read the whole document without section to see which sections there are.",
            Some("record_id") => "See which records there are with memory_history, view records, status all.",
            _ => {
                "Check the names: memory_list lists the memories of a vault. To begin a new memory, call memory_edit, \
                 memory_record or memory_write with its name."
            }
        },
        "gone" => "That text was removed for good; choose another version with memory_history, view log.",
        "precondition-failed" | "conflict" => {
            "Nothing was changed, because somebody else changed the memory meanwhile or it is not in the state you expect. \
             Read it again with memory_read, put your change into what it says now, and call again with that version."
        }
        "collapse" => {
            "Nothing was changed. Read the memory again and write a text that keeps what it says, or take out single records \
             with memory_edit and a reason. If the loss is wanted, a person has to put that text."
        }
        "too-large" => {
            "Nothing was changed. Shorten it and call again; memory_edit can archive what has served its purpose."
        }
        "quota" => {
            "Nothing was saved, and trying again does not help: tell the user that the vault has reached its limit."
        }
        "too-many-requests" | "unavailable" | "request-timeout" | "still-running" => {
            let wait = retry_after.map(|seconds| format!("{seconds} s"));
            return format!("Wait {} and call again.", wait.as_deref().unwrap_or("a moment"));
        }
        "model-failed" | "model-timeout" => {
            "Nothing was saved. Call memory_update again later, or write what matters yourself with memory_edit."
        }
        _ => "Try once more; if it fails again, tell the user that the memory service failed.",
    };
    next.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_response_that_is_not_a_problem_is_reported_too() {
        let text = Failure::of_problem(Value::Null, 502, None).sentence();
        assert!(
            text.contains("not a working-memory service (status 502)"),
            "{text}"
        );
    }

    #[test]
    fn what_helps_to_try_again_and_what_does_not() {
        let lost =
            Unreachable("the connection was lost; whether the request was executed is unknown".to_owned());
        let text = Failure::from(lost).sentence();
        assert!(
            text.contains("may have been executed") && !text.contains("Nothing was"),
            "{text}"
        );
        let problem =
            json!({"type": "urn:working-memory:problem:quota", "detail": "full; nothing was saved"});
        let text = Failure::of_problem(problem, 507, None).sentence();
        assert!(
            text.contains("does not help") && !text.contains("Try once more"),
            "{text}"
        );
    }

    #[test]
    fn a_wait_names_its_seconds() {
        let kind = "urn:working-memory:problem:unavailable";
        let problem = json!({"type": kind, "detail": "busy", "request_id": "r"});
        let text = Failure::of_problem(problem, 503, Some("5")).sentence();
        assert_eq!(text, "busy.\nNext: Wait 5 s and call again.");
    }
}

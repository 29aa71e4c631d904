//! `working-memory update`: sends a task and messages, from which the service's models update the memory.

use super::client::{Failure, Look, Method, Output, Service, ServiceArgs, ServiceResponse, read_text};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Models may take minutes.
const ANSWER_TIME: Duration = Duration::from_secs(900);

/// Arguments of `update`.
#[derive(Debug, Args)]
pub struct Update {
    /// What was just done or is being done.
    #[arg(value_name = "TASK")]
    task: String,
    /// The messages around it, oldest first: a line {"role": …, "content": …} each, in the format of OpenAI's or
    /// Anthropic's messages; standard input for `-`.
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// Dry run: save nothing.
    #[arg(long)]
    dry_run: bool,
    /// Save the other roles' operations if the model of one role fails.
    #[arg(long)]
    allow_partial: bool,
    /// What to do with items that stay faulty.
    #[arg(long, value_enum, value_name = "WHAT")]
    on_invalid: Option<OnInvalid>,
    /// Save a proposal that waits for approval.
    #[arg(long)]
    propose: bool,
    /// A task record and status to save in the same version: a file with {"intent": …, "summary": …} and, optionally,
    /// task_id, outcome, epic, goal, blocker.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Only these sections: progress, learnings, verbatim.
    #[arg(long, value_name = "ROLE", value_delimiter = ',')]
    roles: Option<Vec<String>>,
    /// Update only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

/// `--on-invalid`.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OnInvalid {
    /// They are dropped, the rest is saved.
    Drop,
    /// Nothing is saved; the run is stored.
    Fail,
}

impl fmt::Display for OnInvalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Drop => "drop",
            Self::Fail => "fail",
        })
    }
}

/// The request.
#[derive(Debug, Serialize)]
struct Body<'b> {
    task: &'b str,
    messages: Vec<Map<String, Value>>,
    dry_run: bool,
    allow_partial: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_invalid: Option<OnInvalid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roles: Option<&'b [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Value>,
}

impl Update {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let messages = match &self.messages {
            Some(path) => messages(&read_text(path)?)
                .map_err(|wrong| Failure::usage(format!("{}: {wrong}", path.display())))?,
            None => Vec::new(),
        };
        let record = match &self.record {
            Some(path) => Some(
                serde_json::from_str(&read_text(path)?)
                    .map_err(|wrong| Failure::usage(format!("{}: {wrong}", path.display())))?,
            ),
            None => None,
        };
        let body = Body {
            task: &self.task,
            messages,
            dry_run: self.dry_run,
            allow_partial: self.allow_partial,
            on_invalid: self.on_invalid,
            roles: self.roles.as_deref(),
            mode: self.propose.then_some("propose"),
            record,
        };
        let call = service.of_memory(Method::POST, &["update"])?;
        let call = call.if_match(self.if_match.as_deref())?.json(&body)?;
        print(&call.send().await?, self.service.is_raw())
    }
}

/// One message per line; empty lines are skipped. The service validates the content.
fn messages(lines: &str) -> Result<Vec<Map<String, Value>>, String> {
    let lines = lines.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    lines
        .map(|(line, number)| {
            let problem =
                |what: &str| format!("line {number} is not {{\"role\": …, \"content\": …}}: {what}");
            let message: Map<String, Value> =
                serde_json::from_str(line).map_err(|error| problem(&error.to_string()))?;
            match message.get("role") {
                Some(Value::String(_)) => Ok(message),
                _ => Err(problem("it has no role")),
            }
        })
        .collect()
}

/// The response to an update, as far as it is printed.
#[derive(Debug, Deserialize)]
struct Updated {
    update_id: String,
    status: String,
    operations: Vec<Operation>,
    base_version: i64,
    version: i64,
    log: String,
    diff: String,
    rejected: Vec<Item>,
    warnings: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Operation {
    number: Option<usize>,
    op: String,
    id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Item {
    section: Option<String>,
    kind: String,
    detail: String,
    #[serde(default)]
    text: String,
}

/// Prints the response to `update` and `operations`.
pub(super) fn print(answer: &ServiceResponse, json: bool) -> Result<(), Failure> {
    if json {
        return answer.print_json();
    }
    let updated: Updated = answer.json()?;
    let mut out = Output::new();
    let only_shown = updated.status == "dry_run" || updated.status == "proposed";
    let dry_run = updated.status == "dry_run";
    out.styled(Look::Strong, if dry_run { "dry run" } else { &updated.status })
        .text(": version ")
        .styled(Look::Id, &updated.version.to_string());
    if updated.version != updated.base_version {
        out.text(&format!(", before {}", updated.base_version));
    }
    out.end().whole_lines(&updated.log);
    if updated.status == "proposed" {
        out.text("proposal ").styled(Look::Id, &updated.update_id).end();
        for operation in &updated.operations {
            if let Some(number) = operation.number {
                out.styled(Look::Id, &format!("{number:>3}"))
                    .text(&format!(
                        " {} {}",
                        operation.op,
                        operation.id.as_deref().unwrap_or_default()
                    ))
                    .end();
            }
        }
    }
    if only_shown {
        out.diff(&updated.diff);
    }
    for item in &updated.rejected {
        print_item(&mut out, "rejected", Look::Removed, item);
    }
    for item in &updated.warnings {
        print_item(&mut out, "warning", Look::Id, item);
    }
    out.write()
}

fn print_item(out: &mut Output, what: &str, look: Look, item: &Item) {
    out.styled(look, what).text(" ").text(&item.kind);
    if let Some(section) = &item.section {
        out.text(" in ").text(section);
    }
    out.text(": ")
        .text(&item.detail)
        .end()
        .indented("    ", &item.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_line_by_line() {
        let read =
            messages("{\"role\":\"user\",\"content\":\"a\\nb\"}\r\n\n{\"content\":\"\",\"role\":\"x\"}")
                .unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0]["content"], "a\nb");
        for (lines, wrong) in [
            ("{}", "line 1"),
            ("\n[]\n", "line 2"),
            ("{\"role\":1,\"content\":\"a\"}", "line 1"),
        ] {
            let error = messages(lines).unwrap_err();
            assert!(error.starts_with(wrong), "{error}");
        }
    }
}

//! `working-memory task`: records a completed task in the window.

use super::client::{Failure, Look, Method, Output, Service, ServiceArgs, ServiceResponse, read_text};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// Arguments of `task`.
#[derive(Debug, Args)]
pub struct Task {
    /// What was to be done.
    #[arg(value_name = "INTENT")]
    intent: String,
    /// What was done.
    #[arg(long, value_name = "TEXT")]
    summary: String,
    /// An id of the caller, such as a commit: a task is recorded once per id.
    #[arg(long, value_name = "ID")]
    task_id: Option<String>,
    /// The epic that it belongs to.
    #[arg(long, value_name = "EPIC")]
    epic: Option<String>,
    /// A report to save with the task, as JSON; standard input for `-`.
    #[arg(long, value_name = "FILE")]
    outcome: Option<PathBuf>,
    #[command(flatten)]
    service: ServiceArgs,
}

#[derive(Debug, Serialize)]
struct Body<'b> {
    intent: &'b str,
    summary: &'b str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'b str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epic: Option<&'b str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Value>,
}

impl Task {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let outcome = match &self.outcome {
            Some(path) => Some(
                serde_json::from_str(&read_text(path)?)
                    .map_err(|error| Failure::usage(format!("{} is not JSON: {error}", path.display())))?,
            ),
            None => None,
        };
        let body = Body {
            intent: &self.intent,
            summary: &self.summary,
            task_id: self.task_id.as_deref(),
            epic: self.epic.as_deref(),
            outcome,
        };
        let call = service.of_memory(Method::POST, &["tasks"])?;
        print(
            &call.json(&body)?.send().await?,
            self.service.is_raw(),
            "recorded",
        )
    }
}

/// Prints the response of a request that wrote to the window: `done`, the record and the version, if the response
/// names them.
pub(super) fn print(answer: &ServiceResponse, json: bool, done: &str) -> Result<(), Failure> {
    if json {
        return answer.print_json();
    }
    let body: Value = answer.json()?;
    let unchanged = body["unchanged"]
        .as_bool()
        .unwrap_or(answer.status == 200 && done == "recorded");
    let id = body["record_id"]
        .as_str()
        .or_else(|| body["record"]["record_id"].as_str());
    let mut out = Output::new();
    out.text(if unchanged { "unchanged" } else { done });
    if let Some(id) = id {
        out.text(" ").styled(Look::Id, id);
    }
    if let Some(version) = body["version"].as_i64() {
        out.text(&format!(", version {version}"));
    }
    out.end().write()
}

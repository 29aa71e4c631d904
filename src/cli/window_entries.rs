//! `working-memory task`, `decision` and `set-status`: entries of the window.

use super::client::{Failure, Look, Method, Service, ServiceArgs, members, read_json};
use crate::domain::ids::RecordId;
use clap::Args;
use serde_json::{Value, json};
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

impl Task {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let outcome = self.outcome.as_deref().map(read_json).transpose()?;
        let body = json!({ "intent": self.intent, "summary": self.summary, "task_id": self.task_id,
            "epic": self.epic, "outcome": outcome });
        send(&self.service, (Method::POST, "tasks"), body, "recorded").await
    }
}

/// Arguments of `decision`.
#[derive(Debug, Args)]
pub struct Decision {
    /// What was decided.
    #[arg(value_name = "DECISION")]
    decision: String,
    /// The reason; recommended.
    #[arg(long, value_name = "REASON")]
    because: Option<String>,
    /// The decision that this one replaces, such as D-3.
    #[arg(long, value_name = "ID")]
    supersedes: Option<RecordId>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Decision {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let supersedes = self.supersedes.map(|id| id.to_string());
        let body = json!({ "decision": self.decision, "reason": self.because, "supersedes": supersedes });
        send(&self.service, (Method::POST, "decisions"), body, "recorded").await
    }
}

/// Arguments of `set-status`.
#[derive(Debug, Args)]
pub struct SetStatus {
    /// The goal; `none` clears it. Unchanged without this option.
    #[arg(long, value_name = "TEXT", required_unless_present = "blocker")]
    goal: Option<String>,
    /// The blocker; `none` clears it. Unchanged without this option.
    #[arg(long, value_name = "TEXT")]
    blocker: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl SetStatus {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let body = json!({ "goal": self.goal, "blocker": self.blocker });
        send(&self.service, (Method::PUT, "status"), body, "status set").await
    }
}

/// Sends the members that are set, and prints `done`, the record and the version, if the response names them.
async fn send(args: &ServiceArgs, to: (Method, &str), body: Value, done: &str) -> Result<(), Failure> {
    let service = Service::of(args)?;
    let (method, route) = to;
    let call = service.of_memory(method, &[route])?;
    let answer = call.json(&members(body))?.send().await?;
    let is_known = answer.status == 200 && done == "recorded";
    answer.print(args.is_json(), |out, body| {
        let unchanged = body["unchanged"].as_bool().unwrap_or(is_known);
        let id = body["record_id"].as_str();
        out.text(if unchanged { "unchanged" } else { done });
        if let Some(id) = id.or_else(|| body["record"]["record_id"].as_str()) {
            out.text(" ").styled(Look::Id, id);
        }
        if let Some(version) = body["version"].as_i64() {
            out.text(&format!(", version {version}"));
        }
    })
}

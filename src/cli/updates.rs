//! `working-memory update`, `operations`, `approve` and `reject`: changes of single items, and proposals.

use super::client::{
    Exit, Failure, Look, Method, Output, Service, ServiceArgs, ServiceResponse, members, read, read_json,
    read_text, text,
};
use crate::domain::ids::UpdateId;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
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
    /// What to do with items that neither the task nor the messages support: only what is at least as strict as the
    /// service's own setting is accepted.
    #[arg(long, value_enum, value_name = "WHAT")]
    evidence: Option<Evidence>,
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
#[derive(Debug, Clone, Copy, ValueEnum, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
enum OnInvalid {
    /// They are dropped, the rest is saved.
    Drop,
    /// Nothing is saved; the run is stored.
    Fail,
}

/// `--evidence`.
#[derive(Debug, Clone, Copy, ValueEnum, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
enum Evidence {
    /// They are not saved.
    Reject,
    /// They are saved with a warning.
    Warn,
    /// They are not looked for.
    Off,
}

impl Update {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let messages = match &self.messages {
            Some(path) => messages(&read_text(path)?)
                .map_err(|wrong| Failure::usage(format!("{}: {wrong}", path.display())))?,
            None => Vec::new(),
        };
        let record = self.record.as_deref().map(read_json).transpose()?;
        let body = json!({
            "task": self.task,
            "messages": messages,
            "dry_run": self.dry_run,
            "allow_partial": self.allow_partial,
            "on_invalid": self.on_invalid.map(<&str>::from),
            "evidence": self.evidence.map(<&str>::from),
            "roles": self.roles,
            "mode": self.propose.then_some("propose"),
            "record": record,
        });
        let call = service.of_memory(Method::POST, &["update"])?;
        let call = call.if_match(self.if_match.as_deref())?;
        print(&call.json(&members(body))?.send().await?, self.service.is_json())
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

/// Arguments of `operations`.
#[derive(Debug, Args)]
pub struct Operations {
    /// The operations: text (docs/dsl.md), or JSON {"operations": [{"op": …}]} as the route takes it; standard input for `-`.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Dry run: save nothing.
    #[arg(long)]
    dry_run: bool,
    /// Save a proposal that waits for approval.
    #[arg(long, conflicts_with = "update_id")]
    propose: bool,
    /// What to do with faulty items.
    #[arg(long, value_enum, value_name = "WHAT")]
    on_invalid: Option<OnInvalid>,
    /// The maximum number of additions in each section.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=100))]
    max_additions: Option<u8>,
    /// The saved run that this finishes.
    #[arg(long, value_name = "UPDATE_ID")]
    update_id: Option<UpdateId>,
    /// Apply them only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Operations {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let call = service
            .of_memory(Method::POST, &["operations"])?
            .flag("dry_run", self.dry_run)
            .maybe("mode", self.propose.then_some("propose"))
            .maybe("on_invalid", self.on_invalid.map(<&str>::from))
            .maybe("max_additions", self.max_additions)
            .maybe("update_id", self.update_id.as_ref())
            .if_match(self.if_match.as_deref())?;
        let operations = read(&self.file)?;
        // No text of operations is a JSON object.
        let call = match serde_json::from_slice::<Map<String, Value>>(&operations) {
            Ok(_) => call.header("content-type", "application/json")?.body(operations),
            Err(_) => call.text(operations),
        };
        print(&call.send().await?, self.service.is_json())
    }
}

/// Arguments of `consolidate`.
#[derive(Debug, Args)]
pub struct Consolidate {
    /// Archive at once what can go. Without it a proposal waits for approval.
    #[arg(long)]
    apply: bool,
    /// What the model is told besides its instructions, such as what to look at.
    #[arg(long, value_name = "TEXT")]
    instructions: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Consolidate {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::with_timeout(&self.service, ANSWER_TIME)?;
        let mode = if self.apply { "apply" } else { "propose" };
        let body = json!({ "mode": mode, "instructions": self.instructions });
        let call = service.of_memory(Method::POST, &["consolidate"])?;
        let answer = call.json(&members(body))?.send().await?;
        print(&answer, self.service.is_json())
    }
}

/// Arguments of `approve`.
#[derive(Debug, Args)]
pub struct Approve {
    /// The proposal, as `updates --status proposed` lists it.
    #[arg(value_name = "UPDATE_ID")]
    update_id: UpdateId,
    /// Only the operations with these numbers, such as 0,2. All of them without it.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    operations: Option<Vec<u32>>,
    /// A comment for the log.
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// Approve it only if the newest version is still this one (its context_id).
    #[arg(long, value_name = "CONTEXT_ID")]
    if_match: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Approve {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let body = members(json!({ "operations": self.operations, "comment": self.comment }));
        let answer = service
            .of_memory(Method::POST, &["updates", self.update_id.as_str(), "approve"])?
            .if_match(self.if_match.as_deref())?
            .json(&body)?
            .send()
            .await?;
        print(&answer, self.service.is_json())
    }
}

/// Arguments of `reject`.
#[derive(Debug, Args)]
pub struct Reject {
    /// The proposal, as `updates --status proposed` lists it.
    #[arg(value_name = "UPDATE_ID")]
    update_id: UpdateId,
    /// The reason, for the author of the proposal.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    service: ServiceArgs,
}

impl Reject {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let service = Service::of(&self.service)?;
        let answer = service
            .of_memory(Method::POST, &["updates", self.update_id.as_str(), "reject"])?
            .json(&json!({ "reason": self.reason }))?
            .send()
            .await?;
        answer.print(self.service.is_json(), |out, rejected| {
            out.styled(Look::Id, &text(rejected, "update_id"))
                .text(&format!(" is {}", text(rejected, "status")));
        })
    }
}

/// Prints the response to `update`, `operations` and `approve`. It is a failure if there were items and none of them could
/// be applied.
fn print(answer: &ServiceResponse, json: bool) -> Result<(), Failure> {
    let updated: Value = answer.json()?;
    let list = |name: &str| updated[name].as_array().map(Vec::as_slice).unwrap_or_default();
    if json {
        answer.print_json()?;
    } else {
        print_text(&updated, &list)?;
    }
    if list("operations").is_empty() && !list("rejected").is_empty() {
        return Err(Failure::new(
            Exit::NoneApplied,
            "none of the items could be applied, and nothing was changed",
        ));
    }
    Ok(())
}

fn print_text<'u>(updated: &'u Value, list: &impl Fn(&str) -> &'u [Value]) -> Result<(), Failure> {
    let mut out = Output::new();
    let status = text(updated, "status");
    let is_proposed = status == "proposed";
    let shown = if status == "dry_run" {
        "dry run"
    } else {
        status.as_str()
    };
    out.styled(Look::Strong, shown)
        .text(": version ")
        .styled(Look::Id, &updated["version"].to_string());
    if updated["version"] != updated["base_version"] {
        out.text(&format!(", before {}", updated["base_version"]));
    }
    out.end().whole_lines(&text(updated, "log"));
    if is_proposed {
        out.text("proposal ")
            .styled(Look::Id, &text(updated, "update_id"))
            .end();
        for operation in list("operations") {
            if let Some(number) = operation["number"].as_u64() {
                out.styled(Look::Id, &format!("{number:>3}"))
                    .text(&format!(" {} {}", text(operation, "op"), text(operation, "id")))
                    .end();
            }
        }
    }
    if is_proposed || status == "dry_run" {
        out.diff(&text(updated, "diff"));
    }
    for (name, what, look) in [
        ("rejected", "rejected", Look::Removed),
        ("warnings", "warning", Look::Id),
    ] {
        for item in list(name) {
            out.styled(look, what).text(" ").text(&text(item, "kind"));
            if let Some(section) = item["section"].as_str() {
                out.text(" in ").text(section);
            }
            out.text(": ")
                .text(&text(item, "detail"))
                .end()
                .indented("    ", &text(item, "text"));
        }
    }
    out.write()
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

//! The window for readers: status, recent tasks in full, decisions.

use super::status::Status;
use super::task::Task;
use crate::domain::document::{Record, records, written_time};
use crate::domain::ids::{RecordId, RecordKind, TaskId};
use crate::domain::text::one_line;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;
use utoipa::ToSchema;

/// A recent task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WindowTask {
    /// Its record.
    #[schema(value_type = String)]
    pub record_id: RecordId,
    /// When it was done, if its line says so.
    pub time: Option<DateTime<Utc>>,
    /// What its writer calls it.
    #[schema(value_type = Option<String>)]
    pub task_id: Option<TaskId>,
    /// What was to be done.
    pub intent: String,
    /// What was done.
    pub summary: String,
    /// A report on it.
    #[schema(required)]
    pub outcome: Option<Value>,
    /// Whether the outcome says `"success": false`.
    pub failed: bool,
    /// The larger work it is a part of.
    pub epic: Option<String>,
}

/// A decision that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WindowDecision {
    /// Its record.
    #[schema(value_type = String)]
    pub record_id: RecordId,
    /// When it was made, if its line says so.
    pub time: Option<DateTime<Utc>>,
    /// What was decided.
    pub decision: String,
    /// Why.
    pub reason: Option<String>,
}

/// The window of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// Goal and blocker.
    pub status: Status,
    /// Tasks in document order: newest first.
    pub tasks: Vec<WindowTask>,
    /// Decisions, newest first.
    pub decisions: Vec<WindowDecision>,
}

impl Window {
    /// Builds the window from a document and the stored tasks.
    #[must_use]
    pub fn of(document: &str, mut reported: HashMap<RecordId, Task>) -> Self {
        let mut window = Self {
            status: Status::of(document),
            ..Self::default()
        };
        for record in records(document) {
            let Record {
                id,
                time,
                reason,
                content,
                ..
            } = record;
            match id.kind {
                RecordKind::Task => {
                    let task = Task::of_line(&content, reported.remove(&id));
                    window.tasks.push(WindowTask {
                        record_id: id,
                        time,
                        failed: task.has_failed(),
                        task_id: task.own_id().cloned(),
                        intent: task.intent,
                        summary: task.summary,
                        outcome: task.details.outcome,
                        epic: task.details.epic,
                    });
                }
                RecordKind::Decision => window.decisions.push(WindowDecision {
                    record_id: id,
                    time,
                    decision: content,
                    reason,
                }),
                RecordKind::Learning | RecordKind::Verbatim => {}
            }
        }
        window
    }

    /// Renders Markdown: `Status`, `Recent Tasks` with all known fields, `Decisions`. Text from callers is
    /// written on single lines and in quotations, so that it cannot form headings.
    #[must_use]
    pub fn markdown(&self) -> String {
        let none = |text: &Option<String>| text.as_deref().map_or_else(|| "none".to_owned(), one_line);
        let mut out = format!(
            "# Status\nGoal: {}\nBlocker: {}\n",
            none(&self.status.goal),
            none(&self.status.blocker)
        );
        if let Some(updated) = self.status.updated {
            field(&mut out, "Updated", &written_time(updated));
        }
        out.push_str("\n# Recent Tasks\n");
        for task in &self.tasks {
            let time = task
                .time
                .map(|time| format!(" [{}]", written_time(time)))
                .unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = writeln!(out, "\n## {}{time} {}", task.record_id, one_line(&task.intent));
            if let Some(id) = &task.task_id {
                field(&mut out, "Task", id.as_str());
            }
            if task.failed {
                field(&mut out, "Result", "failed");
            }
            if let Some(epic) = &task.epic {
                field(&mut out, "Epic", epic);
            }
            if !task.summary.trim().is_empty() {
                out.push('\n');
                // To readers of Markdown a carriage return alone ends a line, too.
                for line in task.summary.trim().lines().flat_map(|line| line.split('\r')) {
                    let _ = writeln!(out, "{}", format!("> {line}").trim_end());
                }
            }
            if let Some(outcome) = &task.outcome {
                let _ = writeln!(out, "\nOutcome: `{}`", shown(outcome));
            }
        }
        out.push_str("\n# Decisions\n");
        for decision in &self.decisions {
            let time = decision
                .time
                .map(|time| format!("[{}] ", written_time(time)))
                .unwrap_or_default();
            let reason = decision
                .reason
                .as_ref()
                .map(|reason| format!("because {}: ", one_line(reason)))
                .unwrap_or_default();
            let _ = writeln!(
                out,
                "- {} {time}{reason}{}",
                decision.record_id,
                one_line(&decision.decision)
            );
        }
        out
    }
}

fn field(out: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{name}: {value}");
}

/// Compact JSON without backticks, which would end the quotation.
fn shown(outcome: &Value) -> String {
    outcome.to_string().replace('`', "\\u0060")
}

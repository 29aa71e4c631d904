//! The window for readers: status, recent tasks in full, decisions.

use super::status::Status;
use super::task::Task;
use crate::domain::document::{Record, records, written_time};
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::text::one_line;
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;

/// A recent task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowTask {
    /// The id of its record.
    pub id: RecordId,
    /// When it was completed; `None` if its line has no time.
    pub time: Option<DateTime<Utc>>,
    /// The task.
    pub task: Task,
}

/// An active decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowDecision {
    /// The id of its record.
    pub id: RecordId,
    /// When it was made; `None` if its line has no time.
    pub time: Option<DateTime<Utc>>,
    /// What was decided.
    pub decision: String,
    /// The reason.
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
                    window.tasks.push(WindowTask { id, time, task });
                }
                RecordKind::Decision => window.decisions.push(WindowDecision {
                    id,
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
        for WindowTask { id, time, task } in &self.tasks {
            let time = time
                .map(|time| format!(" [{}]", written_time(time)))
                .unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = writeln!(out, "\n## {id}{time} {}", one_line(&task.intent));
            if let Some(id) = &task.task_id {
                field(&mut out, "Task", id.as_str());
            }
            if task.has_failed() {
                field(&mut out, "Result", "failed");
            }
            if let Some(epic) = &task.details.epic {
                field(&mut out, "Epic", epic);
            }
            if !task.summary.trim().is_empty() {
                out.push('\n');
                // To readers of Markdown a carriage return alone ends a line, too.
                for line in task.summary.trim().lines().flat_map(|line| line.split('\r')) {
                    let _ = writeln!(out, "{}", format!("> {line}").trim_end());
                }
            }
            if let Some(outcome) = &task.details.outcome {
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
                decision.id,
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

//! The stored form of a version's operations, in `memory_contexts.operations`: the applied operations, and facts of
//! tasks and decisions that the text does not contain. Records can be rebuilt from them and the texts.

use super::new_version::NewVersion;
use crate::domain::document::{Marks, Record};
use crate::domain::history::OperationDetails;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::memory::OperationName;
use crate::domain::window::{Task, TaskDetails};
use serde_json::{Value, json};

/// The reason of records that were imported directly into the archive.
const TAKEN_OVER: &str = "taken over into the archive";

impl NewVersion {
    /// The stored form of its operations; `None` if there are none.
    pub(super) fn stored_operations(&self) -> Option<Value> {
        let operations = self.operations.iter().map(|operation| {
            let mut stored = json!(operation);
            let is_added = operation.op == OperationName::Add;
            let mut tasks = self.window.tasks.iter();
            if let Some((_, task)) = tasks.find(|(id, _)| is_added && operation.id == Some(*id)) {
                stored["task"] = json!(task);
            }
            stored
        });
        let historic = self.window.historic.iter();
        let historic = historic.map(|(record, task)| {
            json!({
                "op": "history",
                "id": record.id.to_string(),
                "time": record.time,
                "reason": record.reason,
                "content": record.content,
                "task": task,
            })
        });
        let all: Vec<Value> = operations.chain(historic).collect();
        (!all.is_empty()).then_some(Value::Array(all))
    }
}

/// Facts about records in the operations of a version that its text does not contain.
pub(in crate::storage) fn operation_details(operations: Option<&Value>) -> OperationDetails {
    let mut details = OperationDetails::default();
    for operation in operations.and_then(Value::as_array).into_iter().flatten() {
        // What was redacted names no record.
        let Some(id) = id_of(&operation["id"]) else {
            continue;
        };
        let text = |name: &str| operation[name].as_str().map(str::to_owned);
        match operation["op"].as_str() {
            Some("archive") => {
                details.reasons.extend(text("reason").map(|reason| (id, reason)));
                let by = id_of(&operation["superseded_by"]);
                details.superseded.extend(by.map(|by| (id, by)));
            }
            Some("history") => {
                let record = Record {
                    id,
                    time: text("time").and_then(|time| time.parse().ok()),
                    marks: Marks::default(),
                    reason: text("reason"),
                    label: None,
                    content: text("content").unwrap_or_default(),
                };
                details.historic.push((record, TAKEN_OVER.to_owned()));
            }
            _ => {}
        }
        if id.kind == RecordKind::Task {
            let task = task_of(&operation["task"]);
            details.tasks.extend(task.map(|task| (id, task)));
        }
    }
    details
}

fn id_of(value: &Value) -> Option<RecordId> {
    value.as_str()?.parse().ok()
}

/// The reported facts of a task, of which a redaction may have removed some.
fn task_of(stored: &Value) -> Option<Task> {
    let text = |name: &str| stored[name].as_str().map(str::to_owned);
    Some(Task {
        task_id: text("task_id").and_then(|id| id.parse().ok()),
        intent: text("intent")?,
        summary: text("summary").unwrap_or_default(),
        details: stored
            .as_object()
            .map(TaskDetails::of_members)
            .unwrap_or_default(),
    })
}

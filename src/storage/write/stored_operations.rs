//! The stored form of a version's operations, in `memory_contexts.operations`: the applied operations, and facts of
//! tasks and decisions that the text does not contain. Records can be rebuilt from them and the texts.

use super::new_version::NewVersion;
use crate::domain::document::{Marks, Record};
use crate::domain::history::OperationDetails;
use crate::domain::ids::{RecordId, RecordKind};
use crate::domain::window::{Task, TaskDetails};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The reason of records that were imported directly into the archive.
const TAKEN_OVER: &str = "taken over into the archive";

impl NewVersion {
    /// The stored form of its operations; `None` if there are none.
    pub(super) fn stored_operations(&self) -> Option<Value> {
        let all = self.operations.iter().map(|operation| {
            let mut stored = json!({
                "op": operation.op.name(),
                "id": operation.id.map(|id| id.to_string()),
                "label": operation.label,
                "reason": operation.reason,
                "content": operation.content,
            });
            if let Some(by) = operation.superseded_by {
                stored["superseded_by"] = json!(by.to_string());
            }
            if !operation.evidence.is_empty() {
                stored["evidence"] = json!(operation.evidence);
            }
            stored
        });
        let mut all: Vec<Value> = all.collect();
        self.window.add_to_operations(&mut all);
        (!all.is_empty()).then_some(Value::Array(all))
    }
}

/// The stored operations of a version.
fn each(operations: Option<&Value>) -> impl Iterator<Item = &Value> {
    operations.and_then(Value::as_array).into_iter().flatten()
}

fn id_of(value: &Value) -> Option<RecordId> {
    value.as_str()?.parse().ok()
}

/// Facts about records in the operations of a version that its text does not contain.
pub(in crate::storage) fn operation_details(operations: Option<&Value>) -> OperationDetails {
    let mut details = OperationDetails::default();
    for operation in each(operations) {
        let Some(id) = id_of(&operation["id"]) else {
            continue;
        };
        if operation["op"] == "archive" {
            if let Some(reason) = operation["reason"].as_str() {
                details.reasons.insert(id, reason.to_owned());
            }
            if let Some(by) = id_of(&operation["superseded_by"]) {
                details.superseded.insert(id, by);
            }
        } else if operation["op"] == "history" {
            let record = Record {
                id,
                time: time_of(&operation["time"]),
                marks: Marks::default(),
                reason: operation["reason"].as_str().map(str::to_owned),
                label: None,
                content: operation["content"].as_str().unwrap_or_default().to_owned(),
            };
            details.historic.push((record, TAKEN_OVER.to_owned()));
        }
    }
    details
}

fn time_of(value: &Value) -> Option<DateTime<Utc>> {
    value.as_str()?.parse().ok()
}

/// Facts in the operations of a version about the tasks that it adds.
pub(in crate::storage) fn task_facts_of_operations(operations: Option<&Value>) -> HashMap<RecordId, Task> {
    let tasks = each(operations).filter_map(|operation| {
        let (id, task) = (id_of(&operation["id"])?, &operation["task"]);
        let text = |name: &str| task[name].as_str().map(str::to_owned);
        let task = Task {
            task_id: text("task_id").and_then(|id| id.parse().ok()),
            intent: text("intent")?,
            summary: text("summary").unwrap_or_default(),
            details: task.as_object().map(TaskDetails::of_members).unwrap_or_default(),
        };
        Some((id, task))
    });
    tasks.filter(|(id, _)| id.kind == RecordKind::Task).collect()
}

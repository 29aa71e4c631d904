//! Facts of tasks and decisions that no document contains.

use crate::domain::ids::{RecordId, TaskId};
use crate::domain::window::{HistoricRecord, Task};
use serde_json::{Value, json};

/// Facts of tasks and decisions that no document contains.
#[derive(Debug, Clone, Default)]
pub struct WindowRows {
    /// The reported facts of tasks that it adds.
    pub tasks: Vec<(RecordId, Task)>,
    /// Records that are added directly to the archive.
    pub historic: Vec<HistoricRecord>,
}

impl WindowRows {
    /// Adds the facts to the operations stored with the version.
    pub(super) fn add_to_operations(&self, operations: &mut Vec<Value>) {
        for operation in operations.iter_mut() {
            let id = operation["id"]
                .as_str()
                .and_then(|id| id.parse::<RecordId>().ok());
            let is = |op: &str| operation["op"] == op;
            let task = self
                .tasks
                .iter()
                .find(|(added, _)| is("add") && Some(*added) == id);
            if let Some((_, task)) = task {
                operation["task"] = task_json(task);
            }
        }
        operations.extend(self.historic.iter().map(|HistoricRecord { record, task }| {
            json!({
                "op": "history",
                "id": record.id.to_string(),
                "time": record.time,
                "reason": record.reason,
                "content": record.content,
                "task": task.as_ref().map(task_json),
            })
        }));
    }
}

fn task_json(task: &Task) -> Value {
    let mut json = json!({
        "task_id": task.task_id.as_ref().map(TaskId::as_str),
        "intent": task.intent,
        "summary": task.summary,
    });
    for (name, value) in task.details.members() {
        json[name] = value;
    }
    json
}

//! The living window: tasks, decisions, status, and their archive.

mod archive;
mod decisions;
mod import;
mod kept;
mod read;
mod status;
mod tasks;

use crate::harness::{Answer, Memory};
use serde_json::{Value, json};

/// POST a task.
async fn record(memory: &Memory, task: Value) -> Answer {
    memory.post("tasks", &task).await
}

/// A task of a number.
fn task(number: usize) -> Value {
    json!({ "task_id": format!("task-{number}"), "intent": format!("Step {number}"), "summary": "Done. All of it." })
}

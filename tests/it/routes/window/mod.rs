//! The living window: tasks, decisions, status, and their archive.

mod archive;
mod decisions;
mod import;
mod kept;
mod read;
mod status;
mod tasks;

use crate::harness::{Answer, Memory};
use reqwest::Method;
use serde_json::{Value, json};

/// POST a task.
async fn record(memory: &Memory<'_>, task: Value) -> Answer {
    Answer::to(memory.request(Method::POST, "tasks").json(&task)).await
}

/// POST a decision.
async fn decide(memory: &Memory<'_>, decision: Value) -> Answer {
    Answer::to(memory.request(Method::POST, "decisions").json(&decision)).await
}

/// PUT a status.
async fn set(memory: &Memory<'_>, status: Value) -> Answer {
    Answer::to(memory.request(Method::PUT, "status").json(&status)).await
}

/// A task of a number.
fn task(number: usize) -> Value {
    json!({ "task_id": format!("task-{number}"), "intent": format!("Step {number}"), "summary": "Done. All of it." })
}

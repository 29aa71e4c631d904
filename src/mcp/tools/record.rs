//! `memory_record`

use super::call::{Call, Done};
use super::definition::{Definition, string, text_or_null, writes};
use crate::mcp::backend::{Backend, Method};
use crate::mcp::failure::Failure;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

pub(super) const NAME: &str = "memory_record";

/// The members of each kind.
const TASK: [&str; 5] = ["task_id", "intent", "summary", "outcome", "epic"];
const DECISION: [&str; 3] = ["decision", "reason", "supersedes"];
const STATUS: [&str; 2] = ["goal", "blocker"];

pub(super) fn definition() -> Definition {
    Definition {
        name: NAME,
        title: "Record a task, a decision or the status",
        description: "Record in one call what just happened. kind task, after each completed task: intent (what was \
            to be done) and summary (what was done), best also task_id, so that a repeat counts once, epic and \
            outcome. kind decision, when something is settled: decision and reason, and supersedes with the id of the \
            decision it replaces. kind status, when the goal or what blocks it changes: goal, blocker (the word none \
            when nothing blocks any more). Do not use it for lessons or code to keep (memory_edit), nor for work that is \
            not finished. The memory is made if it does not exist. \
            Example: {\"vault\": \"acme\", \"memory\": \"parser-agent\", \"kind\": \"task\", \"intent\": \"Add the DSL parser\", \
            \"summary\": \"Line machine, 60 tests, no dependencies\", \"task_id\": \"PARSER-1\"}",
        arguments: json!({
            "kind": { "type": "string", "enum": ["task", "decision", "status"], "description": "What is recorded." },
            "intent": string("task: what was to be done; at most 500 bytes."),
            "summary": string("task: what was done; at most 4,000 bytes."),
            "task_id": string("task: your own id of it, such as PARSER-1; a task sent twice is one."),
            "outcome": { "description": "task: a report on it, any JSON up to 8 KB.", "type": ["object", "array", "string", "number", "boolean"], "items": {} },
            "epic": string("task: the larger work it is a part of."),
            "decision": string("decision: what was decided; at most 2,000 bytes."),
            "reason": string("decision: why."),
            "supersedes": string("decision: the id of the active decision that it replaces, such as D-3."),
            "goal": string("status: what is aimed at; it stays without this, and none clears it."),
            "blocker": string("status: what stands in the way; it stays without this, and none clears it."),
        }),
        required: &["kind"],
        output: json!({
            "record_id": { "type": "string", "description": "task, decision: the id of its record." },
            "content": { "type": "string", "description": "task, decision: what is kept." },
            "archived": { "type": "array", "items": { "type": "string" }, "description": "The records that left the document for it." },
            "version": { "type": "integer", "description": "The newest version now." },
            "context_id": { "type": "string" },
            "unchanged": { "type": "boolean", "description": "It was recorded already." },
            "goal": text_or_null(),
            "blocker": text_or_null(),
        }),
        always: &["version"],
        hints: writes(),
        of_memory: true,
    }
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    arguments.retain(|_, value| !value.is_null());
    let kind = arguments.remove("kind");
    let (method, route, members) = match kind.as_ref().and_then(Value::as_str) {
        Some("task") => (Method::Post, "tasks", &TASK[..]),
        Some("decision") => (Method::Post, "decisions", &DECISION[..]),
        Some("status") => (Method::Put, "status", &STATUS[..]),
        _ => {
            return Err(Failure::argument(
                "kind",
                "the argument kind must be one of: task, decision, status",
            ));
        }
    };
    if let Some(other) = arguments.keys().find(|name| !members.contains(&name.as_str())) {
        return Err(Failure::argument(
            other,
            format!(
                "the argument {other} is none of kind {route}; its arguments are: {}",
                members.join(", ")
            ),
        ));
    }
    let ask = place.ask(method, &[route]).json(&Value::Object(arguments));
    Ok(call.json(ask).await?.into())
}

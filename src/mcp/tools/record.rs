//! `memory_record`

use super::definition::{Definition, schema_of, writes};
use super::{Call, Done};
use crate::mcp::arguments;
use crate::mcp::backend::Backend;
use crate::mcp::failure::Failure;
use http::Method;
use rmcp::model::JsonObject;
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// What is recorded.
    #[serde(skip_serializing)]
    kind: Kind,
    /// task: what was to be done; at most 500 bytes.
    intent: Option<String>,
    /// task: what was done; at most 4,000 bytes.
    summary: Option<String>,
    /// task: your own id of it, such as PARSER-1; a task sent twice is one.
    task_id: Option<String>,
    /// task: a report on it, any JSON up to 8 KB.
    outcome: Option<Value>,
    /// task: the larger work it is a part of.
    epic: Option<String>,
    /// decision: what was decided; at most 2,000 bytes.
    decision: Option<String>,
    /// decision: why.
    reason: Option<String>,
    /// decision: the id of the active decision that it replaces, such as D-3.
    supersedes: Option<String>,
    /// status: what is aimed at; it stays without this, and none clears it.
    goal: Option<String>,
    /// status: what stands in the way; it stays without this, and none clears it.
    blocker: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Task,
    Decision,
    Status,
}

pub(super) fn record() -> Definition {
    Definition {
        name: "memory_record",
        title: "Record a task, a decision or the status",
        description: "Record in one call what just happened. kind task, after each completed task: intent (what was \
            to be done) and summary (what was done), best also task_id, so that a repeat counts once, epic and \
            outcome. kind decision, when something is settled: decision and reason, and supersedes with the id of the \
            decision it replaces. kind status, when the goal or what blocks it changes: goal, blocker (the word none \
            when nothing blocks any more). Do not use it for lessons or code to keep (memory_edit), nor for work that is \
            not finished. The memory is made if it does not exist. \
            Example: {\"vault\": \"acme\", \"memory\": \"parser-agent\", \"kind\": \"task\", \"intent\": \"Add the DSL parser\", \
            \"summary\": \"Line machine, 60 tests, no dependencies\", \"task_id\": \"PARSER-1\"}",
        arguments: schema_of::<Arguments>(),
        always: &["version"],
        hints: writes(),
        of_memory: true,
    }
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let arguments: Arguments = arguments::read(arguments)?;
    let (method, route, members) = match arguments.kind {
        Kind::Task => (
            Method::POST,
            "tasks",
            &["task_id", "intent", "summary", "outcome", "epic"][..],
        ),
        Kind::Decision => (
            Method::POST,
            "decisions",
            &["decision", "reason", "supersedes"][..],
        ),
        Kind::Status => (Method::PUT, "status", &["goal", "blocker"][..]),
    };
    let mut body = json!(arguments);
    if let Some(body) = body.as_object_mut() {
        body.retain(|_, value| !value.is_null());
        if let Some(other) = body.keys().find(|name| !members.contains(&name.as_str())) {
            let detail = format!(
                "the argument {other} is none of kind {route}; its arguments are: {}",
                members.join(", ")
            );
            return Err(Failure::argument(other, detail));
        }
    }
    Ok(call.json(place.ask(method, &[route]).json(&body)).await?.into())
}

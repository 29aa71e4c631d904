//! `memory_update`

use super::call::{Call, Done, read_json};
use super::definition::{Definition, string, writes};
use crate::mcp::arguments;
use crate::mcp::backend::{Backend, Method, RouteRequest};
use crate::mcp::failure::Failure;
use crate::mcp::frames::{Frame, Frames};
use crate::mcp::response::StreamResponse;
use futures::StreamExt as _;
use rmcp::model::{JsonObject, ProgressNotificationParam, ProgressToken};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const NAME: &str = "memory_update";

pub(super) fn definition() -> Definition {
    Definition {
        name: NAME,
        title: "Have a memory updated",
        description: "Tell what was done, and let the service's own models update progress, learnings and snippets of \
            the memory from the task and the messages. Use it once at the end of a session or a larger piece of work, \
            with the messages that matter: what was asked, found out and decided. Without wait it is queued and the \
            call returns at once; with wait: true it returns what was changed. Do not use it for single facts you can \
            state yourself (memory_edit is exact and needs no model), nor on every turn. Messages are told to the \
            configured models: leave secrets out. Example: {\"vault\": \"acme\", \"memory\": \"parser-agent\", \"task\": \
            \"Wire the parser to the update route\", \"messages\": [{\"role\": \"user\", \"content\": \"Tests fail on CI\"}, \
            {\"role\": \"assistant\", \"content\": \"Root cause: CI has no database\"}], \"wait\": true}",
        arguments: json!({
            "task": string("What was just done or is being done."),
            "messages": {
                "type": "array", "description": "The conversation around it, oldest first.",
                "items": { "type": "object", "required": ["role", "content"],
                    "properties": { "role": string("user, assistant, tool or system."), "content": string("What is said.") } },
            },
            "record": { "type": "object", "description": "The finished task, recorded in the same version: intent, summary, and where they are known task_id, outcome, epic, goal, blocker.",
                "properties": { "intent": string("What was to be done."), "summary": string("What was done."), "task_id": string("Your own id of it."), "epic": string("The larger work it is a part of."), "goal": string("What is aimed at now."), "blocker": string("What stands in the way.") } },
            "wait": { "type": "boolean", "description": "Wait for the models and return what was changed." },
        }),
        required: &["task"],
        output: json!({
            "update_id": { "type": "string" },
            "vault_id": { "type": "string" },
            "memory_id": { "type": "string" },
            "status": { "type": "string", "description": "queued, applied, unchanged, or proposed where a person has to approve it." },
            "version": { "type": ["integer", "null"], "description": "The newest version now; null while it is queued." },
            "operations": { "type": "array", "items": { "type": "object" }, "description": "What was changed." },
            "rejected": { "type": "array", "items": { "type": "object" }, "description": "What the models wrote that was not taken." },
            "warnings": { "type": "array", "items": { "type": "object" } },
            "log": { "type": "string", "description": "The change in words." },
        }),
        always: &["update_id", "status"],
        hints: writes().open_world(true),
        of_memory: true,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: String,
    messages: Option<Vec<Value>>,
    record: Option<Value>,
    wait: Option<bool>,
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let Arguments {
        task,
        messages,
        record,
        wait,
    } = arguments::read(arguments)?;
    let token = call.context.meta.get_progress_token();
    // A client that asks for progress notifications also wants the result.
    let wait = wait.unwrap_or(token.is_some());
    let mut body = json!({ "task": task, "messages": messages.unwrap_or_default() });
    if let Some(record) = record {
        body["record"] = record;
    }
    let ask = place.ask(Method::Post, &["update"]).json(&body);
    let structured = match (wait, token) {
        (false, _) => queued(&call.json(ask.header("prefer", "respond-async")).await?),
        (true, None) => shown(call.json(ask).await?),
        (true, Some(token)) => shown(watched(&call, ask, token).await?),
    };
    Ok(structured.into())
}

/// The result for a queued update.
fn queued(run: &Value) -> Value {
    json!({
        "update_id": run["update_id"], "vault_id": run["vault_id"], "memory_id": run["memory_id"],
        "status": run["status"], "version": run["version"],
        "log": "The update is queued. It is seen in memory_history, view log, once it is done.",
    })
}

/// The answer without the diff, which the log describes in words.
fn shown(mut answer: Value) -> Value {
    if let Value::Object(members) = &mut answer {
        members.remove("diff");
    }
    answer
}

/// Runs the update and notifies each step.
async fn watched<B: Backend>(
    call: &Call<'_, B>,
    ask: RouteRequest,
    token: ProgressToken,
) -> Result<Value, Failure> {
    let ask = ask.accept("text/event-stream");
    let mut stream = match call.backend.open(&call.context.extensions, ask).await? {
        StreamResponse::Refused(answer) if answer.status == 200 => return read_json(&answer),
        StreamResponse::Refused(answer) => return Err(Failure::of_answer(&answer)),
        StreamResponse::Stream(stream) => stream,
    };
    let (mut frames, mut steps) = (Frames::default(), 0_u32);
    while let Some(piece) = stream.next().await {
        for Frame { event, data } in frames.feed(&piece?) {
            let data: Value = serde_json::from_str(&data).unwrap_or_default();
            match event.as_str() {
                "done" => return Ok(data),
                "problem" => {
                    let status = data.get("status").and_then(Value::as_u64).unwrap_or_default();
                    return Err(Failure::of_problem(
                        data,
                        u16::try_from(status).unwrap_or(500),
                        None,
                    ));
                }
                step => {
                    steps += 1;
                    let notification = ProgressNotificationParam::new(token.clone(), f64::from(steps))
                        .with_message(sentence(step, &data));
                    // A failed notification must not stop the update.
                    let _ = call.context.peer.notify_progress(notification).await;
                }
            }
        }
    }
    Err(Failure::new(
        "the connection to the service was lost; whether the update was executed is unknown",
        "Look at memory_history, view log, before you call again.",
    ))
}

/// A step in words.
fn sentence(step: &str, data: &Value) -> String {
    let role = data.get("role").and_then(Value::as_str).unwrap_or_default();
    match step {
        "started" => "started".to_owned(),
        "captured" => format!("read version {}", data["version"]),
        "asked" => format!("asked the model of {role}"),
        "asked_again" => format!("asked the model of {role} again about faulty items"),
        "answered" => format!("the model of {role} answered"),
        "model_failed" => format!("the model of {role} failed"),
        "merged" => "applied the operations".to_owned(),
        "saved" => format!("saved version {}", data["version"]),
        other => other.to_owned(),
    }
}

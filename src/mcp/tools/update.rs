//! `memory_update` and `memory_consolidate`

use super::{Call, Done};
use crate::mcp::arguments;
use crate::mcp::backend::{Backend, RouteRequest, StreamResponse, events, parse};
use crate::mcp::failure::Failure;
use futures::{StreamExt as _, pin_mut};
use http::{HeaderName, HeaderValue, Method};
use rmcp::model::{JsonObject, ProgressNotificationParam, ProgressToken};
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// What was just done or is being done.
    task: String,
    /// The conversation around it, oldest first, as the interface of OpenAI or of Anthropic has it.
    #[serde(default)]
    #[schemars(with = "Vec<Message>")]
    messages: Vec<Value>,
    /// The finished task, recorded in the same version: intent, summary, and where they are known task_id, outcome, epic,
    /// goal, blocker.
    #[schemars(with = "Option<JsonObject>")]
    record: Option<Value>,
    /// What is done with items that neither the task nor the messages support; not laxer than the service allows.
    evidence: Option<Evidence>,
    /// Wait for the models and return what was changed.
    wait: Option<bool>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Evidence {
    /// They are not saved.
    Reject,
    /// They are saved with a warning.
    Warn,
    /// They are not looked for.
    Off,
}

/// What the route reads of a message; other members are passed over.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes the messages, which the route reads")]
struct Message {
    /// user, assistant, tool or system.
    role: String,
    /// What is said: a text, parts such as text, tool_use and tool_result, or null.
    content: Option<Content>,
    /// Tools that an assistant calls (OpenAI).
    tool_calls: Option<Vec<JsonObject>>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes the messages, which the route reads")]
enum Content {
    Text(String),
    Parts(Vec<JsonObject>),
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Consolidation {
    /// What the model is told besides its instructions, such as what to look at.
    instructions: Option<String>,
}

pub(super) async fn call_consolidate<B: Backend>(
    call: Call<'_, B>,
    mut arguments: JsonObject,
) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let Consolidation { instructions } = arguments::read(arguments)?;
    let body = json!({ "mode": "propose", "instructions": instructions });
    let ask = place.ask(Method::POST, &["consolidate"]).json(&body);
    let mut structured = call.json(ask).await?;
    if let Value::Object(members) = &mut structured {
        // The log describes it in words.
        members.remove("diff");
    }
    Ok(structured.into())
}

pub(super) async fn call<B: Backend>(call: Call<'_, B>, mut arguments: JsonObject) -> Result<Done, Failure> {
    let place = call.place(&mut arguments)?;
    let arguments: Arguments = arguments::read(arguments)?;
    let token = call.context.meta.get_progress_token();
    // A client that asks for progress notifications also wants the result.
    let wait = arguments.wait.unwrap_or(token.is_some());
    let mut body = json!({ "task": arguments.task, "messages": arguments.messages });
    if let Some(record) = arguments.record {
        body["record"] = record;
    }
    if let Some(evidence) = arguments.evidence {
        body["evidence"] = json!(evidence);
    }
    let ask = place.ask(Method::POST, &["update"]).json(&body);
    let mut structured = match (wait, token) {
        (false, _) => {
            let later = HeaderValue::from_static("respond-async");
            queued(
                &call
                    .json(ask.header(HeaderName::from_static("prefer"), later))
                    .await?,
            )
        }
        (true, None) => call.json(ask).await?,
        (true, Some(token)) => watched(&call, ask, token).await?,
    };
    if let Value::Object(members) = &mut structured {
        // The log describes it in words.
        members.remove("diff");
    }
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

/// Runs the update and notifies each step.
async fn watched<B: Backend>(
    call: &Call<'_, B>,
    ask: RouteRequest,
    token: ProgressToken,
) -> Result<Value, Failure> {
    let ask = ask.accept("text/event-stream");
    let stream = match call.backend.open(&call.context.extensions, ask).await? {
        StreamResponse::Whole(answer) if answer.status() == 200 => return parse(&answer),
        StreamResponse::Whole(answer) => return Err(Failure::of_answer(&answer)),
        StreamResponse::Stream(stream) => events(stream),
    };
    pin_mut!(stream);
    let mut steps = 0_u32;
    while let Some(event) = stream.next().await {
        let event = event?;
        let (Some(step), Some(data)) = (event.event, event.data) else {
            continue;
        };
        let data: Value = serde_json::from_str(&data).unwrap_or_default();
        match step.as_str() {
            "done" => return Ok(data),
            "problem" => {
                let status = data["status"]
                    .as_u64()
                    .and_then(|status| u16::try_from(status).ok());
                return Err(Failure::of_problem(data, status.unwrap_or(500), None));
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
    Err(Failure::new(
        "the connection to the service was lost; whether the update was executed is unknown",
        "Look at memory_history, view log, before you call again.",
    ))
}

/// A step in words.
fn sentence(step: &str, data: &Value) -> String {
    let role = data["role"].as_str().unwrap_or_default();
    match step {
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

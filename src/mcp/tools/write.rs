//! `memory_write`, `memory_edit`, `memory_record`, `memory_handoff`, `memory_update` and `memory_consolidate`

use crate::mcp::backend::{Call, Place, RouteRequest, StreamResponse, events, parse};
use crate::mcp::failure::Failure;
use crate::mcp::tools::{Outcome, with_text};
use futures::{StreamExt as _, pin_mut};
use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderName, HeaderValue, Method};
use rmcp::model::{CallToolResult, JsonObject, ProgressNotificationParam, ProgressToken};
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Write as _;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    /// The whole new document, Markdown.
    text: String,
    /// Write only if this is still the newest version; 0: only if there is none.
    if_version: Option<u64>,
}

pub(super) async fn call_text(call: Call<'_>, arguments: JsonObject) -> Outcome {
    let (place, Text { text, if_version }) = call.read(arguments)?;
    let ask = place.ask(Method::PUT, &["context"]).text(text);
    let ask = match if_version {
        None => ask,
        Some(0) => ask.header(IF_NONE_MATCH, HeaderValue::from_static("*")),
        Some(version) => ask.header(IF_MATCH, tag(&call, &place, version).await?),
    };
    Ok(CallToolResult::structured(call.json(ask).await?))
}

/// The entity tag of a version.
async fn tag(call: &Call<'_>, place: &Place, version: u64) -> Result<HeaderValue, Failure> {
    let ask = place.ask(Method::GET, &["contexts", &version.to_string()]);
    match call.success(ask).await {
        Ok(answer) => Ok(answer
            .headers()
            .get(ETAG)
            .cloned()
            .unwrap_or(HeaderValue::from_static("\"\""))),
        // Its text was redacted or pruned, so it is not the newest.
        Err(failure) if matches!(failure.status, 404 | 410) => Err(Failure::new(
            format!("the memory has no version {version} that could be its newest"),
            "Nothing was changed. Read the memory with memory_read and use its version, or 0 to begin a memory.",
        )),
        Err(failure) => Err(failure),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// Key Learnings.
    learnings: Option<Changes<Learning>>,
    /// Verbatim Context.
    snippets: Option<Changes<Snippet>>,
    /// Current Progress, replaced as a whole.
    progress: Option<Progress>,
    /// Do everything but save.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Changes<T> {
    /// New ones; each gets an id.
    add: Option<Vec<T>>,
    /// Records that are wrong, replaced or have served their purpose.
    archive: Option<Vec<Archive>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Learning {
    /// Why it is worth keeping.
    reason: String,
    /// The insight, one line.
    content: String,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Snippet {
    /// Why it is worth keeping.
    reason: String,
    /// What it is, in a few words.
    label: String,
    /// The snippet, kept byte for byte.
    content: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Archive {
    /// The id, such as KL-3 or VC-2.
    id: String,
    /// Why it goes.
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Progress {
    /// What is done.
    completed: Option<Vec<String>>,
    /// What is being done; at least one.
    #[schemars(required)]
    in_progress: Option<Vec<String>>,
    /// What is left to do.
    remaining: Option<Vec<String>>,
}

pub(super) async fn call_edit(call: Call<'_>, arguments: JsonObject) -> Outcome {
    let (place, edit) = call.read::<Edit>(arguments)?;
    let dry_run = edit.dry_run;
    let operations = edit.operations();
    if operations.is_empty() {
        return Err(Failure::new(
            "the call has nothing to change: it needs learnings, snippets or progress",
            "Call again with at least one item to add or archive, or with progress.",
        ));
    }
    let ask = place
        .ask(Method::POST, &["operations"])
        .query("dry_run", dry_run)
        .json(&json!({ "operations": operations }));
    let structured = call.json(ask).await?;
    refuse_if_nothing_is_left(&structured)?;
    // No model was asked.
    Ok(in_words(structured, &["models", "diff"]))
}

impl Edit {
    /// In the route's format, in the order in which faults refer to them.
    fn operations(self) -> Vec<Value> {
        let mut operations = Vec::new();
        if let Some(progress) = self.progress {
            let lists = [progress.completed, progress.in_progress, progress.remaining];
            let [completed, in_progress, remaining] = lists.map(Option::unwrap_or_default);
            operations.push(json!({ "op": "rewrite_progress", "completed": completed,
                "in_progress": in_progress, "remaining": remaining }));
        }
        let archive =
            |archive: Archive| json!({ "op": "archive", "id": archive.id, "reason": archive.reason });
        if let Some(Changes { add, archive: gone }) = self.learnings {
            operations.extend(gone.into_iter().flatten().map(archive));
            operations.extend(add.into_iter().flatten().map(|Learning { reason, content }| {
                json!({ "op": "add", "section": "learnings", "reason": reason, "content": content })
            }));
        }
        if let Some(Changes { add, archive: gone }) = self.snippets {
            operations.extend(gone.into_iter().flatten().map(archive));
            operations.extend(add.into_iter().flatten().map(|Snippet { reason, label, content }| {
                json!({ "op": "add", "section": "verbatim", "reason": reason, "label": label, "content": content })
            }));
        }
        operations
    }
}

/// An edit whose items were all rejected is a failure; the items contain the reasons.
fn refuse_if_nothing_is_left(answer: &Value) -> Result<(), Failure> {
    let list = |name: &str| answer[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let rejected = list("rejected");
    if rejected.is_empty() || !list("operations").is_empty() {
        return Ok(());
    }
    let mut detail = "nothing was changed, since every item was rejected:".to_owned();
    for item in rejected {
        let text = |name: &str| item[name].as_str().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(
            detail,
            "\n- {} ({}): {}",
            text("kind"),
            text("section"),
            text("detail")
        );
    }
    Err(Failure::new(
        detail,
        "Correct the items and call again; memory_read shows the ids that are there. An item that is there already \
         needs no second one.",
    ))
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// What is recorded.
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

#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Task,
    Decision,
    Status,
}

pub(super) async fn call_record(call: Call<'_>, arguments: JsonObject) -> Outcome {
    let (place, arguments) = call.read::<Record>(arguments)?;
    let (method, kind, route, members) = match arguments.kind {
        Kind::Task => (
            Method::POST,
            "task",
            "tasks",
            &["task_id", "intent", "summary", "outcome", "epic"][..],
        ),
        Kind::Decision => (
            Method::POST,
            "decision",
            "decisions",
            &["decision", "reason", "supersedes"][..],
        ),
        Kind::Status => (Method::PUT, "status", "status", &["goal", "blocker"][..]),
    };
    let mut body = json!(arguments);
    if let Some(body) = body.as_object_mut() {
        body.retain(|name, value| name != "kind" && !value.is_null());
        if let Some(other) = body.keys().find(|name| !members.contains(&name.as_str())) {
            let detail = format!(
                "the argument {other} does not belong to kind {kind}; its arguments are: {}",
                members.join(", ")
            );
            return Err(Failure::argument(other, detail));
        }
        if body.is_empty() && route == "status" {
            let detail = "kind status needs goal, blocker or both; the word none clears one";
            return Err(Failure::argument("goal", detail));
        }
    }
    let ask = place.ask(method, &[route]).json(&body);
    Ok(CallToolResult::structured(call.json(ask).await?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Handoff {
    /// Make a new one if the newest is stale or missing.
    #[serde(default)]
    refresh: bool,
    /// How far back it looks, such as 6h or PT6H; goes with refresh.
    window: Option<String>,
}

pub(super) async fn call_handoff(call: Call<'_>, arguments: JsonObject) -> Outcome {
    let (place, Handoff { refresh, window }) = call.read(arguments)?;
    let ask = match (refresh, window) {
        (true, window) => place
            .ask(Method::POST, &["handoff", "refresh"])
            .maybe("window", window),
        (false, None) => place.ask(Method::GET, &["handoff"]),
        (false, Some(_)) => {
            return Err(Failure::new(
                "window goes with refresh: a handoff that is there already keeps its window",
                "Call again with refresh: true, or without window.",
            ));
        }
    };
    Ok(with_text(call.json(ask).await?, "markdown"))
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Update {
    /// What was just done or is being done.
    task: String,
    /// The conversation around it, oldest first, as the interface of OpenAI or of Anthropic has it.
    #[serde(default)]
    #[schemars(with = "Vec<Message>")]
    messages: Vec<Value>,
    /// The finished task, recorded in the same version.
    #[schemars(with = "Option<SessionRecord>")]
    record: Option<Value>,
    /// What is done with items that neither the task nor the messages support: reject them, warn and save them, or off, do not look for
    /// them; not laxer than the service allows.
    evidence: Option<Evidence>,
    /// Wait for the models and return what was changed.
    wait: Option<bool>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Evidence {
    Reject,
    Warn,
    Off,
}

/// What the route reads of the record.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes the record, which the route reads")]
struct SessionRecord {
    /// What was to be done; at most 500 bytes.
    intent: String,
    /// What was done; at most 4,000 bytes.
    summary: String,
    /// Your own id of it; a task sent twice is one.
    task_id: Option<String>,
    /// A report on it, any JSON up to 8 KB.
    outcome: Option<Value>,
    /// The larger work it is a part of.
    epic: Option<String>,
    /// What is aimed at now.
    goal: Option<String>,
    /// What stands in the way.
    blocker: Option<String>,
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

pub(super) async fn call_consolidate(call: Call<'_>, arguments: JsonObject) -> Outcome {
    let (place, Consolidation { instructions }) = call.read(arguments)?;
    let body = json!({ "mode": "propose", "instructions": instructions });
    let ask = place.ask(Method::POST, &["consolidate"]).json(&body);
    Ok(in_words(call.json(ask).await?, &["diff"]))
}

pub(super) async fn call_update(call: Call<'_>, arguments: JsonObject) -> Outcome {
    let (place, mut arguments) = call.read::<Update>(arguments)?;
    let token = call.context.meta.get_progress_token();
    // A client that asks for progress notifications also wants the result.
    let wait = arguments.wait.take().unwrap_or(token.is_some());
    let ask = place.ask(Method::POST, &["update"]).options(&arguments)?;
    let structured = match (wait, token) {
        (false, _) => {
            let later = HeaderValue::from_static("respond-async");
            let ask = ask.header(HeaderName::from_static("prefer"), later);
            queued(&call.json(ask).await?)
        }
        (true, None) => call.json(ask).await?,
        (true, Some(token)) => watched(&call, ask, token).await?,
    };
    Ok(in_words(structured, &["diff"]))
}

/// The result of what has a log, which says in words what some members say.
fn in_words(mut structured: Value, said: &[&str]) -> CallToolResult {
    if let Value::Object(members) = &mut structured {
        members.retain(|name, _| !said.contains(&name.as_str()));
    }
    CallToolResult::structured(structured)
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
async fn watched(call: &Call<'_>, ask: RouteRequest, token: ProgressToken) -> Result<Value, Failure> {
    let ask = ask.accept("text/event-stream");
    let stream = match call.open(ask).await? {
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

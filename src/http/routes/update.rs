//! `POST M/update`: the request, and its response, whose mode `Accept` and `Prefer` (RFC 7240) choose: at the end of the update; its
//! steps as server-sent events, then its response; or as soon as the update is stored.

use crate::domain::evidence::Strictness;
use crate::domain::ids::TaskId;
use crate::domain::operation::Role;
use crate::domain::window::{STATUS_BYTES, SessionRecord, TaskDetails};
use crate::fair::Party;
use crate::http::extract::body::{JsonBody, Object, exact};
use crate::http::extract::caller::{Actor, ActorHeader, CallerOf, UnderClaim};
use crate::http::extract::headers::{Accept, ConditionHeaders, Conditions, Representation, list_header};
use crate::http::extract::params::{MemoryPath, Path};
use crate::http::feed::{ServerSentEvent, frame};
use crate::http::middleware::access::Admission;
use crate::http::middleware::bounds::Slot;
use crate::http::problem::Problem;
use crate::http::routes::events::{EVENT_STREAM, OpenStream};
use crate::http::routes::tasks::checked_task;
use crate::http::routes::window::below;
use crate::http::routes::window::fields::{self, NonBlank};
use crate::http::state::AppState;
use crate::pipeline::history::{self, InvalidMessage};
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::{ModeKind, OnInvalid, Step, Target, UpdateInput, UpdateRequest};
use crate::storage::idempotency::KeptAnswer;
use crate::storage::updates::Run;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, State};
use axum::http::header::LOCATION;
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::{self, unfold};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use strum::VariantNames as _;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::Instrument;
use utoipa::openapi::schema::{ObjectBuilder, Type};

/// What was done, for the models to update the document with.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = UpdateRequest)]
pub(crate) struct UpdateBody {
    /// What was just done or is being done.
    #[schema(value_type = NonBlank)]
    task: String,
    /// The conversation around it, oldest first, in the form of OpenAI's or of Anthropic's messages.
    #[serde(default)]
    #[schema(value_type = Vec<Message>)]
    messages: Vec<serde_json::Value>,
    /// Do everything but save.
    #[serde(default)]
    dry_run: bool,
    /// Save what the other roles say when a role's model fails.
    #[serde(default)]
    allow_partial: bool,
    /// What to do about items that stay faulty.
    #[serde(default)]
    on_invalid: OnInvalid,
    /// What to do about items that the task and the messages do not support; at least as strict as the service's
    /// `pipeline.evidence`, which holds without it.
    evidence: Option<Strictness>,
    /// The roles to ask; all of them without it.
    #[serde(default = "all_roles")]
    #[schema(min_items = 1)]
    roles: Vec<Role>,
    /// `propose`: everything but the save; it waits until somebody approves it. With a key of the role `proposer` it
    /// always does.
    #[serde(default = "apply")]
    mode: ModeKind,
    /// What the session ends with: a task record, and the status if it changes, in the same version.
    #[schema(value_type = Option<RecordBody>, nullable = false)]
    record: Option<Object<RecordBody>>,
}

fn all_roles() -> Vec<Role> {
    Role::ALL.to_vec()
}

fn apply() -> ModeKind {
    ModeKind::Apply
}

/// What a client would like, for the documentation.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "documents the header that `ResponseMode` reads")]
pub(crate) struct PreferHeader {
    /// `respond-async`: answer as soon as the update is stored, and run it later.
    #[param(rename = "Prefer", nullable = false, example = "respond-async")]
    prefer: Option<String>,
}

/// Update the document
///
/// Asks three models in parallel, one a section, and applies what they answer to the document as it stands by
/// then. The memory is created if it does not exist. With a `record`, the end of a session is one call and one version; a
/// call with a `task_id` that is recorded already is `unchanged`, and no model is asked. With `mode` `propose` nothing
/// is saved until `ApproveUpdate`.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/update",
    params(ActorHeader, ConditionHeaders, PreferHeader),
    request_body(content = UpdateBody, content_type = "application/json"),
    responses(
        (status = 200, description = "What was changed, what was not, and why; with `Accept: text/event-stream` the steps as they are made, then an event `done` with that or `problem` with a problem.", content(
            (UpdateAnswer = "application/json"),
            (ServerSentEvent<'static> = "text/event-stream"),
        )),
        (status = 202, description = "With `Prefer: respond-async`: it is stored and will be run; its run as `GetUpdate` shows it.", body = Run, headers(("Location"), ("Preference-Applied"))),
        (status = 409, description = "Progress kept changing while it was rewritten, `record.task_id` belongs to a task that says something else (`record_id`), or the memory was deleted meanwhile; nothing was saved."),
        (status = 422, description = "The request is not valid, items stayed faulty with `on_invalid` `fail`, or the document would be too large; nothing was saved."),
        (status = 429, description = "The queue of updates of this memory or this vault is full, or the models of the vault have used the day's tokens; `Retry-After` says when to come back."),
        (status = 502, description = "A model failed; nothing was saved."),
        (status = 504, description = "A model did not answer in time; nothing was saved."),
    )
)]
#[expect(clippy::too_many_arguments, reason = "one for each extractor")]
pub(crate) async fn update_context(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    caller: CallerOf,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    response_mode: ResponseMode,
    JsonBody(body): JsonBody<UpdateBody>,
) -> Result<Response, Problem> {
    body.check()?;
    if let Some(evidence) = body.evidence {
        at_least(evidence, state.pipeline.evidence())?;
    }
    let request = UpdateRequest {
        to: Target::new(vault_id, memory_id, actor, conditions.for_write()),
        input: UpdateInput {
            task: body.task,
            messages: history::read(&body.messages)?,
            dry_run: body.dry_run,
            allow_partial: body.allow_partial,
            on_invalid: body.on_invalid,
            evidence: body.evidence,
            roles: body.roles.into_iter().collect(),
            mode: caller.mode(body.mode == ModeKind::Propose),
            record: body
                .record
                .map(|Object(record)| record.into_record())
                .transpose()?,
            consolidation: false,
        },
        watcher: None,
        idempotency: None,
    };
    respond(&state, request, claim, response_mode).await
}

/// Runs an update, or queues it, and answers as the client prefers.
pub(super) async fn respond(
    state: &AppState,
    request: UpdateRequest,
    claim: UnderClaim,
    response_mode: ResponseMode,
) -> Result<Response, Problem> {
    match response_mode {
        ResponseMode::Sync(slot) => at_end(state, request, claim, slot, ok).await,
        ResponseMode::Stream(slot, _) if claim.0.is_some() => at_end(state, request, claim, slot, done).await,
        ResponseMode::Stream(slot, admission) => streamed(state, request, slot, admission).await,
        ResponseMode::Async => {
            let run = state
                .pipeline
                .accept(request, claim.answering(queued), false)
                .await?;
            Ok(queued(&run).into_response())
        }
    }
}

/// Runs an update, and responds at its end.
async fn at_end(
    state: &AppState,
    mut request: UpdateRequest,
    claim: UnderClaim,
    slot: Option<Slot>,
    response: fn(&UpdateAnswer) -> KeptAnswer,
) -> Result<Response, Problem> {
    if let Some(slot) = slot {
        // It waits for models, and is limited as an update.
        slot.leave();
    }
    request.idempotency = claim.answering(response);
    Ok(response(&state.pipeline.update(request).await?).into_response())
}

/// The response of an update that has ended.
pub(super) fn ok(answer: &UpdateAnswer) -> KeptAnswer {
    KeptAnswer::json(StatusCode::OK, answer)
}

/// The stream of an update that runs once for its key: the last event alone, since it is stored for retries with what the
/// update saves.
fn done(answer: &UpdateAnswer) -> KeptAnswer {
    KeptAnswer {
        status: StatusCode::OK.as_u16(),
        headers: EVENT_STREAM
            .map(|(name, value)| (name.to_string(), value.to_owned()))
            .to_vec(),
        body: frame("done", None, answer).to_vec(),
    }
}

/// The response for a queued update, with the location of its run.
fn queued(run: &Run) -> KeptAnswer {
    KeptAnswer::json(StatusCode::ACCEPTED, run)
        .with(
            LOCATION,
            below(
                &run.vault_id,
                &run.memory_id,
                &format!("updates/{}", run.update_id),
            ),
        )
        .with(PREFERENCE_APPLIED, RESPOND_ASYNC)
}

/// Reports the preference that was applied (RFC 7240).
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

impl UpdateBody {
    /// Checks what the types do not ensure.
    fn check(&self) -> Result<(), Problem> {
        fields::required("task", &self.task, usize::MAX)?;
        if self.roles.is_empty() {
            return Err(Problem::invalid(
                "roles",
                "roles must name at least one of: progress, learnings, verbatim",
            ));
        }
        Ok(())
    }
}

/// A request may be stricter than the service, not laxer.
fn at_least(asked: Strictness, configured: Strictness) -> Result<(), Problem> {
    if asked >= configured {
        return Ok(());
    }
    Err(Problem::invalid(
        "evidence",
        format!(
            "evidence `{asked}` is laxer than this service allows (pipeline.evidence = {configured}); send {}, or leave \
             it out",
            Strictness::VARIANTS
                .iter()
                .skip_while(|name| **name != configured.to_string())
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(" or ")
        ),
    ))
}

/// One message of the conversation, as the APIs of OpenAI and Anthropic have it. Members that are not named here are
/// passed over. What is kept is the text form.
#[derive(utoipa::ToSchema)]
#[schema(example = json!({"role": "user", "content": "Add a DSL parser"}))]
#[expect(dead_code, reason = "documents what the pipeline reads")]
pub(super) struct Message {
    /// Who says it: `user`, `assistant`, `system`, `developer`, `tool`, `function`, or anything.
    #[schema(value_type = NonBlank)]
    role: String,
    /// What is said: a text, parts, or null. A message with `tool_calls` may leave it out.
    content: Option<MessageContent>,
    /// Tools that an assistant calls (OpenAI). Kept as `[tool call NAME] {arguments}` in its message.
    tool_calls: Option<Vec<MessageToolCall>>,
    /// The one tool that an assistant calls, in the old form.
    function_call: Option<MessageCalled>,
    /// Why an assistant says nothing else.
    refusal: Option<String>,
}

/// What a message says.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "documents what the pipeline reads")]
enum MessageContent {
    Text(String),
    Parts(Vec<MessagePart>),
}

/// A part of a message. By its type it needs `text`, `refusal`, or `name` and `input`.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[expect(dead_code, reason = "documents what the pipeline reads")]
struct MessagePart {
    #[schema(schema_with = part_types)]
    r#type: String,
    /// For a text.
    text: Option<String>,
    /// For a refusal.
    refusal: Option<String>,
    /// For a call: the name of the tool.
    name: Option<String>,
    /// For a call: the arguments of the tool.
    input: Option<serde_json::Value>,
    /// For a result: a text or parts. It becomes a separate message with the role `tool`.
    content: Option<serde_json::Value>,
    /// For a result: whether the tool failed.
    is_error: Option<bool>,
    /// For a document or a search result.
    title: Option<String>,
}

/// The types of parts, as the pipeline knows them.
fn part_types() -> utoipa::openapi::Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(
            "What it is. Images, sounds and files are kept as `[image]`, `[audio]`, `[video]` and `[file NAME]`, without their bytes; \
             what a model thinks is left out.",
        ))
        .enum_values(Some(history::KNOWN.split(", ")))
        .build()
}

/// A call of a tool.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "documents what the pipeline reads")]
struct MessageToolCall {
    /// `function` without it.
    r#type: Option<ToolCallType>,
    /// With the type `function`.
    function: Option<MessageCalled>,
    /// With the type `custom`.
    custom: Option<MessageCalled>,
}

/// The kinds of calls.
#[derive(utoipa::ToSchema)]
#[schema(as = MessageToolCallType, rename_all = "lowercase")]
#[expect(dead_code, reason = "documents what the pipeline reads")]
enum ToolCallType {
    Function,
    Custom,
}

/// What is called.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "documents what the pipeline reads")]
struct MessageCalled {
    /// The tool.
    name: String,
    /// What it is given: JSON as text.
    arguments: Option<String>,
    /// What a custom tool is given.
    input: Option<String>,
}

impl From<InvalidMessage> for Problem {
    fn from(error: InvalidMessage) -> Self {
        Self::invalid(&error.field, error.to_string())
    }
}

/// What a session ends with.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SessionRecord, example = json!({"intent": "Add DSL parser", "summary": "FSM over lines, 60 tests"}))]
pub(crate) struct RecordBody {
    /// What was to be done; at most 500 bytes. An equal bullet of In Progress, case and blanks aside, moves to Completed.
    #[schema(value_type = NonBlank)]
    intent: String,
    /// What was done; at most 4,000 bytes. Its first sentence stands in the archive.
    #[schema(value_type = NonBlank)]
    summary: String,
    /// What the caller calls the task, unique within the memory: a call that is sent twice is one.
    #[schema(value_type = Option<TaskId>)]
    task_id: Option<String>,
    /// A report on it, any JSON of at most 8,192 bytes without blanks; numbers that a double cannot hold are refused.
    /// With `"success": false` the task counts as failed.
    #[serde(default, deserialize_with = "exact")]
    outcome: Option<Value>,
    /// The larger work it is a part of; at most 128 bytes.
    #[schema(value_type = Option<NonBlank>)]
    epic: Option<String>,
    /// What is aimed at from now on; at most 1,000 bytes. Without it the goal that stands there stays.
    #[schema(value_type = Option<NonBlank>)]
    goal: Option<String>,
    /// What stands in the way; at most 1,000 bytes. A goal without one says that nothing does.
    #[schema(pattern = r"^[^\u0000]*$")]
    blocker: Option<String>,
}

impl RecordBody {
    /// The validated record.
    ///
    /// # Errors
    /// 422 that names the field and the limit.
    pub(super) fn into_record(self) -> Result<SessionRecord, Problem> {
        if let Some(goal) = &self.goal {
            fields::required("record.goal", goal, STATUS_BYTES)?;
        }
        if let Some(blocker) = &self.blocker {
            fields::optional("record.blocker", blocker, STATUS_BYTES)?;
        }
        let details = TaskDetails {
            outcome: self.outcome,
            epic: self.epic,
        };
        let told = (self.intent, self.summary);
        Ok(SessionRecord {
            task: checked_task("record.", self.task_id, told, details, true)?,
            goal: self.goal,
            blocker: self.blocker,
        })
    }
}

/// How long the start of the stream is delayed, so that an early failure still has its own HTTP status.
const EARLY: Duration = Duration::from_millis(250);

/// Runs an update and streams its steps. The update continues if the client disconnects.
///
/// # Errors
/// An error before the first step.
async fn streamed(
    state: &AppState,
    mut request: UpdateRequest,
    slot: Option<Slot>,
    admission: Admission,
) -> Result<Response, Problem> {
    let open = OpenStream::new(state)?;
    if let Some(slot) = &slot {
        // It counts as a stream and, where it does more than wait, as an update.
        slot.leave();
    }
    let (sender, mut steps) = unbounded_channel();
    request.watcher = Some(sender);
    let (pipeline, time) = (state.pipeline.clone(), state.settings.update_timeout);
    let work = async move {
        let _slot = slot;
        match timeout(time, pipeline.update(request)).await {
            Ok(result) => result.map_err(Problem::from),
            Err(_) => Err(Problem::given_up(time)),
        }
    };
    let update = tokio::spawn(Party::current().scope(work).in_current_span());
    let first = match timeout(EARLY, steps.recv()).await {
        // The sender is dropped when the update ends.
        Ok(None) => {
            let done = frame("done", None, &ended(update).await?);
            return Ok(open.response(state, stream::iter([done]), admission));
        }
        Ok(first) => first,
        Err(_) => None,
    };
    let first = stream::iter(first.map(|step| shown(&step)));
    let steps = unfold(steps, |mut steps| async move {
        let step = steps.recv().await?;
        Some((shown(&step), steps))
    });
    let end = stream::once(async move {
        match ended(update).await {
            Ok(answer) => frame("done", None, &answer),
            Err(problem) => frame("problem", None, &problem.into_body()),
        }
    });
    Ok(open.response(state, first.chain(steps).chain(end), admission))
}

fn shown(step: &Step) -> Bytes {
    frame(step.name(), None, &step.details())
}

async fn ended(update: JoinHandle<Result<UpdateAnswer, Problem>>) -> Result<UpdateAnswer, Problem> {
    update.await.unwrap_or_else(|error| Err(Problem::internal(error)))
}

/// The response mode that the client requests with `Prefer` and `Accept`.
pub(crate) enum ResponseMode {
    /// Synchronous: respond at the end of the update.
    Sync(Option<Slot>),
    /// Stream the steps, then the response. The slot has the reservation of the request's bytes, since the work may outlive
    /// the connection; the stream ends when the credentials of the request become invalid.
    Stream(Option<Slot>, Admission),
    /// Asynchronous: respond as soon as the update is stored.
    Async,
}

impl<S: Send + Sync> FromRequestParts<S> for ResponseMode {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let preferences = list_header(&parts.headers, &PREFER, "Prefer")?;
        if preferences.is_some_and(|list| asks_for_async(&list)) {
            return Ok(Self::Async);
        }
        let accept = Accept::from_request_parts(parts, state).await?;
        let slot = Slot::of(&parts.extensions);
        // A client that accepts neither receives JSON, for compatibility.
        match accept.choose(&[Representation::Json, Representation::EventStream]) {
            Ok(Representation::EventStream) => Ok(Self::Stream(
                slot,
                Admission::from_request_parts(parts, state).await?,
            )),
            _ => Ok(Self::Sync(slot)),
        }
    }
}

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The value of `Preference-Applied` for an asynchronous response.
const RESPOND_ASYNC: &str = "respond-async";

/// Whether the client prefers an asynchronous response. Other preferences are ignored, as the RFC requires.
fn asks_for_async(list: &str) -> bool {
    list.split(',').any(|preference| {
        let name = preference.split(['=', ';']).next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(RESPOND_ASYNC)
    })
}

#[cfg(test)]
mod response_mode_tests {
    use super::*;

    #[test]
    fn the_preference_is_found_among_others() {
        for list in [
            "respond-async",
            "Respond-Async; wait=10",
            "return=minimal, respond-async",
            "respond-async=\"\"",
        ] {
            assert!(asks_for_async(list), "{list}");
        }
        for list in "|wait=10|respond-sync|return=respond-async|x;respond-async".split('|') {
            assert!(!asks_for_async(list), "{list}");
        }
    }
}

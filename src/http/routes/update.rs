//! `POST M/update`

mod messages;
mod record;
mod response_mode;
mod stream;

use crate::domain::evidence::Strictness;
use crate::domain::operation::Role;
use crate::http::extract::caller::{Actor, ActorHeader, CallerOf, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::json::{JsonBody, Object};
use crate::http::extract::path::{MemoryPath, Path};
use crate::http::extract::query::{NoParams, Query};
use crate::http::feed::ServerSentEvent;
use crate::http::json_answer::JsonAnswer;
use crate::http::names::{ModeName, Named, OnInvalidName, RoleName, StrictnessName};
use crate::http::problem::Problem;
use crate::http::routes::updates::RunBody;
use crate::http::routes::window::fields;
use crate::http::state::AppState;
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::{ModeKind, Steps, UpdateInput, UpdateRequest, history};
use crate::storage::updates::Run;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use record::RecordBody;
use response_mode::RESPOND_ASYNC;
pub(super) use response_mode::ResponseMode;
use serde::Deserialize;
use strum::VariantNames as _;

/// What was done, for the models to update the document with.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = UpdateRequest)]
pub(crate) struct UpdateBody {
    /// What was just done or is being done.
    #[schema(min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$")]
    task: String,
    /// The conversation around it, oldest first, in the form of OpenAI's or of Anthropic's messages.
    #[serde(default)]
    #[schema(value_type = Vec<messages::MessageBody>)]
    messages: Vec<serde_json::Value>,
    /// Do everything but save.
    #[serde(default)]
    dry_run: bool,
    /// Save what the other roles say when a role's model fails.
    #[serde(default)]
    allow_partial: bool,
    /// What to do about items that stay faulty.
    #[serde(default)]
    on_invalid: OnInvalidName,
    /// What to do about items that the task and the messages do not support; at least as strict as the service's
    /// `pipeline.evidence`, which holds without it.
    evidence: Option<StrictnessName>,
    /// The roles to ask; all of them without it.
    #[serde(default = "all_roles")]
    #[schema(min_items = 1)]
    roles: Vec<RoleName>,
    /// `propose`: everything but the save; it waits until somebody approves it. With a key of the role `proposer` it
    /// always does.
    #[serde(default = "apply")]
    mode: ModeName,
    /// What the session ends with: a task record, and the status if it changes, in the same version.
    #[schema(value_type = Option<RecordBody>, nullable = false)]
    record: Option<Object<RecordBody>>,
}

fn all_roles() -> Vec<RoleName> {
    Role::ALL.map(Named).to_vec()
}

fn apply() -> ModeName {
    Named(ModeKind::Apply)
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
    operation_id = "UpdateContext",
    tag = "updates",
    params(ActorHeader, ConditionHeaders, PreferHeader),
    request_body(content = UpdateBody, content_type = "application/json"),
    responses(
        (status = 200, description = "What was changed, what was not, and why; with `Accept: text/event-stream` the steps as they are made, then an event `done` with that or `problem` with a problem.", content(
            (UpdateAnswer = "application/json"),
            (ServerSentEvent<'static> = "text/event-stream"),
        )),
        (status = 202, description = "With `Prefer: respond-async`: it is stored and will be run; its run as `GetUpdate` shows it.", body = RunBody, headers(("Location"), ("Preference-Applied"))),
        (status = 409, description = "Progress kept changing while it was rewritten, `record.task_id` belongs to a task that says something else (`record_id`), or the memory was deleted meanwhile; nothing was saved."),
        (status = 422, description = "The request is not valid, items stayed faulty with `on_invalid` `fail`, or the document would be too large; nothing was saved."),
        (status = 429, description = "The queue of updates of this memory or this vault is full, or the models of the vault have used the day's tokens; `Retry-After` says when to come back."),
        (status = 502, description = "A model failed; nothing was saved."),
        (status = 504, description = "A model did not answer in time; nothing was saved."),
    )
)]
#[expect(clippy::too_many_arguments, reason = "one for each extractor")]
pub(crate) async fn update(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    Query(NoParams): Query<NoParams>,
    caller: CallerOf,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    response_mode: ResponseMode,
    JsonBody(body): JsonBody<UpdateBody>,
) -> Result<Response, Problem> {
    body.check()?;
    if let Some(Named(evidence)) = body.evidence {
        at_least(evidence, state.pipeline.evidence())?;
    }
    let request = UpdateRequest {
        vault: vault_id,
        memory: memory_id,
        actor,
        preconditions: conditions.for_write(),
        input: UpdateInput {
            task: body.task,
            messages: history::read(&body.messages)?,
            dry_run: body.dry_run,
            allow_partial: body.allow_partial,
            on_invalid: body.on_invalid.0,
            evidence: body.evidence.map(|Named(evidence)| evidence),
            roles: body.roles.into_iter().map(|Named(role)| role).collect(),
            mode: caller.mode(body.mode == Named(ModeKind::Propose)),
            record: body
                .record
                .map(|Object(record)| record.into_record())
                .transpose()?,
            consolidation: false,
        },
        steps: Steps::default(),
        idempotency: None,
    };
    respond(&state, request, claim, response_mode).await
}

/// Runs an update, or queues it, and answers as the client prefers.
pub(super) async fn respond(
    state: &AppState,
    mut request: UpdateRequest,
    claim: UnderClaim,
    response_mode: ResponseMode,
) -> Result<Response, Problem> {
    match response_mode {
        ResponseMode::Sync(slot) => {
            if let Some(slot) = slot {
                // It waits for models, and is limited as an update.
                slot.leave();
            }
            request.idempotency = claim.answering(ok);
            Ok(ok(&state.pipeline.update(request).await?).into_response())
        }
        ResponseMode::Stream(watching) => stream::stream(state, request, claim, watching).await,
        ResponseMode::Async => {
            let run = state.pipeline.accept(request, claim.answering(queued)).await?;
            Ok(queued(&run).into_response())
        }
    }
}

/// The response of an update that has ended.
pub(super) fn ok(answer: &UpdateAnswer) -> JsonAnswer {
    JsonAnswer::new(StatusCode::OK, answer)
}

/// The response for a queued update, with the location of its run.
fn queued(run: &Run) -> JsonAnswer {
    JsonAnswer::new(StatusCode::ACCEPTED, &RunBody::full(run.clone()))
        .at(&format!(
            "/v1/vaults/{}/memories/{}/updates/{}",
            run.vault_id, run.memory_id, run.update_id
        ))
        .with(PREFERENCE_APPLIED, HeaderValue::from_static(RESPOND_ASYNC))
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

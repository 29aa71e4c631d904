//! Runs of `/update` and `/operations`, and decisions about proposals: `M/updates`.

use crate::domain::ids::UpdateId;
use crate::http::extract::body::{JsonBody, OptionalJsonBody};
use crate::http::extract::caller::{Actor, ActorHeader, CallerOf, UnderClaim};
use crate::http::extract::headers::{ConditionHeaders, Conditions};
use crate::http::extract::page::{List, Page};
use crate::http::extract::params::{EntryPath, MemoryPath, Path};
use crate::http::problem::{Kind, Problem};
use crate::http::routes::contexts;
use crate::http::routes::update::ok;
use crate::http::routes::window::fields::{self, NonBlank};
use crate::http::state::AppState;
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::{Approval, Target};
use crate::storage::idempotency::KeptAnswer;
use crate::storage::updates::queue::Cancelled;
use crate::storage::updates::{Run, RunStatus};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;

/// List the runs
///
/// The newest first, without what the models were asked and answered.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates",
    params(Page),
    responses(
        (status = 200, description = "One page.", body = List<Run>),
        (status = 404, description = "There is no such memory, nor a run that tried to make it."),
    )
)]
pub(crate) async fn list_updates(
    State(state): State<AppState>,
    Path((vault_id, memory_id)): MemoryPath,
    page: Page,
) -> Result<Json<List<Run>>, Problem> {
    let before = page.after::<UpdateId>()?;
    let _list = state.budget.list().await?;
    let runs = state
        .storage
        .list_runs(&vault_id, &memory_id, before.as_ref(), page.fetch())
        .await?;
    if runs.items.is_empty() {
        contexts::require(&state, &vault_id, &memory_id).await?;
    }
    Ok(Json(page.of(runs, |run| run.update_id.clone(), |run| run)))
}

/// Read one run
///
/// With the prompts, the raw answers, the tokens and the times.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates/{update_id}",
    responses(
        (status = 200, description = "The run.", body = Run),
    )
)]
pub(crate) async fn get_update(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<UpdateId>,
) -> Result<Json<Run>, Problem> {
    let run = state.storage.run(&vault_id, &memory_id, &entry).await?;
    let run =
        run.ok_or_else(|| Problem::not_found("there is no such memory or run").with("field", "update_id"))?;
    Ok(Json(run))
}

/// Call an update off
///
/// One that is queued or running is cancelled at once and saves nothing any more; a model that is being asked for it
/// may answer for nobody. One that has ended stays as it is.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates/{update_id}",
    responses(
        (status = 200, description = "It is cancelled; its run.", body = Run),
        (status = 409, description = "It has ended; `run_status` says how."),
    )
)]
pub(crate) async fn cancel_update(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<UpdateId>,
) -> Result<Json<Run>, Problem> {
    match state.storage.cancel_update(&vault_id, &memory_id, &entry).await? {
        Cancelled::Done(run) => Ok(Json(*run)),
        Cancelled::Unknown => {
            Err(Problem::not_found("there is no such memory or run").with("field", "update_id"))
        }
        Cancelled::Ended(status) => Err(Problem::new(
            Kind::Conflict,
            match status {
                RunStatus::Proposed => "the update is a proposal by now: approve or reject it".to_owned(),
                status => format!("the update has ended already: it is {}", status.name()),
            },
        )
        .with("field", "update_id")
        .with("run_status", status.name())),
    }
}

/// The maximum length of a comment or reason, in bytes.
const SAID_BYTES: usize = 2_000;

/// What is approved.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApproveRequest {
    /// The numbers of the approved operations; without it all. A `record` of the proposal is always applied.
    #[schema(value_type = Option<Vec<u32>>, nullable = false)]
    operations: Option<Vec<usize>>,
    /// What is said about it; at most 2,000 bytes. It stands in the log of the version.
    #[schema(pattern = r"^[^\u0000]*$")]
    comment: Option<String>,
}

/// Approve a proposal
///
/// Checks the approved operations against the newest version and applies those that hold as one version, made by the
/// proposal's actor; its log says who approved it. What no longer holds is in `rejected`. A proposal is decided once. A
/// key never approves its own proposal.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates/{update_id}/approve",
    params(ActorHeader, ConditionHeaders),
    request_body(content = Option<ApproveRequest>, content_type = "application/json"),
    responses(
        (status = 200, description = "What was changed, what was not, and why.", body = UpdateAnswer),
        (status = 409, description = "It is not a proposal, or was already decided; `run_status` says what it is."),
        (status = 410, description = "It has expired, was deleted, or what it quotes was redacted."),
        (status = 412, description = "A precondition is not satisfied; nothing was saved, and the proposal keeps waiting."),
        (status = 422, description = "The request is not valid, names an operation that the proposal does not have, or the document would be too large; the proposal keeps waiting."),
    )
)]
pub(crate) async fn approve_update(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<UpdateId>,
    caller: CallerOf,
    claim: UnderClaim,
    Actor(actor): Actor,
    conditions: Conditions,
    OptionalJsonBody(body): OptionalJsonBody<ApproveRequest>,
) -> Result<KeptAnswer, Problem> {
    if let Some(comment) = &body.comment {
        fields::optional("comment", comment, SAID_BYTES)?;
    }
    let approval = Approval {
        to: Target::new(vault_id, memory_id, actor, conditions.for_write()),
        update_id: entry,
        key: caller.key_id(),
        operations: body.operations,
        comment: body.comment,
        idempotency: claim.answering(ok),
    };
    Ok(ok(&Box::pin(state.pipeline.approve(approval)).await?))
}

/// Why a proposal is rejected.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectRequest {
    /// For whoever proposed it; at most 2,000 bytes.
    #[schema(value_type = NonBlank)]
    reason: String,
}

/// Reject a proposal
///
/// Nothing of it is applied; the run is kept with the reason. A proposal is decided once.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates/{update_id}/reject",
    params(ActorHeader, ConditionHeaders),
    request_body(content = RejectRequest, content_type = "application/json"),
    responses(
        (status = 200, description = "It is rejected; its run.", body = Run),
        (status = 409, description = "It is not a proposal, or was already decided; `run_status` says what it is."),
        (status = 410, description = "It has expired, was deleted, or what it quotes was redacted."),
        (status = 412, description = "A precondition is not satisfied; the proposal keeps waiting."),
    )
)]
pub(crate) async fn reject_update(
    State(state): State<AppState>,
    Path((vault_id, memory_id, entry)): EntryPath<UpdateId>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    JsonBody(RejectRequest { reason }): JsonBody<RejectRequest>,
) -> Result<KeptAnswer, Problem> {
    fields::required("reason", &reason, SAID_BYTES)?;
    let to = Target::new(vault_id, memory_id, actor, conditions.for_write());
    let under = claim.answering(rejected_answer);
    let rejected = state.pipeline.reject(&to, &entry, &reason, under.as_ref());
    Ok(rejected_answer(&rejected.await?))
}

fn rejected_answer(rejected: &Run) -> KeptAnswer {
    KeptAnswer::json(StatusCode::OK, rejected)
}

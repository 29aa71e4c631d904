//! `POST M/updates/{update_id}/approve` and `…/reject`

use super::view::RunBody;
use crate::domain::ids::{KeyId, UpdateId};
use crate::http::extract::caller::{Actor, ActorHeader, CallerOf, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::json::{JsonBody, OptionalJsonBody};
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::json_answer::JsonAnswer;
use crate::http::problem::Problem;
use crate::http::routes::window::fields;
use crate::http::state::AppState;
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::{Approval, Rejecting};
use crate::storage::updates::Run;
use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;

/// The maximum length of a comment or reason, in bytes.
const SAID_BYTES: usize = 2_000;

/// What is approved.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ApproveRequest)]
pub(crate) struct ApproveBody {
    /// The numbers of the operations that are approved; without it all of them. A `record` of the proposal is always
    /// applied.
    #[schema(value_type = Option<Vec<u32>>, nullable = false)]
    operations: Option<Vec<usize>>,
    /// What is said about it; at most 2,000 bytes. It stands in the log of the version.
    #[schema(pattern = r"^[^\u0000]*$")]
    comment: Option<String>,
}

/// The approving key, and the claim of the idempotency key.
pub(crate) struct Approver {
    /// The key of the request.
    key: Option<KeyId>,
    claim: UnderClaim,
}

impl<S: Send + Sync> FromRequestParts<S> for Approver {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let caller = CallerOf::from_request_parts(parts, state).await?;
        let Ok(claim) = UnderClaim::from_request_parts(parts, state).await;
        Ok(Self {
            key: caller.key_id(),
            claim,
        })
    }
}

/// Approve a proposal
///
/// Checks the approved operations against the newest version and applies those that hold as one version, made by the
/// proposal's actor; its log says who approved it. What no longer holds is in `rejected`. A proposal is decided once. A
/// key never approves its own proposal.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates/{update_id}/approve",
    operation_id = "ApproveUpdate",
    tag = "updates",
    params(ActorHeader, ConditionHeaders),
    request_body(content = Option<ApproveBody>, content_type = "application/json"),
    responses(
        (status = 200, description = "What was changed, what was not, and why.", body = UpdateAnswer),
        (status = 404, description = "There is no such run."),
        (status = 409, description = "It is not a proposal, or was already decided; `run_status` says what it is."),
        (status = 410, description = "It has expired, its memory was deleted, or what it quotes was redacted."),
        (status = 412, description = "A precondition is not satisfied; nothing was saved, and the proposal keeps waiting."),
        (status = 422, description = "The request is not valid, names an operation that the proposal does not have, or the document would be too large; the proposal keeps waiting."),
    )
)]
pub(crate) async fn approve(
    State(state): State<AppState>,
    EntryPath {
        vault_id,
        memory_id,
        entry,
    }: EntryPath<UpdateId>,
    Query(NoParams): Query<NoParams>,
    Approver { key, claim }: Approver,
    Actor(actor): Actor,
    conditions: Conditions,
    OptionalJsonBody(body): OptionalJsonBody<ApproveBody>,
) -> Result<JsonAnswer, Problem> {
    if let Some(comment) = &body.comment {
        fields::optional("comment", comment, SAID_BYTES)?;
    }
    let approval = Approval {
        vault: vault_id,
        memory: memory_id,
        update_id: entry,
        actor,
        key,
        preconditions: conditions.for_write(),
        operations: body.operations,
        comment: body.comment,
    };
    let under = claim.answering(approved_answer);
    let approved = Box::pin(state.pipeline.approve(approval, under.as_ref())).await?;
    Ok(approved_answer(&approved))
}

fn approved_answer(approved: &UpdateAnswer) -> JsonAnswer {
    JsonAnswer::new(StatusCode::OK, approved)
}

/// Why a proposal is rejected.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RejectRequest)]
pub(crate) struct RejectBody {
    /// For whoever proposed it; at most 2,000 bytes.
    #[schema(min_length = 1, pattern = r"^[^\u0000]*[^\s\u0000][^\u0000]*$")]
    reason: String,
}

/// Reject a proposal
///
/// Nothing of it is applied; the run is kept with the reason. A proposal is decided once.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates/{update_id}/reject",
    operation_id = "RejectUpdate",
    tag = "updates",
    params(ActorHeader, ConditionHeaders),
    request_body(content = RejectBody, content_type = "application/json"),
    responses(
        (status = 200, description = "It is rejected; its run.", body = RunBody),
        (status = 404, description = "There is no such run."),
        (status = 409, description = "It is not a proposal, or was already decided; `run_status` says what it is."),
        (status = 410, description = "It has expired, its memory was deleted, or what it quotes was redacted."),
        (status = 412, description = "A precondition is not satisfied; the proposal keeps waiting."),
    )
)]
pub(crate) async fn reject(
    State(state): State<AppState>,
    EntryPath {
        vault_id,
        memory_id,
        entry,
    }: EntryPath<UpdateId>,
    Query(NoParams): Query<NoParams>,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    JsonBody(RejectBody { reason }): JsonBody<RejectBody>,
) -> Result<JsonAnswer, Problem> {
    fields::required("reason", &reason, SAID_BYTES)?;
    let rejecting = Rejecting {
        vault: vault_id,
        memory: memory_id,
        update_id: entry,
        actor,
        preconditions: conditions.for_write(),
        reason,
    };
    let under = claim.answering(rejected_answer);
    Ok(rejected_answer(
        &state.pipeline.reject(rejecting, under.as_ref()).await?,
    ))
}

fn rejected_answer(rejected: &Run) -> JsonAnswer {
    JsonAnswer::new(StatusCode::OK, &RunBody::full(rejected.clone()))
}

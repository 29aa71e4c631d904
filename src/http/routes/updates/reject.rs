//! `POST M/updates/{update_id}/reject`

use super::approve::SAID_BYTES;
use super::view::RunBody;
use crate::domain::ids::UpdateId;
use crate::http::extract::actor::{Actor, ActorHeader};
use crate::http::extract::claim::UnderClaim;
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::json::JsonBody;
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::json_answer::JsonAnswer;
use crate::http::problem::Problem;
use crate::http::routes::window::fields;
use crate::http::state::AppState;
use crate::pipeline::Rejecting;
use crate::storage::updates::Run;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;

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
        (status = 409, description = "It is no proposal, or was decided already; `run_status` says what it is."),
        (status = 410, description = "It has expired, its memory was deleted, or what it quotes was redacted."),
        (status = 412, description = "A precondition does not hold; it waits on."),
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
    let under = claim.answering(answer);
    Ok(answer(&state.pipeline.reject(rejecting, under.as_ref()).await?))
}

fn answer(rejected: &Run) -> JsonAnswer {
    JsonAnswer::new(StatusCode::OK, &RunBody::full(rejected.clone()))
}

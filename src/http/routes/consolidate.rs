//! `POST M/consolidate`

use super::update::ok;
use crate::http::extract::caller::{Actor, ActorHeader, CallerOf, UnderClaim};
use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::json::OptionalJsonBody;
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::json_answer::JsonAnswer;
use crate::http::names::{ModeName, Named};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::pipeline::report::UpdateAnswer;
use crate::pipeline::{ModeKind, OnInvalid, OperationsInput, OperationsRequest};
use axum::extract::State;
use serde::Deserialize;

/// How a memory is consolidated.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ConsolidateRequest)]
pub(crate) struct ConsolidateBody {
    /// `propose`, the default: the operations wait until somebody approves them. `apply`: they are saved.
    #[serde(default = "propose")]
    #[schema(required = false, default = json!("propose"))]
    mode: ModeName,
}

fn propose() -> ModeName {
    Named(ModeKind::Propose)
}

impl Default for ConsolidateBody {
    fn default() -> Self {
        Self { mode: propose() }
    }
}

/// Consolidate a memory
///
/// Finds records that can be archived without losing anything: those that have expired, learnings and snippets that say no
/// more than another one, and decisions that a newer one names as superseded. A learning goes only if every number, date,
/// name, identifier, path and content word of it stands in the one that stays, and both negate the same. Never a pinned
/// record, and at most a fifth of a section at once. Each step is checked again on the version that it is saved on, also
/// when it is approved. No model is asked; the same memory gives the same operations.
#[utoipa::path(
    post,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/consolidate",
    operation_id = "ConsolidateMemory",
    tag = "updates",
    params(ActorHeader, ConditionHeaders),
    request_body(content = Option<ConsolidateBody>, content_type = "application/json"),
    responses(
        (status = 200, description = "What is proposed or was changed, and why; `unchanged` if nothing can go.", body = UpdateAnswer),
        (status = 404, description = "There is no such memory."),
        (status = 409, description = "The memory was deleted meanwhile."),
        (status = 422, description = "The request is not valid."),
        (status = 429, description = "The queue of updates of this memory is full."),
    )
)]
#[expect(clippy::too_many_arguments, reason = "one for each extractor")]
pub(crate) async fn consolidate(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(NoParams): Query<NoParams>,
    caller: CallerOf,
    Actor(actor): Actor,
    conditions: Conditions,
    claim: UnderClaim,
    OptionalJsonBody(body): OptionalJsonBody<ConsolidateBody>,
) -> Result<JsonAnswer, Problem> {
    if !state.storage.memory_exists(&vault_id, &memory_id).await? {
        return Err(Problem::not_found("there is no such memory"));
    }
    let request = OperationsRequest {
        vault: vault_id,
        memory: memory_id,
        actor,
        preconditions: conditions.for_write(),
        input: OperationsInput::Consolidation {},
        dry_run: false,
        on_invalid: OnInvalid::Drop,
        max_additions: None,
        resolves: None,
        idempotency: claim.answering(ok),
        mode: caller.mode(body.mode == propose()),
    };
    Ok(ok(&Box::pin(state.pipeline.apply_operations(request)).await?))
}

//! `DELETE M`

use crate::http::extract::conditions::{ConditionHeaders, Conditions};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::extract::State;
use axum::http::StatusCode;

/// Delete a memory
///
/// With its versions, records, runs and prompt items, for good. What is put under its id later is a new memory that begins
/// at version 1. What can be deleted is what can be read and is listed, and one thing more: runs that failed to make a
/// memory are deleted under its id, which `GET` of the memory and lists do not know. The preconditions are about the
/// document: of a memory that has only prompt items `If-Match: *` does not hold, and `If-None-Match: *` does.
#[utoipa::path(
    delete,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}",
    operation_id = "DeleteMemory",
    tag = "memories",
    params(ConditionHeaders),
    responses(
        (status = 204, description = "It is gone."),
        (status = 404, description = "There is no such memory, and no run of it."),
    )
)]
pub(crate) async fn delete(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(NoParams): Query<NoParams>,
    conditions: Conditions,
) -> Result<StatusCode, Problem> {
    let preconditions = conditions.for_write();
    state
        .storage
        .delete_memory(&vault_id, &memory_id, &preconditions)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

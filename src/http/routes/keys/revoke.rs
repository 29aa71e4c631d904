//! `DELETE /v1/keys/{key_id}`

use crate::http::extract::caller::CallerOf;
use crate::http::extract::path::KeyPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::extract::State;
use axum::http::StatusCode;

/// Revoke a key
///
/// It is refused from now on, by every instance within a second. It stays in the list. Revoking it again changes
/// nothing. When the last key is revoked the service goes on asking for one; `working-memory keys create` makes it.
#[utoipa::path(
    delete,
    path = "/v1/keys/{key_id}",
    operation_id = "RevokeKey",
    tag = "keys",
    responses(
        (status = 204, description = "It is revoked."),
        (status = 404, description = "There is no such key."),
    )
)]
pub(crate) async fn revoke(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    KeyPath { key_id }: KeyPath,
    Query(NoParams): Query<NoParams>,
) -> Result<StatusCode, Problem> {
    super::visible(&state, &caller, &key_id).await?;
    if !state.storage.revoke_key(&key_id).await? {
        return Err(super::missing());
    }
    state.gate.forget();
    tracing::info!(%key_id, "a key was revoked");
    Ok(StatusCode::NO_CONTENT)
}

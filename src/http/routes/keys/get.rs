//! `GET /v1/keys/{key_id}`

use super::view::KeyBody;
use crate::http::extract::caller::CallerOf;
use crate::http::extract::path::KeyPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::Json;
use axum::extract::State;

/// Get a key
///
/// All but its secret, which nobody can show again.
#[utoipa::path(
    get,
    path = "/v1/keys/{key_id}",
    operation_id = "GetKey",
    tag = "keys",
    responses(
        (status = 200, description = "The key.", body = KeyBody),
        (status = 404, description = "There is no such key."),
    )
)]
pub(crate) async fn get(
    State(state): State<AppState>,
    CallerOf(caller): CallerOf,
    KeyPath { key_id }: KeyPath,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<KeyBody>, Problem> {
    let key = super::visible(&state, &caller, &key_id).await?;
    Ok(Json(KeyBody::of(key, state.clock.now())))
}

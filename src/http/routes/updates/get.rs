//! `GET M/updates/{update_id}`

use super::view::RunBody;
use crate::domain::ids::UpdateId;
use crate::http::extract::path::EntryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use axum::Json;
use axum::extract::State;

/// Read one run
///
/// With the prompts, the raw answers, the tokens and the times.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates/{update_id}",
    operation_id = "GetUpdate",
    tag = "updates",
    responses(
        (status = 200, description = "The run.", body = RunBody),
        (status = 404, description = "There is no such memory or run."),
    )
)]
pub(crate) async fn get(
    State(state): State<AppState>,
    EntryPath {
        vault_id,
        memory_id,
        entry,
    }: EntryPath<UpdateId>,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<RunBody>, Problem> {
    let run = state.storage.run(&vault_id, &memory_id, &entry).await?;
    let run =
        run.ok_or_else(|| Problem::not_found("there is no such memory or run").with("field", "update_id"))?;
    Ok(Json(RunBody::full(run)))
}

//! `GET M/updates`

use super::view::RunBody;
use crate::domain::ids::UpdateId;
use crate::fair::Party;
use crate::http::budget::LIST_BYTES;
use crate::http::extract::page::{List, Page};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::routes::lookup;
use crate::http::state::AppState;
use axum::Json;
use axum::extract::State;

/// List the runs
///
/// The newest first, without what the models were asked and answered.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/updates",
    operation_id = "ListUpdates",
    tag = "updates",
    params(Page),
    responses(
        (status = 200, description = "One page.", body = List<RunBody>),
        (status = 404, description = "There is no such memory, nor a run that tried to make it."),
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(page): Query<Page>,
) -> Result<Json<List<RunBody>>, Problem> {
    let name = format!("updates/{vault_id}/{memory_id}");
    let before = page.after::<UpdateId>(&name)?;
    let _work = state.budget.work(&Party::current(), LIST_BYTES).await?;
    let runs = state
        .storage
        .list_runs(&vault_id, &memory_id, before.as_ref(), page.fetch())
        .await?;
    if runs.items.is_empty() {
        lookup::require(&state, &vault_id, &memory_id).await?;
    }
    Ok(Json(page.of_rows(
        &name,
        runs,
        |run| run.update_id.clone(),
        RunBody::summary,
    )))
}

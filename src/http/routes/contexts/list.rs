//! `GET M/contexts`

use super::view::ContextBody;
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

/// List the versions
///
/// The newest first, without their texts.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/contexts",
    operation_id = "ListContexts",
    tag = "contexts",
    params(Page),
    responses(
        (status = 200, description = "One page.", body = List<ContextBody>),
        (status = 404, description = "There is no such memory."),
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(page): Query<Page>,
) -> Result<Json<List<ContextBody>>, Problem> {
    let name = format!("contexts/{vault_id}/{memory_id}");
    let before = page.after::<i64>(&name)?;
    let _work = state.budget.work(&Party::current(), LIST_BYTES).await?;
    let versions = state
        .storage
        .list_contexts(&vault_id, &memory_id, before, page.fetch())
        .await?;
    if versions.items.is_empty() {
        lookup::require(&state, &vault_id, &memory_id).await?;
    }
    let cap = state.settings.context_bytes;
    Ok(Json(page.of_rows(
        &name,
        versions,
        |version| version.version,
        |version| ContextBody::of(&version, cap),
    )))
}

//! `GET M/handoffs`

use crate::http::extract::page::{List, Page};
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::Query;
use crate::http::problem::Problem;
use crate::http::routes::handoff::view::HandoffEntry;
use crate::http::routes::lookup;
use crate::http::state::AppState;
use axum::Json;
use axum::extract::State;

/// List the handoffs
///
/// Those that are kept (`handoff.keep`), the newest first, without their Markdown.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoffs",
    operation_id = "ListHandoffs",
    tag = "handoff",
    params(Page),
    responses(
        (status = 200, description = "One page.", body = List<HandoffEntry>),
        (status = 404, description = "There is no such memory."),
    )
)]
pub(crate) async fn list(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(page): Query<Page>,
) -> Result<Json<List<HandoffEntry>>, Problem> {
    let name = format!("handoffs/{vault_id}/{memory_id}");
    let before = page.after::<i64>(&name)?;
    let handoffs = state
        .storage
        .list_handoffs(&vault_id, &memory_id, before, page.fetch())
        .await?;
    if handoffs.is_empty() {
        lookup::require(&state, &vault_id, &memory_id).await?;
    }
    Ok(Json(page.of(
        &name,
        handoffs,
        |handoff| handoff.number,
        HandoffEntry::from,
    )))
}

//! `GET M/handoff/status`

use super::view::FreshnessBody;
use crate::domain::handoff::Freshness;
use crate::http::extract::path::MemoryPath;
use crate::http::extract::query::{NoParams, Query};
use crate::http::problem::Problem;
use crate::http::routes::lookup;
use crate::http::state::AppState;
use crate::pipeline::judge;
use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Serialize;

/// Whether the newest handoff can be relied on.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = HandoffStatus)]
pub(crate) struct StatusBody {
    /// What is so now.
    #[serde(flatten)]
    freshness: FreshnessBody,
    /// The handoff; null if there is none.
    #[schema(required)]
    handoff_id: Option<String>,
    /// The moment it shows.
    #[schema(required)]
    generated_at: Option<DateTime<Utc>>,
    /// How far back it looks, as a duration of ISO 8601.
    #[schema(required)]
    window: Option<String>,
}

/// Read the handoff's freshness
///
/// `missing` for a memory without a handoff.
#[utoipa::path(
    get,
    path = "/v1/vaults/{vault_id}/memories/{memory_id}/handoff/status",
    operation_id = "GetHandoffStatus",
    tag = "handoff",
    responses(
        (status = 200, description = "The freshness.", body = StatusBody),
        (status = 404, description = "There is no such memory."),
    )
)]
pub(crate) async fn status(
    State(state): State<AppState>,
    MemoryPath { vault_id, memory_id }: MemoryPath,
    Query(NoParams): Query<NoParams>,
) -> Result<Json<StatusBody>, Problem> {
    let Some(handoff) = state.storage.latest_handoff(&vault_id, &memory_id).await? else {
        lookup::require(&state, &vault_id, &memory_id).await?;
        return Ok(Json(StatusBody {
            freshness: (&Freshness::missing()).into(),
            handoff_id: None,
            generated_at: None,
            window: None,
        }));
    };
    let freshness = judge(&state.storage, &handoff).await?;
    Ok(Json(StatusBody {
        freshness: (&freshness).into(),
        handoff_id: Some(handoff.handoff_id.to_string()),
        generated_at: Some(handoff.generated_at),
        window: Some(handoff.window.to_string()),
    }))
}

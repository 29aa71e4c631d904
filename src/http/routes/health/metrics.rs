//! `GET /metrics`

use crate::http::state::AppState;
use crate::storage::HeadCacheUse;
use crate::telemetry::{self, meters};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

/// The media type of the Prometheus text format.
const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The metrics of the process, for Prometheus
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "GetMetrics",
    tag = "health",
    responses((status = 200, description = "In the Prometheus text format.", body = String, content_type = "text/plain; version=0.0.4; charset=utf-8"))
)]
pub(crate) async fn metrics(State(state): State<AppState>) -> impl IntoResponse {
    let (open, idle) = state.storage.pool_size();
    meters::pool(open, idle, state.storage.most_connections());
    let HeadCacheUse {
        hits,
        misses,
        heads,
        bytes,
    } = state.storage.head_cache();
    meters::head_cache(hits, misses, heads, bytes);
    ([(CONTENT_TYPE, MEDIA_TYPE)], telemetry::render_metrics())
}

//! `GET /readyz`

use crate::http::problem::{Kind, Problem};
use crate::http::state::AppState;
use axum::extract::State;

/// Whether the service can work
///
/// Asks the database.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "GetReadiness",
    tag = "health",
    responses(
        (status = 200, description = "It can.", body = String, content_type = "text/plain; charset=utf-8"),
        (status = 503, description = "It cannot; `detail` says what is not ready."),
    )
)]
pub(crate) async fn readyz(State(state): State<AppState>) -> Result<&'static str, Problem> {
    state.storage.ping().await.map_err(|error| {
        Problem::new(Kind::Unavailable, "not ready: the database does not answer")
            .with("not_ready", vec!["database"])
            .retry_after(1)
            .caused_by(error)
    })?;
    Ok("ready\n")
}

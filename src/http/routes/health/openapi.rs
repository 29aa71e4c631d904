//! `GET /openapi.yaml`

use crate::http::openapi::openapi_yaml;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use std::sync::LazyLock;

static DOCUMENT: LazyLock<String> = LazyLock::new(openapi_yaml);

/// This document
#[utoipa::path(
    get,
    path = "/openapi.yaml",
    operation_id = "GetOpenApi",
    tag = "health",
    responses((status = 200, description = "What the service answers, as OpenAPI.", body = String, content_type = "application/yaml"))
)]
pub(crate) async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/yaml")], DOCUMENT.as_str())
}

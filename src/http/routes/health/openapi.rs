//! `GET /openapi.yaml`

use axum::extract::Extension;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use std::sync::OnceLock;

/// The function that generates the document. It is passed in, because the document covers all routes, including this
/// one.
#[derive(Clone, Copy)]
pub(crate) struct Document(pub(crate) fn() -> String);

/// This document
#[utoipa::path(
    get,
    path = "/openapi.yaml",
    operation_id = "GetOpenApi",
    tag = "health",
    responses((status = 200, description = "What the service answers, as OpenAPI.", body = Object, content_type = "application/yaml"))
)]
pub(crate) async fn openapi(Extension(Document(document)): Extension<Document>) -> impl IntoResponse {
    static MADE: OnceLock<String> = OnceLock::new();
    (
        [(CONTENT_TYPE, "application/yaml")],
        MADE.get_or_init(document).as_str(),
    )
}

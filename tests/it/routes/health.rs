//! `/healthz`, `/readyz`, `/metrics`, `/openapi.yaml`, and paths that no route has.

use crate::harness::{Service, has, lacks};
use serde_json::json;

#[tokio::test]
async fn a_service_with_its_database_is_ready_and_metrics_count_requests_by_route_and_never_by_id() {
    let service = Service::start().await;
    let table = r#"
        GET /healthz → 200
        GET /readyz → 200 =ready\ndatabase ok\nschema ok\nwrites ok\n
        GET /v1/vaults/acme/memories/very-secret-id/context → 404
        GET /made/up → 404
        GET /metrics → 200 ~route="/v1/vaults/{vault_id}/memories/{memory_id}/context""#;
    let metrics = service.requests(table).await;
    lacks(metrics.text(), &["very-secret-id", "made/up"]);
    let document = service.get("/openapi.yaml").await.is(200);
    assert_eq!(document.header("content-type"), "application/yaml");
    assert_eq!(document.text(), working_memory::http::openapi_yaml());
}

#[tokio::test]
async fn an_unknown_path_is_answered_with_the_route_that_was_probably_meant() {
    let table = r#"
        GET /health → 404 not-found {"nearest": "/healthz"}
        GET /v1/vault → 404 not-found {"nearest": "/v1/vaults"}
        GET /v1//vaults → 404 not-found {"nearest": "/v1/vaults"}
        GET /v1/vaults/v/memories/m/context/ → 404 not-found {"nearest": "CONTEXT"}
        GET /v1/vaults/v/memorys/m/context → 404 not-found {"nearest": "CONTEXT"}
        GET /v1/vaults/v/memories/m/cotnext → 404 not-found {"nearest": "CONTEXT"}
        GET /v1/vaults/v/memories/m/unrelated → 404 not-found {"nearest": null}
        GET /made/up/and/far → 404 not-found {"nearest": null}
        GET /v2/nothing | X-Request-Id: req-1 → 404 | content-type: application/problem+json | x-content-type-options: nosniff | cache-control: no-store | x-request-id: req-1 | {"nearest": null}
        GET /.env → 404 not-found {"nearest": null}"#;
    let context = "/v1/vaults/{vault_id}/memories/{memory_id}/context";
    let service = Service::start().await;
    service.requests(&table.replace("CONTEXT", context)).await;
}

#[tokio::test]
async fn a_service_with_another_schema_version_is_not_ready_and_says_so() {
    let service = Service::start().await;
    service
        .execute("DELETE FROM _sqlx_migrations WHERE version = (SELECT max(version) FROM _sqlx_migrations)")
        .await;
    let table = r#"GET /readyz | Accept: application/json → 503 unavailable {"not_ready": ["schema"], "checks": {"database": "ok", "schema": "failed", "writes": "unknown"}}"#;
    service.requests(table).await;
    service.execute("DROP TABLE _sqlx_migrations").await;
    let problem = service.refuses("/readyz", 503, "unavailable", None).await;
    has(&problem, json!({"not_ready": ["schema"]}));
    lacks(problem.to_string(), &["_sqlx"]);
    service.get("/healthz").await.is(200);
}

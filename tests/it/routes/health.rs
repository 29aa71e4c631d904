//! `/healthz`, `/readyz`, `/metrics`, `/openapi.yaml`

use crate::harness::Service;
use serde_json::json;

#[tokio::test]
async fn a_service_with_its_database_is_ready() {
    let service = Service::start().await;
    service.get("/healthz").await.is(200);
    let ready = service.get("/readyz").await.is(200);
    assert_eq!(ready.text(), "ready\ndatabase ok\nschema ok\nwrites ok\n");
    let document = service.get("/openapi.yaml").await.is(200);
    assert_eq!(document.header("content-type"), "application/yaml");
    assert_eq!(document.text(), working_memory::http::openapi_yaml());
}

const CONTEXT: &str = "/v1/vaults/{vault_id}/memories/{memory_id}/context";

#[tokio::test]
async fn an_unknown_path_is_answered_with_the_route_that_was_probably_meant() {
    let service = Service::start().await;
    for (path, nearest) in [
        ("/health", Some("/healthz")),
        ("/v1/vault", Some("/v1/vaults")),
        ("/v1//vaults", Some("/v1/vaults")),
        ("/v1/vaults/v/memories/m/context/", Some(CONTEXT)),
        ("/v1/vaults/v/memorys/m/context", Some(CONTEXT)),
        ("/v1/vaults/v/memories/m/cotnext", Some(CONTEXT)),
        ("/v1/vaults/v/memories/m/unrelated", None),
        ("/made/up/and/far", None),
        ("/v2/nothing", None),
        ("/.env", None),
    ] {
        let problem = service.get(path).await.missing();
        assert_eq!(problem["nearest"].as_str(), nearest, "{path}: {problem}");
    }
}

#[tokio::test]
async fn metrics_count_requests_by_route_and_never_by_id() {
    let service = Service::start().await;
    service.memory("very-secret-id").get("context").await.is(404);
    service.get("/made/up").await.is(404);

    let metrics = service.get("/metrics").await.is(200);

    let route = r#"route="/v1/vaults/{vault_id}/memories/{memory_id}/context""#;
    assert!(metrics.text().contains(route), "{}", metrics.text());
    assert!(!metrics.text().contains("very-secret-id") && !metrics.text().contains("made/up"));
}

#[tokio::test]
async fn a_service_with_another_schema_version_is_not_ready_and_says_so() {
    let service = Service::start().await;
    service
        .execute("DELETE FROM _sqlx_migrations WHERE version = (SELECT max(version) FROM _sqlx_migrations)")
        .await;
    let problem = service.refuses("/readyz", 503, "unavailable", None).await;
    assert_eq!(problem["not_ready"], json!(["schema"]));
    assert_eq!(
        problem["checks"],
        json!({"database": "ok", "schema": "failed", "writes": "unknown"})
    );

    service.execute("DROP TABLE _sqlx_migrations").await;
    let problem = service.refuses("/readyz", 503, "unavailable", None).await;
    assert_eq!(problem["not_ready"], json!(["schema"]));
    assert!(!problem.to_string().contains("_sqlx"), "{problem}");
    service.get("/healthz").await.is(200);
}

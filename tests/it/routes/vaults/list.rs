//! `GET /v1/vaults`

use crate::harness::Service;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn vaults_are_listed_with_their_memories_and_last_change() {
    let service = Service::start().await;
    let put = async |vault: &str, memory: &str| {
        let path = format!("/v1/vaults/{vault}/memories/{memory}/context");
        let request = service.request(reqwest::Method::PUT, &path);
        let status = request
            .header("Content-Type", "text/plain")
            .body("x")
            .send()
            .await
            .unwrap()
            .status();
        assert_eq!(status, 201);
    };
    for (vault, memory) in [("two", "a"), ("one", "a"), ("two", "b"), ("three", "a")] {
        put(vault, memory).await;
        service.clock.advance(Duration::from_secs(1));
    }

    let first = service.get("/v1/vaults?limit=2").await.is(200).json();

    assert_eq!(
        first["items"],
        json!([
            {"vault_id": "one", "memories": 1, "changed_at": "2026-11-21T02:00:01Z"},
            {"vault_id": "three", "memories": 1, "changed_at": "2026-11-21T02:00:03Z"},
        ])
    );
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = service
        .get(&format!("/v1/vaults?cursor={cursor}"))
        .await
        .is(200)
        .json();
    assert_eq!(
        second,
        json!({
            "items": [{"vault_id": "two", "memories": 2, "changed_at": "2026-11-21T02:00:02Z"}],
            "next_cursor": null,
        })
    );
}

#[tokio::test]
async fn vaults_are_in_the_order_of_their_bytes_whatever_order_the_database_has() {
    if std::env::var("TEST_CITUS_URL").is_ok() {
        // A distributed table keeps the collation of the column that it is distributed by.
        return;
    }
    let service = Service::start().await;
    sqlx::raw_sql(r#"ALTER TABLE memories ALTER COLUMN vault_id TYPE TEXT COLLATE "en-x-icu""#)
        .execute(service.rows())
        .await
        .unwrap();
    for vault in ["alpha", "Zoo", "beta", "Ape"] {
        let path = format!("/v1/vaults/{vault}/memories/m/context");
        let request = service.request(reqwest::Method::PUT, &path);
        let request = request.header("Content-Type", "text/plain").body("x");
        crate::harness::Answer::to(request).await.is(201);
    }

    let mut listed = Vec::new();
    let mut path = "/v1/vaults?limit=1".to_owned();
    loop {
        let page = service.get(&path).await.is(200).json();
        listed.push(page["items"][0]["vault_id"].as_str().unwrap().to_owned());
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("/v1/vaults?limit=1&cursor={cursor}");
    }

    assert_eq!(listed, ["Ape", "Zoo", "alpha", "beta"]);
}

#[tokio::test]
async fn a_service_without_memories_has_no_vaults() {
    let service = Service::start().await;
    let empty = service.get("/v1/vaults").await.is(200).json();
    assert_eq!(empty, json!({"items": [], "next_cursor": null}));
    service
        .get("/v1/vaults?prefix=a")
        .await
        .problem(422, "invalid", Some("prefix"));
    service
        .get("/v1/vaults?cursor=zz")
        .await
        .problem(400, "malformed", Some("cursor"));
}

#[tokio::test]
async fn a_page_reads_only_the_memories_of_its_own_vaults() {
    let service = Service::start().await;
    sqlx::query(
        "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, created_at, changed_at)
         SELECT 'vault-' || lpad((n % 1000)::text, 4, '0'), 'memory-' || n, 1, 'c-' || n,
                '2026-11-21T02:00:00Z', '2026-11-21T02:00:00Z'
         FROM generate_series(1, 50000) AS n",
    )
    .execute(service.rows())
    .await
    .unwrap();
    sqlx::query("VACUUM ANALYZE memories")
        .execute(service.rows())
        .await
        .unwrap();
    let plan: Vec<String> = sqlx::query_scalar(
        "EXPLAIN SELECT vault_id, count(*), max(changed_at) FROM memories WHERE vault_id > COALESCE(NULL::text, '')
         GROUP BY vault_id ORDER BY vault_id LIMIT 50",
    )
    .fetch_all(service.rows())
    .await
    .unwrap();
    let plan = plan.join("\n");
    assert!(
        plan.contains("Index Scan") && !plan.contains("Seq Scan"),
        "{plan}"
    );

    let page = service.get("/v1/vaults?limit=3").await.is(200).json();
    assert_eq!(
        page["items"][2],
        json!({
            "vault_id": "vault-0002", "memories": 50, "changed_at": "2026-11-21T02:00:00Z",
        })
    );
}

//! `GET /v1/vaults`

use crate::harness::{Memory, Service, each};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn vaults_are_listed_with_their_memories_and_last_change() {
    let service = Service::start().await;
    for (vault, memory) in [("two", "a"), ("one", "a"), ("two", "b"), ("three", "a")] {
        Memory::new(&service, vault, memory).write("x").await;
        service.clock.advance(Duration::from_secs(1));
    }

    let table = r#"
        GET /v1/vaults?limit=2 → 200 {"items": [{"vault_id": "one", "memories": 1, "changed_at": "2026-11-21T02:00:01Z"}, {"vault_id": "three", "memories": 1, "changed_at": "2026-11-21T02:00:03Z"}]} ⇒ cursor=/next_cursor
        GET /v1/vaults?cursor=$cursor → 200 ={"items":[{"vault_id":"two","memories":2,"changed_at":"2026-11-21T02:00:02Z"}],"next_cursor":null}"#;
    service.requests(table).await;
}

#[tokio::test]
async fn vaults_are_in_the_order_of_their_bytes_whatever_order_the_database_has() {
    if std::env::var("TEST_CITUS_URL").is_ok() {
        // A distributed table keeps the collation of the column that it is distributed by.
        return;
    }
    let service = Service::start().await;
    service
        .execute(r#"ALTER TABLE memories ALTER COLUMN vault_id TYPE TEXT COLLATE "en-x-icu""#)
        .await;
    for vault in ["alpha", "Zoo", "beta", "Ape"] {
        Memory::new(&service, vault, "m").write("x").await;
    }

    let listed = json!(service.pages("/v1/vaults?limit=1").await);
    assert_eq!(each(&listed, "vault_id"), ["Ape", "Zoo", "alpha", "beta"]);
}

#[tokio::test]
async fn a_service_without_memories_has_no_vaults() {
    let service = Service::start().await;
    let table = r#"
        GET /v1/vaults → 200 ={"items":[],"next_cursor":null}
        GET /v1/vaults?prefix=a → 422 invalid prefix
        GET /v1/vaults?cursor=zz → 400 malformed cursor"#;
    service.requests(table).await;
}

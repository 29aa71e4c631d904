//! `GET M`

use crate::harness::Service;
use serde_json::json;

#[tokio::test]
async fn a_memory_has_its_newest_version_its_counters_and_its_records() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        PUT context < # Key Learnings\n- KL-4 because a: one\n- KL-5 because b: two\n\n# Decisions\n- D-2 because c: x\n → 201
        +60
        POST operations | X-Actor-Id: ann < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-4 because d\n → 200"##;
    let head = memory.requests(table).await.json();
    let bytes = memory.get("context").await.is(200).body.len();
    assert_eq!(
        memory.about().await,
        json!({
            "vault_id": "acme", "memory_id": "agent", "version": 2, "context_id": head["context_id"],
            "created_at": "2026-11-21T02:00:00Z", "changed_at": "2026-11-21T02:01:00Z", "bytes": bytes,
            "last_actor_id": "ann", "last_source": "operations",
            "counters": {"KL": 5, "VC": 0, "T": 0, "D": 2},
            "records": {
                "active": {"KL": 1, "VC": 0, "T": 0, "D": 1},
                "archived": {"KL": 1, "VC": 0, "T": 0, "D": 0},
            },
            "bytes_limit": 102_400, "open_proposals": 0,
        })
    );
}

#[tokio::test]
async fn a_missing_memory_is_not_found() {
    let (_, memory) = Service::start().await.agent();
    let table = "
        GET . → 404 not-found
        PUT . → 405 method-not-allowed
        GET .?x=1 → 422 invalid x
        GET /v1/vaults/acme/memories/.a → 422 invalid memory_id";
    memory.requests(table).await;
}

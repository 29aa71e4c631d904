//! `GET M`

use crate::harness::{Answer, Service};
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_memory_has_its_newest_version_its_counters_and_its_records() {
    let (service, memory) = Service::start().await.agent();
    memory.write("# Key Learnings\n- KL-4 because a: one\n- KL-5 because b: two\n\n# Decisions\n- D-2 because c: x\n").await;
    service.clock.advance(Duration::from_secs(60));
    let archive = memory.applying("", "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-4 because d\n");
    let head = Answer::to(archive.header("X-Actor-Id", "ann"))
        .await
        .is(200)
        .json();

    let body = memory.about().await;

    let bytes = memory.get("context").await.is(200).body.len();
    assert_eq!(
        body,
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
    let (service, memory) = Service::start().await.agent();
    Answer::to(memory.itself(Method::GET)).await.missing();
    Answer::to(memory.itself(Method::PUT))
        .await
        .problem(405, "method-not-allowed", None);
    let path = "/v1/vaults/acme/memories/agent?x=1";
    service.get(path).await.invalid("x");
    service
        .get("/v1/vaults/acme/memories/.a")
        .await
        .invalid("memory_id");
}

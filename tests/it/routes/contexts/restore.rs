//! `POST M/contexts/{ref}/restore`

use crate::harness::Service;

#[tokio::test]
async fn restoring_creates_a_new_version_and_reactivates_its_records() {
    let (service, memory) = Service::start().await.agent();
    let table = r##"
        PUT context < # Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because a: one\n → 201
        +60
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because b: two\n  ARCHIVE:\n    - KL-1 because it is over\n → 200
        POST contexts/1/restore | X-Actor-Id: ann → 201 | location: /v1/vaults/acme/memories/agent/contexts/3 | etag: "$id" | {"version": 3, "unchanged": false, "source": "restore", "actor_id": "ann", "/warnings/0/kind": "records_dropped", "/warnings/0/records": ["KL-2"]} ⇒ id=/context_id
        GET context → 200 | etag: "$id" | =# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because a: one\n
        GET records/KL-1 → 200 {"status": "active", "created_version": 1, "created_at": "2026-11-21T02:00:00Z", "ended_version": null, "archive_reason": null}
        GET records/KL-2 → 200 {"status": "archived", "ended_version": 3, "ended_by": "ann", "archive_reason": "left out by version 3"}
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because c: three\n → 200 {"/operations/0/id": "KL-3"}"##;
    memory.requests(table).await;
    let log: String = service
        .value("SELECT log FROM memory_contexts WHERE vault_id = 'acme' AND version = 3")
        .await;
    assert!(
        log.starts_with("version 1 restored: ") && log.contains("KL-1 one"),
        "{log}"
    );
}

#[tokio::test]
async fn restoring_the_current_text_creates_no_version() {
    let (service, memory) = Service::start().await.agent();
    memory
        .requests("PUT context < one → 201\nPUT context < two → 201")
        .await;
    let head = memory.put("one").await.is(201);
    for reference in ["1", "3"] {
        let restored = memory.restore(reference).await.is(200);
        crate::harness::has(
            &restored.json(),
            serde_json::json!({"version": 3, "unchanged": true}),
        );
        assert_eq!(restored.header("etag"), head.header("etag"));
        assert!(!restored.headers.contains_key("location"));
    }
    assert_eq!(service.count("memory_contexts").await, 3);
}

#[tokio::test]
async fn preconditions_are_those_of_a_put() {
    let (_, memory) = Service::start().await.agent();
    let table = "
        PUT context < one → 201 ⇒ old=etag
        PUT context < two → 201 ⇒ head=etag
        POST contexts/1/restore | If-Match: $old → 412 precondition-failed
        POST contexts/1/restore | If-None-Match: $head → 412 precondition-failed
        POST contexts/1/restore | If-None-Match: * → 412 precondition-failed
        ROWS memory_contexts 2
        POST contexts/1/restore | If-Match: $head → 201";
    memory.requests(table).await;
}

#[tokio::test]
async fn missing_and_redacted_versions_cannot_be_restored() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        POST contexts/1/restore → 404 not-found ref
        ROWS memories 0
        PUT context < one → 201
        PUT context < two → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        POST contexts/9/restore → 404 not-found ref
        POST contexts/1/restore → 410 gone ref {"detail~": "redacted"}
        ROWS memory_contexts 2"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_text_over_a_lowered_limit_cannot_be_restored() {
    let service = Service::configured(|config| config.limits.context_bytes = 20).await;
    let memory = service.memory("agent");
    memory.write("one").await;
    let larger = "UPDATE memory_contexts SET context = 'twenty-one characters' WHERE vault_id = 'acme' AND version = 1";
    service.execute(larger).await;
    memory.write("two").await;
    memory.restore("1").await.invalid("ref");
}

#[tokio::test]
async fn a_restore_may_have_a_reason_which_the_log_contains() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        PUT context < one → 201
        PUT context < two → 201
        POST contexts/1/restore < {"reason": " "} → 422
        POST contexts/1/restore < {"reason": "LONG"} → 422
        POST contexts/1/restore < {"why": "x"} → 422
        POST contexts/1/restore < {"reason": "the second was wrong"} → 201
        GET log → 200 {"/items/0/log^": "version 1 restored (because the second was wrong): "}"#;
    memory.requests(&table.replace("LONG", &"x".repeat(1_001))).await;
}

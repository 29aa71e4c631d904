//! `POST M/contexts/{ref}/restore`

use crate::harness::{Answer, Service, has, holds};
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

const FIRST: &str = "# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because a: one\n";

#[tokio::test]
async fn restoring_creates_a_new_version_and_reactivates_its_records() {
    let (service, memory) = Service::start().await.agent();
    memory.write(FIRST).await;
    service.clock.advance(Duration::from_secs(60));
    memory
        .applied("KEY_LEARNINGS:\n  ADD:\n    - because b: two\n  ARCHIVE:\n    - KL-1 because it is over\n")
        .await;

    let request = memory.request(Method::POST, "contexts/1/restore");
    let restored = Answer::to(request.header("X-Actor-Id", "ann")).await.is(201);

    let body = restored.json();
    has(&body, json!({"version": 3, "unchanged": false}));
    has(&body, json!({"source": "restore", "actor_id": "ann"}));
    assert_eq!(restored.header("location"), memory.path("contexts/3"));
    assert_eq!(
        restored.header("etag"),
        format!("\"{}\"", body["context_id"].as_str().unwrap())
    );
    assert_eq!(memory.text().await, FIRST);
    let back = memory.read("records/KL-1").await;
    has(&back, json!({"status": "active", "created_version": 1}));
    assert_eq!(back["created_at"], "2026-11-21T02:00:00Z");
    has(&back, json!({"ended_version": null, "archive_reason": null}));
    let left_out = memory.read("records/KL-2").await;
    has(&left_out, json!({"status": "archived", "ended_version": 3}));
    assert_eq!(left_out["ended_by"], "ann");
    assert_eq!(left_out["archive_reason"], "left out by version 3");
    has(
        &body["warnings"][0],
        json!({"kind": "records_dropped", "records": ["KL-2"]}),
    );
    let log: String = service
        .value("SELECT log FROM memory_contexts WHERE vault_id = 'acme' AND version = 3")
        .await;
    assert!(
        log.starts_with("version 1 restored: ") && log.contains("KL-1 one"),
        "{log}"
    );

    let next = memory.learns("c: three").await;
    assert_eq!(next["operations"][0]["id"], "KL-3");
}

#[tokio::test]
async fn restoring_the_current_text_creates_no_version() {
    let (service, memory) = Service::start().await.agent();
    memory.write("one").await;
    memory.write("two").await;
    let head = memory.put("one").await.is(201);

    for reference in ["1", "3"] {
        let restored = memory.restore(reference).await.is(200);
        has(&restored.json(), json!({"version": 3, "unchanged": true}));
        assert_eq!(restored.header("etag"), head.header("etag"));
        assert!(!restored.headers.contains_key("location"));
    }
    assert_eq!(service.count("memory_contexts").await, 3);
}

#[tokio::test]
async fn preconditions_are_those_of_a_put() {
    let (service, memory) = Service::start().await.agent();
    let old = memory.put("one").await.is(201).header("etag").to_owned();
    let head = memory.put("two").await.is(201).header("etag").to_owned();
    memory
        .requests(&format!(
            "
            POST contexts/1/restore | If-Match: {old} → 412 precondition-failed
            POST contexts/1/restore | If-None-Match: {head} → 412 precondition-failed
            POST contexts/1/restore | If-None-Match: * → 412 precondition-failed"
        ))
        .await;
    assert_eq!(service.count("memory_contexts").await, 2);
    let restore = format!("POST contexts/1/restore | If-Match: {head} → 201");
    memory.requests(&restore).await;
}

#[tokio::test]
async fn missing_and_redacted_versions_cannot_be_restored() {
    let (service, memory) = Service::start().await.agent();
    memory.restore("1").await.problem(404, "not-found", Some("ref"));
    assert_eq!(service.count("memories").await, 0);
    memory.write("one").await;
    memory.write("two").await;
    memory.redact("1").await.is(200);

    memory.restore("9").await.problem(404, "not-found", Some("ref"));
    let error_410 = memory.restore("1").await.problem(410, "gone", Some("ref"));
    holds(error_410["detail"].as_str().unwrap(), &["redacted"]);
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn a_text_over_a_lowered_limit_cannot_be_restored() {
    let service = Service::configured(|config| config.limits.context_bytes = 20).await;
    let memory = service.memory("agent");
    memory.write("one").await;
    sqlx::query("UPDATE memory_contexts SET context = $1 WHERE vault_id = 'acme' AND version = 1")
        .bind("x".repeat(21))
        .execute(service.rows())
        .await
        .unwrap();
    memory.write("two").await;

    memory.restore("1").await.invalid("ref");
}

#[tokio::test]
async fn a_restore_may_have_a_reason_which_the_log_contains() {
    let (_, memory) = Service::start().await.agent();
    memory.write("one").await;
    memory.write("two").await;
    let long = "x".repeat(1_001);
    memory
        .requests(&format!(
            r#"
            POST contexts/1/restore < {{"reason": " "}} → 422
            POST contexts/1/restore < {{"reason": "{long}"}} → 422
            POST contexts/1/restore < {{"why": "x"}} → 422
            POST contexts/1/restore < {{"reason": "the second was wrong"}} → 201"#
        ))
        .await;
    let log = memory.read("log").await;
    let log_text = log["items"][0]["log"].as_str().unwrap();
    assert!(
        log_text.starts_with("version 1 restored (because the second was wrong): "),
        "{log_text}"
    );
}

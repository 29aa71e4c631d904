//! What redaction and deletion remove of tasks.

use super::{decide, record, task};
use crate::harness::{Answer, Service};
use reqwest::Method;
use serde_json::json;

async fn filled() -> Service {
    let service = Service::start_with(|config| config.window.tasks = 1, None).await;
    let memory = service.memory("agent");
    let mut secret = task(1);
    secret["outcome"] = json!({"token": "sk-live-4711"});
    secret["intent"] = json!("Store sk-live-4711");
    secret["epic"] = json!("keys");
    record(&memory, secret).await.is(201);
    record(&memory, task(2)).await.is(201);
    decide(&memory, json!({"decision": "a", "reason": "b"}))
        .await
        .is(201);
    decide(
        &memory,
        json!({"decision": "c", "reason": "d", "supersedes": "D-1"}),
    )
    .await
    .is(201);
    service
}

#[tokio::test]
async fn a_redaction_removes_the_texts_of_a_task() {
    let service = filled().await;
    let memory = service.memory("agent");
    memory.redact("1").await.is(200);
    assert_eq!(
        service.tables_that_hold("sk-live-4711").await,
        Vec::<String>::new()
    );
    let archived = memory.get("records/T-1").await.is(200).json();
    assert_eq!(
        (&archived["intent"], &archived["outcome"]),
        (&json!(""), &json!(null))
    );
    let history = memory.get("archive/history").await.is(200);
    assert!(history.text().contains("T-1 [redacted]"), "{}", history.text());
    assert_eq!(memory.get("records/T-2").await.json()["task_id"], "task-2");
}

#[tokio::test]
async fn redacting_an_import_removes_the_archive_that_it_imported() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let body =
        json!({"history": [{"time": "2026-09-02T00:00:00Z", "intent": "Store sk-live-4711", "epic": "k"}]});
    let sent = memory.request(Method::POST, "window/import").json(&body);
    Answer::to(sent).await.is(201);
    record(&memory, task(2)).await.is(201);
    memory.redact("1").await.is(200);
    assert_eq!(
        service.tables_that_hold("sk-live-4711").await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn a_deleted_memory_leaves_nothing() {
    let service = filled().await;
    service.memory("agent").delete().await.is(204);
    assert_eq!(service.count("records").await, 0);
    record(&service.memory("agent"), task(1)).await.is(201);
}

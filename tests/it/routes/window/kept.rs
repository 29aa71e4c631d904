//! What redaction and deletion remove of tasks.

use super::{record, task};
use crate::harness::{Service, has};
use serde_json::json;

#[tokio::test]
async fn a_redaction_removes_the_texts_of_a_task() {
    let service = Service::configured(|config| config.window.tasks = 1).await;
    let memory = service.memory("agent");
    let mut secret = task(1);
    secret["outcome"] = json!({"token": "sk-live-4711"});
    secret["intent"] = json!("Store sk-live-4711");
    secret["epic"] = json!("keys");
    record(&memory, secret).await.is(201);
    record(&memory, task(2)).await.is(201);
    memory.redact("1").await.is(200);
    assert_eq!(
        service.tables_that_hold("sk-live-4711").await,
        Vec::<String>::new()
    );
    let archived = memory.read("records/T-1").await;
    has(&archived, json!({"intent": "", "outcome": null}));
    let history = memory.get("archive/history").await.is(200);
    assert!(history.text().contains("T-1 [redacted]"), "{}", history.text());
    assert_eq!(memory.get("records/T-2").await.json()["task_id"], "task-2");
}

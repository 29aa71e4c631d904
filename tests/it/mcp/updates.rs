//! `memory_update`: queued, synchronous, and with progress.

use super::{agent, call, done, message, posting};
use crate::harness::{Answer, Service};
use serde_json::{Value, json};

const MESSAGES: &str = "The root cause was that CI has no database, so we commit the prepared query data.";

fn arguments(more: Value) -> Value {
    let mut arguments = agent(json!({"task": "Wire the parser to the update route",
        "messages": [{"role": "assistant", "content": MESSAGES}]}));
    arguments
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    arguments
}

#[tokio::test]
async fn an_update_is_queued_unless_the_agent_waits() {
    let service = Service::start().await;
    let queued = call(&service, "memory_update", arguments(json!({}))).await;
    assert_eq!(done(&queued)["status"], "queued");
    assert_eq!(service.count("memory_contexts").await, 0);
    let waited = call(&service, "memory_update", arguments(json!({"wait": true}))).await;
    assert_eq!(done(&waited)["status"], "applied");
    assert_eq!(done(&waited)["version"], 1);
}

#[tokio::test]
async fn its_steps_are_sent_when_progress_is_requested() {
    let service = Service::start().await;
    let params = json!({"name": "memory_update", "arguments": arguments(json!({"wait": true})), "_meta": {"progressToken": "p1"}});
    let answer = Answer::to(posting(&service, "").json(&message("tools/call", params)))
        .await
        .is(200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let events: Vec<Value> = answer
        .text()
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter_map(|data| serde_json::from_str(data.trim()).ok())
        .collect();
    let (result, progress) = events.split_last().unwrap();
    assert_eq!(done(&result["result"])["status"], "applied");
    assert!(progress.len() > 2, "{events:?}");
    let mut last = 0.0;
    for notification in progress {
        assert_eq!(notification["method"], "notifications/progress");
        assert_eq!(notification["params"]["progressToken"], "p1");
        let now = notification["params"]["progress"].as_f64().unwrap();
        assert!(
            now > last && notification["params"]["message"].is_string(),
            "{notification}"
        );
        last = now;
    }
}

#[tokio::test]
async fn a_call_without_progress_returns_json() {
    let service = Service::start().await;
    let params = json!({"name": "memory_update", "arguments": arguments(json!({"wait": true}))});
    let answer = Answer::to(posting(&service, "").json(&message("tools/call", params)))
        .await
        .is(200);
    assert_eq!(answer.header("content-type"), "application/json");
}

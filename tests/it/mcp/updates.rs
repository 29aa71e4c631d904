//! `memory_update`: queued, synchronous, and with progress.

use super::{agent, call, done, message, posting};
use crate::harness::{Answer, Service, has, holds};
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
    has(done(&waited), json!({"status": "applied", "version": 1}));
}

#[tokio::test]
async fn a_history_of_a_model_s_interface_is_taken_and_its_schema_says_so() {
    let service = Service::start().await;
    let history = json!([
        {"role": "user", "content": [{"type": "text", "text": "Why is the build red?"}, {"type": "image", "source": {}}]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "run_tests", "arguments": "{\"only\": \"parser\"}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "1 failed"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a.rs"}]}]},
        {"role": "assistant", "content": MESSAGES},
    ]);
    let list = crate::mcp::ask(&service, "tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "memory_update").unwrap();
    let schema = &tool["inputSchema"];
    let message = super::resolved(schema, &schema["properties"]["messages"]["items"]);
    let forms = message["properties"]["content"].to_string();
    assert!(message["properties"]["tool_calls"].is_object(), "{message}");
    has(message, json!({"required!": "\"content\""}));
    assert!(
        forms.contains("null") && forms != r#"{"type":"string"}"#,
        "{message}"
    );

    let mut told = arguments(json!({"wait": true}));
    told["messages"] = history;
    let updated = call(&service, "memory_update", told).await;
    let id = done(&updated)["update_id"].as_str().unwrap().to_owned();
    let run = service.memory("agent").read(&format!("updates/{id}")).await;
    let request = run["request"].to_string();
    let all = "Why is the build red?|[image]|[tool call run_tests]|1 failed|[tool call Bash]|a.rs";
    holds(&request, &all.split('|').collect::<Vec<_>>());
}

#[tokio::test]
async fn its_steps_are_sent_when_progress_is_requested() {
    let service = Service::start().await;
    let params = json!({"name": "memory_update", "arguments": arguments(json!({"wait": true})), "_meta": {"progressToken": "p1"}});
    let request = posting(&service, "").json(&message("tools/call", params));
    let answer = Answer::to(request).await.is(200);
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let lines = answer
        .text()
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    let events = lines.filter_map(|data| serde_json::from_str(data.trim()).ok());
    let events: Vec<Value> = events.collect();
    let (result, progress) = events.split_last().unwrap();
    assert_eq!(done(&result["result"])["status"], "applied");
    assert!(progress.len() > 2, "{events:?}");
    let mut last = 0.0;
    for notification in progress {
        let expected = json!({"method": "notifications/progress", "/params/progressToken": "p1"});
        has(notification, expected);
        let now = notification["params"]["progress"].as_f64().unwrap();
        let is_told = notification["params"]["message"].is_string();
        assert!(now > last && is_told, "{notification}");
        last = now;
    }
}

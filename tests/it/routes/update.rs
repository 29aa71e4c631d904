//! `POST M/update`; the pipeline itself is tested in `pipeline`.

use crate::harness::{Answer, Service, has, rows};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn an_invalid_body_is_rejected_and_the_field_is_named() {
    let (service, memory) = Service::start().await.agent();
    for (body, field) in rows(
        r#"
        {} → task
        {"task": 1} → task
        {"task": null} → task
        {"task": " \n\t\u00a0"} → task
        {"task": "a\u0000b"} → task
        {"task": "x", "more": 1} → more
        {"task": "x", "messages": {}} → messages
        {"task": "x", "messages": [["user", "hi"]]} → messages[0]
        {"task": "x", "messages": [{"role": "user"}]} → messages[0]: missing field `content`
        {"task": "x", "messages": [{"role": "user", "content": 1}]} → messages[0].content
        {"task": "x", "messages": [{"role": "", "content": ""}]} → messages[0].role
        {"task": "x", "messages": [{"role": "user", "content": "\u0000"}]} → messages[0].content
        {"task": "x", "messages": [{"role": "user", "content": [{"type": "hologram"}]}]} → messages[0].content[0].type
        {"task": "x", "roles": ["all"]} → roles[0]
        {"task": "x", "roles": []} → roles
        {"task": "x", "on_invalid": "maybe"} → on_invalid
        {"task": "x", "dry_run": "yes"} → dry_run
        [] → body
        "x" → body"#,
    ) {
        let problem = memory.update(body.clone()).await.problem(422, "invalid", None);
        assert!(
            problem["detail"].as_str().unwrap().contains(field),
            "{body}: {problem}"
        );
    }
    for body in [
        "",
        "{",
        "{\"task\":\"x\"}}",
        "{'task':1}",
        r#"{"task":"\ud800"}"#,
        "\u{feff}{}",
    ] {
        let request = memory
            .request(Method::POST, "update")
            .header("Content-Type", "application/json")
            .body(body);
        Answer::to(request).await.malformed("body");
    }
    assert_eq!(service.counts(["memories", "updates"]).await, [0, 0]);
}

#[tokio::test]
async fn without_a_model_the_built_in_updater_is_used() {
    let (_, memory) = Service::start().await.agent();
    let answer = memory
        .updated(json!({"task": "Wrote the parser. Next: wire it to the route."}))
        .await;
    assert_eq!(answer["status"], "applied");
    assert_eq!(answer["models"]["progress"]["model"], "extractive");
    let warning = &answer["warnings"][0];
    has(warning, json!({"kind": "no_model", "section": null}));
    assert!(
        warning["detail"]
            .as_str()
            .unwrap()
            .starts_with("no model is configured")
    );
}

#[tokio::test]
async fn a_task_without_messages_is_work_in_progress_with_a_record_too() {
    let service = Service::start().await;
    for (name, body, expected) in [
        (
            "plan",
            json!({"task": "Add refresh tokens to the login flow"}),
            "## In Progress\n- Add refresh tokens to the login flow\n",
        ),
        (
            "recorded",
            json!({"task": "Measure the login flow", "record": {"task_id": "t-1", "intent": "Login", "summary": "Built"}}),
            "## In Progress\n- Measure the login flow\n",
        ),
    ] {
        let memory = service.memory(name);
        memory
            .write("# Current Progress\n## Completed\n- Wrote the form\n")
            .await;
        memory.updated(body).await;
        let text = memory.text().await;
        assert!(
            text.contains(expected) && text.contains("- Wrote the form\n"),
            "{text}"
        );
        assert_eq!(text.contains("t-1"), name == "recorded", "{text}");
        // The same task again reports nothing new.
        memory
            .updated(json!({"task": expected.rsplit("- ").next().unwrap().trim()}))
            .await;
        let again = memory.text().await;
        assert_eq!(again.matches(expected).count(), 1, "{again}");
    }
}

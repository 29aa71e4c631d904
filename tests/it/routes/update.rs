//! `POST M/update`; the pipeline itself is tested in `pipeline`.

use crate::harness::{Service, has, rows};
use serde_json::json;

#[tokio::test]
async fn an_invalid_body_is_rejected_and_the_field_is_named() {
    let (_service, memory) = Service::start().await.agent();
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
        null → body
        "x" → body"#,
    ) {
        let problem = memory.update(body).await.problem(422, "invalid", None);
        has(&problem, json!({"detail~": field}));
    }
    let table = r#"
        POST update | Content-Type: application/json < {"task":"a","task":"b"} → 422 invalid body {"detail~": "task"}
        POST update | Content-Type: application/json → 400 malformed body
        POST update | Content-Type: application/json < { → 400 malformed body
        POST update | Content-Type: application/json < {"task":"x"}} → 400 malformed body
        POST update | Content-Type: application/json < {'task':1} → 400 malformed body
        POST update | Content-Type: application/json < {"task":"\ud800"} → 400 malformed body
        POST update | Content-Type: application/json < MARK{} → 400 malformed body
        ROWS memories 0
        ROWS updates 0"#;
    memory.requests(&table.replace("MARK", "\u{feff}")).await;
}

#[tokio::test]
async fn without_a_model_a_task_is_work_in_progress_with_a_record_and_without_messages_too() {
    let service = Service::start().await;
    // The same task again reports nothing new.
    let table = r###"
        § the built-in updater is used
        POST update < {"task": "Wrote the parser. Next: wire it to the route."} → 200 {"status": "applied", "/models/progress/model": "extractive", "/warnings/0/kind": "no_model", "/warnings/0/section": null, "/warnings/0/detail^": "no model is configured"}
        § plan
        PUT context < # Current Progress\n## Completed\n- Wrote the form\n → 201
        POST update < {"task": "Add refresh tokens to the login flow"} → 200
        GET context → 200 ⇒ text==
        GET context | Accept: application/json → 200 {"context~": ["## In Progress\n- Add refresh tokens to the login flow\n", "- Wrote the form\n"], "context!": "t-1"}
        POST update < {"task": "Add refresh tokens to the login flow"} → 200
        GET context → 200 =$text
        § recorded
        PUT context < # Current Progress\n## Completed\n- Wrote the form\n → 201
        POST update < {"task": "Measure the login flow", "record": {"task_id": "t-1", "intent": "Login", "summary": "Built"}} → 200
        GET context | Accept: application/json → 200 {"context~": ["## In Progress\n- Measure the login flow\n", "- Wrote the form\n", "t-1"]}
        GET context → 200 ⇒ whole==
        POST update < {"task": "Measure the login flow"} → 200
        GET context → 200 =$whole"###;
    service.requests(table).await;
}

//! The commands that write tasks, decisions, status and items, and the one that reads the prompt: the requests that they send.

use super::program::User;
use super::stub::Stub;
use axum::http::Method;
use serde_json::json;

const MEMORY: &str = "/v1/vaults/acme/memories/agent";

#[tokio::test]
async fn a_task_is_sent_with_all_its_options() {
    let stub = Stub::json(201, json!({"record_id": "T-7", "version": 9})).await;
    let user = User::of(&stub.url);
    user.file("report.json", "{\"tests\": 12}");
    let done = user
        .run(&[
            "task",
            "Add parser",
            "--summary",
            "A line machine",
            "--task-id",
            "abc",
            "--epic",
            "dsl",
            "--outcome",
            "report.json",
        ])
        .await
        .is(0);
    assert_eq!(done.out, "recorded T-7, version 9\n");
    let request = stub.only();
    assert_eq!(
        (request.method.clone(), request.uri.as_str()),
        (Method::POST, &*format!("{MEMORY}/tasks"))
    );
    assert_eq!(
        request.json(),
        json!({"intent": "Add parser", "summary": "A line machine", "task_id": "abc", "epic": "dsl",
               "outcome": {"tests": 12}})
    );
    assert!(request.header("idempotency-key").is_some());
    user.file("report.json", "{");
    user.ends(2, "task x --summary y --outcome report.json").await;
    assert_eq!(stub.asked().len(), 1);
}

#[tokio::test]
async fn a_decision_and_the_status_are_sent() {
    let stub = Stub::json(201, json!({"record_id": "D-4", "version": 2})).await;
    let user = User::of(&stub.url);
    user.run(&[
        "decision",
        "SQL in storage",
        "--because",
        "one language",
        "--supersedes",
        "D-3",
    ])
    .await
    .is(0);
    user.ends(2, "decision x --because y --supersedes 3").await;
    user.done("set-status --goal ship").await;
    let request = stub.asked();
    assert_eq!(request[0].uri, format!("{MEMORY}/decisions"));
    assert_eq!(
        request[0].json(),
        json!({"decision": "SQL in storage", "reason": "one language", "supersedes": "D-3"})
    );
    assert_eq!(
        (request[1].method.clone(), request[1].uri.clone()),
        (Method::PUT, format!("{MEMORY}/status"))
    );
    assert_eq!(request[1].json(), json!({"goal": "ship"}));
}

#[tokio::test]
async fn the_prompt_is_printed_as_text_with_what_was_left_out() {
    let dropped =
        json!([{"name": "decisions", "whole": true}, {"name": "recent_tasks", "records": ["T-1", "T-2"]}]);
    let stub = Stub::json(200, json!({"text": "the prompt", "dropped": dropped})).await;
    let user = User::of(&stub.url);
    let printed = user
        .done("prompt --max-tokens 900 --include rules,workflow --timezone Europe/Berlin")
        .await;
    assert_eq!(printed.out, "the prompt");
    assert_eq!(
        printed.err,
        "left out for --max-tokens: decisions, recent_tasks (T-1 T-2)\n"
    );
    user.done("prompt --json --exclude rules").await;
    let request = stub.asked();
    assert_eq!(
        request[0].uri,
        format!("{MEMORY}/prompt?max_tokens=900&include=rules%2Cworkflow&timezone=Europe%2FBerlin")
    );
    assert_eq!(request[1].uri, format!("{MEMORY}/prompt?exclude=rules"));
}

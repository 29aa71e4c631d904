//! `GET M/window`

use super::{record, task};
use crate::harness::Service;
use serde_json::json;

#[tokio::test]
async fn the_window_is_markdown_or_json_and_is_not_sent_twice() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        GET window → 404 not-found
        PUT status < {"goal": "ship"} → 201
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Two lines.\n# Not a heading", "outcome": {"tests": 60}, "epic": "DSL"} → 201
        POST decisions < {"decision": "SQL in storage", "reason": "one language"} → 201
        GET window → 200 | content-type: text/markdown; charset=utf-8 | =# Status\nGoal: ship\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n\n# Recent Tasks\n\n## T-1 [2026-11-21T02:00:00Z] Step 1\nTask: task-1\nEpic: DSL\n\n> Two lines.\n> # Not a heading\n\nOutcome: `{"tests":60}`\n\n# Decisions\n- D-1 [2026-11-21T02:00:00Z] because one language: SQL in storage\n ⇒ tag=etag
        GET window | Accept: application/json | If-None-Match: $tag → 200 {"/status/goal": "ship", "/status/updated": "2026-11-21T02:00:00Z", "/decisions/0/reason": "one language"} ⇒ json=etag
        GET window | Accept: application/json → 200 {"/tasks/0/task_id": "task-1", "/tasks/0/intent": "Step 1", "/tasks/0/summary": "Two lines.\n# Not a heading", "/tasks/0/outcome": {"tests": 60}, "/tasks/0/epic": "DSL"}
        GET window | Accept: */* | If-None-Match: $tag → 304
        GET window | Accept: application/json | If-None-Match: $json → 304
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 201
        GET window | If-None-Match: $tag → 200"##;
    memory.requests(table).await;
}

#[tokio::test]
async fn no_text_of_a_writer_forms_a_heading() {
    let (_, memory) = Service::start().await.agent();
    let mut recorded = task(1);
    recorded["summary"] = json!("One.\r# Two\r\n# Three\n# Four");
    record(&memory, recorded).await.is(201);
    let document = memory.text().await.replace("Goal: none", "Goal: ship\r# Five");
    memory
        .write(document + "\n# Decisions\n- D-1 because it\r# is: so\n")
        .await;
    let window = memory.get("window").await.is(200);
    let headings = window
        .text()
        .split(['\n', '\r'])
        .filter(|line| line.starts_with('#'));
    let headings: Vec<&str> = headings.map(|line| line.split(" [").next().unwrap()).collect();
    assert_eq!(headings, ["# Status", "# Recent Tasks", "## T-1", "# Decisions"]);
    assert!(window.text().contains("\n> One.\n> # Two\n> # Three\n> # Four\n"));
}

#[tokio::test]
async fn a_line_that_was_edited_by_hand_is_returned() {
    let (_, memory) = Service::start().await.agent();
    record(&memory, task(1)).await.is(201);
    let document = memory
        .text()
        .await
        .replace("Step 1: Done.", "Step one: Almost done.");
    memory.write(document + "- by hand: also\n").await;
    let table = r#"
        GET window | Accept: application/json → 200 {"/tasks/0/intent": "Step one", "/tasks/0/task_id": "task-1"}
        GET records/T-1 → 200 {"intent": "Step one", "summary": "Almost done. All of it."}
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 201
        GET window | Accept: application/json → 200 {"/tasks/2/intent": "by hand"}"#;
    memory.requests(table).await;
}

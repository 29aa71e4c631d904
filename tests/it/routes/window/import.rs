//! `POST M/window/import`

use crate::harness::{Memory, Service};
use serde_json::Value;

const FOLDER: &str = r#"{"status": {"goal": "ship", "blocker": "review"},
    "tasks": [{"time": "2026-10-02T00:00:00Z", "intent": "Second", "summary": "Two."},
              {"time": "2026-10-03T00:00:00Z", "task_id": "mine", "intent": "Third", "summary": "Three.", "outcome": [1]}],
    "decisions": [{"time": "2026-10-01T00:00:00Z", "decision": "plain text", "reason": "it lasts"}],
    "history": [{"time": "2026-09-02T00:00:00Z", "intent": "Zero", "epic": "start"},
                {"time": "2026-09-01T00:00:00Z", "intent": "Before zero", "summary": "Less."},
                {"time": "2026-10-02T00:00:00Z", "intent": "Second", "summary": "Two."}]}"#;

/// Sends the requests of a table, in which `FOLDER` is that one.
async fn asked(memory: &Memory, table: &str) {
    memory
        .requests(&table.replace("FOLDER", &FOLDER.replace('\n', "")))
        .await;
}

#[tokio::test]
async fn a_folder_is_imported_in_one_version_and_only_once() {
    let (service, memory) = Service::start().await.agent();
    // A number of an archived task is not assigned again.
    let table = r##"
        POST window/import < FOLDER → 201 | x-context-version: 1 | {"version": 1, "taken": {"status": 1, "tasks": 2, "decisions": 1, "history": 2}, "present": {"status": 0, "tasks": 0, "decisions": 0, "history": 1}}
        GET context → 200 =# Active Context\nGoal: ship\nBlocker: review\nUpdated: 2026-11-21T02:00:00Z\n\n# Recent Tasks\n- T-4 [2026-10-03T00:00:00Z] mine: Third: Three.\n- T-3 [2026-10-02T00:00:00Z] Second: Two.\n\n# Decisions\n- D-1 [2026-10-01T00:00:00Z] because it lasts: plain text\n
        GET archive/history → 200 =- 2026-09-01T00:00:00Z T-1 Before zero: Less.\n- 2026-09-02T00:00:00Z T-2 Zero\n
        GET records/T-2 → 200 {"status": "archived", "epic": "start", "created_version": 1, "ended_version": 1}
        GET log → 200 {"/items/0/source": "import"}
        GET records/T-4 → 200 {"outcome": [1]}
        POST window/import < FOLDER → 200 {"unchanged": true, "version": 1, "present": {"status": 1, "tasks": 2, "decisions": 1, "history": 3}}
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201 {"record_id": "T-5"}"##;
    asked(&memory, table).await;
    let stored: Value = service
        .value("SELECT operations FROM memory_contexts WHERE version = 1")
        .await;
    let history = stored
        .as_array()
        .unwrap()
        .iter()
        .filter(|operation| operation["op"] == "history");
    assert_eq!(history.count(), 2, "{stored}");
}

#[tokio::test]
async fn a_decision_that_begins_like_a_reason_is_imported_whole_and_once() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        POST window/import < {"decisions": [{"time": "2026-10-01T00:00:00Z", "decision": "Because of load: one queue"}]} → 201 {"/taken/decisions": 1}
        GET records/D-1 → 200 {"content": "Because\u00a0of load: one queue", "reason": null}
        POST window/import < {"decisions": [{"time": "2026-10-01T00:00:00Z", "decision": "Because of load: one queue"}]} → 200 {"unchanged": true, "/present/decisions": 1}"#;
    asked(&memory, table).await;
}

#[tokio::test]
async fn tasks_older_than_the_window_are_archived() {
    let service = Service::configured(|config| config.window.tasks = 2).await;
    let table = r#"
        PUT status < {"goal": "mine"} → 201
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201
        POST window/import < FOLDER → 201 {"/taken/status": 0, "archived": []}
        GET window | Accept: application/json → 200 {"/status/goal": "mine", "/tasks/*/intent": ["Third", "Step 1"]}
        GET archive/history → 200 ~ Second: Two."#;
    asked(&service.memory("agent"), table).await;
}

#[tokio::test]
async fn invalid_entries_are_named_by_their_position() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        POST window/import < {"tasks": [{"time": "2026-10-02T00:00:00Z", "intent": ""}]} → 422 invalid tasks[0].intent
        POST window/import < {"history": [{"time": "yesterday", "intent": "x"}]} → 422 invalid history[0].time
        POST window/import < {"decisions": [{"time": "2026-10-02T00:00:00Z", "decision": "\u0000"}]} → 422 invalid decisions[0].decision
        POST window/import < {"tasks": [{"time": "2026-10-02T00:00:00Z", "intent": "x", "task_id": "a b"}]} → 422 invalid tasks[0].task_id
        POST window/import < {"more": 1} → 422 invalid more
        POST window/import < {} → 200 {"unchanged": true, "version": null}
        ROWS memories 0"#;
    asked(&memory, table).await;
}

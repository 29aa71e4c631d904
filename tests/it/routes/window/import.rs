//! `POST M/window/import`

use crate::harness::Service;
use serde_json::Value;

const FOLDER: &str = r#"{"status": {"goal": "ship", "blocker": "review"},
    "tasks": [{"time": "2026-10-02T00:00:00Z", "intent": "Second", "summary": "Two."},
              {"time": "2026-10-03T00:00:00Z", "task_id": "mine", "intent": "Third", "summary": "Three.", "outcome": [1]}],
    "decisions": [{"time": "2026-10-01T00:00:00Z", "decision": "plain text", "reason": "it lasts"}],
    "history": [{"time": "2026-09-02T00:00:00Z", "intent": "Zero", "epic": "start"},
                {"time": "2026-09-01T00:00:00Z", "intent": "Before zero", "summary": "Less."},
                {"time": "2026-10-02T00:00:00Z", "intent": "Second", "summary": "Two."}]}"#;

/// Sends the requests of a table, in which `FOLDER` is that one.
async fn asked(service: &Service, table: &str) {
    let table = table.replace("FOLDER", &FOLDER.replace('\n', ""));
    service.requests(&table).await;
}

#[tokio::test]
async fn a_folder_is_imported_in_one_version_and_only_once() {
    let service = Service::start().await;
    // A number of an archived task is not assigned again.
    let table = r##"
        § a decision that begins like a reason is imported whole and once
        POST window/import < {"decisions": [{"time": "2026-10-01T00:00:00Z", "decision": "Because of load: one queue"}]} → 201 {"/taken/decisions": 1}
        GET records/D-1 → 200 {"content": "Because\u00a0of load: one queue", "reason": null}
        POST window/import < {"decisions": [{"time": "2026-10-01T00:00:00Z", "decision": "Because of load: one queue"}]} → 200 {"unchanged": true, "/present/decisions": 1}
        § invalid entries are named by their position
        POST window/import < {"tasks": [{"time": "2026-10-02T00:00:00Z", "intent": ""}]} → 422 invalid tasks[0].intent
        POST window/import < {"history": [{"time": "yesterday", "intent": "x"}]} → 422 invalid history[0].time
        POST window/import < {"decisions": [{"time": "2026-10-02T00:00:00Z", "decision": "\u0000"}]} → 422 invalid decisions[0].decision
        POST window/import < {"tasks": [{"time": "2026-10-02T00:00:00Z", "intent": "x", "task_id": "a b"}]} → 422 invalid tasks[0].task_id
        POST window/import < {"tasks": [{"time": "2026-11-01", "intent": "a"}]} → 422 invalid tasks[0].time {"detail~": "2026-11-21T02:00:00Z"}
        POST window/import < {"status": {"goal": "g", "updated": "2026-13-01T00:00:00Z"}} → 422 invalid status.updated {"detail~": "2026-11-21T02:00:00Z"}
        POST window/import < {"more": 1} → 422 invalid more
        POST window/import < {} → 200 {"unchanged": true, "version": null}
        ROWS memories 0
        § two tasks with ids of their own are two, and one without is the one that it looks like
        POST /v1/vaults/acme/memories/ids/window/import < {"tasks": [{"time": "2026-11-01T10:00:00Z", "task_id": "t1", "intent": "Backup", "summary": "ok"}, {"time": "2026-11-01T10:00:00Z", "task_id": "t2", "intent": "Backup", "summary": "ok", "outcome": {"db": "orders"}}]} → 201 {"/taken/tasks": 2, "/present/tasks": 0}
        POST /v1/vaults/acme/memories/ids/window/import < {"tasks": [{"time": "2026-11-01T10:00:00Z", "task_id": "t2", "intent": "Backup", "summary": "ok"}, {"time": "2026-11-01T10:00:00Z", "intent": "Backup", "summary": "ok"}]} → 200 {"unchanged": true, "/present/tasks": 2}
        § a folder is imported in one version and only once
        POST window/import < FOLDER → 201 | x-context-version: 1 | {"version": 1, "taken": {"status": 1, "tasks": 2, "decisions": 1, "history": 2}, "present": {"status": 0, "tasks": 0, "decisions": 0, "history": 1}}
        GET context → 200 =# Active Context\nGoal: ship\nBlocker: review\nUpdated: 2026-11-21T02:00:00Z\n\n# Recent Tasks\n- T-4 [2026-10-03T00:00:00Z] mine: Third: Three.\n- T-3 [2026-10-02T00:00:00Z] Second: Two.\n\n# Decisions\n- D-1 [2026-10-01T00:00:00Z] because it lasts: plain text\n
        GET archive/history → 200 =- 2026-09-01T00:00:00Z T-1 Before zero: Less.\n- 2026-09-02T00:00:00Z T-2 Zero\n
        GET archive/history | Accept: application/json → 200 {"/items/*/task_id": [null, null]}
        GET archive/epics → 200 {"/items/1/latest/0/record_id": "T-2", "/items/1/latest/0/task_id": null}
        GET window → 200 ~ Third\nTask: mine\n
        GET window → 200 ~ Second\n\n> Two.\n
        GET window | Accept: application/json → 200 {"/tasks/*/task_id": ["mine", null]}
        GET records?kind=T&status=all → 200 {"/items/*/task_id": [null, null, null, "mine"]}
        GET records/T-2 → 200 {"task_id": null, "status": "archived", "epic": "start", "created_version": 1, "ended_version": 1}
        GET log → 200 {"/items/0/source": "import"}
        GET records/T-4 → 200 {"outcome": [1]}
        POST window/import < FOLDER → 200 {"unchanged": true, "version": 1, "present": {"status": 1, "tasks": 2, "decisions": 1, "history": 3}}
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201 {"record_id": "T-5"}"##;
    asked(&service, table).await;
    let stored: Vec<Value> = service
        .values("SELECT jsonb_path_query_array(operations, '$[*].op') FROM memory_contexts WHERE source = 'import'")
        .await;
    let histories = stored
        .iter()
        .map(|ops| ops.to_string().matches("history").count());
    assert_eq!(histories.max(), Some(2), "{stored:?}");
}

#[tokio::test]
async fn tasks_older_than_the_window_are_archived() {
    let service = Service::configured(|config| config.window.tasks = 2).await;
    let table = r#"
        § older than the window
        PUT status < {"goal": "mine"} → 201
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201
        POST window/import < FOLDER → 201 {"/taken/status": 0, "archived": []}
        GET window | Accept: application/json → 200 {"/status/goal": "mine", "/tasks/*/intent": ["Third", "Step 1"]}
        GET archive/history → 200 ~ Second: Two."#;
    asked(&service, table).await;
}

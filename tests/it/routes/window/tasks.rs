//! `POST M/tasks`

use super::{record, task};
use crate::harness::{Service, each};
use futures::future::join_all;
use serde_json::Value;
use working_memory::config::Config;
use working_memory::config::window::VaultWindow;

#[tokio::test]
async fn a_task_creates_the_memory_and_is_first_in_the_document_until_it_leaves_the_window() {
    let table = r##"
        § a task creates the memory and is first in the document
        POST tasks < {"task_id": "t1", "intent": "Fix: the\nparser", "summary": "First line.\nSecond: line", "outcome": {"tests": 60, "ok": [true, 1.5, null]}, "epic": "DSL"} → 201 | x-context-version: 1 | location: /v1/vaults/acme/memories/$memory/records/T-1 | {"record_id": "T-1", "version": 1, "unchanged": false, "archived": [], "task_id": "t1", "intent": "Fix: the\nparser", "summary": "First line.\nSecond: line", "outcome": {"tests": 60, "ok": [true, 1.5, null]}, "epic": "DSL"} ⇒ tag=etag created=/created_at
        GET context → 200 | etag: $tag | =# Active Context\nGoal: none\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n\n# Recent Tasks\n- T-1 [2026-11-21T02:00:00Z] t1: Fix: the parser: First line. Second: line\n
        GET records/T-1 → 200 {"task_id": "t1", "intent": "Fix: the\nparser", "summary": "First line.\nSecond: line", "outcome": {"tests": 60, "ok": [true, 1.5, null]}, "epic": "DSL", "created_at": "$created"} ⇒ record==
        GET records?kind=T → 200 {"items": [$record]}
        GET log → 200 {"/items/0/source": "task", "/items/0/log": "+ T-1 t1: Fix: the parser: First line. Second: line"}
        § the oldest task beyond the window is archived in the same version
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 201
        POST tasks < {"task_id": "task-3", "intent": "Step 3", "summary": "Done. All of it."} → 201
        POST tasks < {"task_id": "task-4", "intent": "Step 4", "summary": "Done. All of it."} → 201
        POST tasks < {"task_id": "task-5", "intent": "Step 5", "summary": "Done. All of it."} → 201
        POST tasks < {"task_id": "task-6", "intent": "Step 6", "summary": "Done. All of it."} → 201 {"version": 6, "archived": ["T-1"]}
        GET records/T-1 → 200 {"status": "archived", "ended_version": 6, "archive_reason": "left the window of 5 recent tasks", "task_id": "task-1", "summary": "Done. All of it."}
        GET records?kind=T → 200 {"items#": 5}
        POST contexts/5/restore → 201
        GET records/T-1 → 200 {"status": "active", "task_id": "task-1"}
        § an invalid task is rejected with the limit and saves nothing
        POST tasks < {"intent": " \n", "summary": "s"} → 422 invalid intent {"limit": null}
        POST tasks < {"intent": "(x×501)", "summary": "s"} → 422 invalid intent {"limit": 500}
        POST tasks < {"intent": "a\u0000b", "summary": "s"} → 422 invalid intent {"limit": null}
        POST tasks < {"intent": "i", "summary": ""} → 422 invalid summary {"limit": null}
        POST tasks < {"intent": "i", "summary": "(x×4001)"} → 422 invalid summary {"limit": 4000}
        POST tasks < {"intent": "i", "summary": "s", "outcome": {"text": "(x×8190)"}} → 422 invalid outcome {"limit": 8192}
        POST tasks < {"intent": "i", "summary": "s", "outcome": {"a": ["\u0000"]}} → 422 invalid outcome {"limit": null}
        POST tasks < {"intent": "i", "summary": "s", "epic": "(x×129)"} → 422 invalid epic {"limit": 128}
        POST tasks < {"intent": "i", "summary": "s", "epic": " "} → 422 invalid epic {"limit": null}
        POST tasks < {"intent": "i", "summary": "s", "task_id": "not an id"} → 422 invalid task_id {"limit": null}
        POST tasks < {"intent": "i", "summary": "s", "task_id": ""} → 422 invalid task_id {"limit": null}
        POST tasks < {"intent": "i", "summary": "s", "more": 1} → 422 invalid more {"limit": null}
        POST tasks | If-Match: "x" < {"intent": "i", "summary": "s"} → 412 precondition-failed
        ROWS memories 0
        ROWS records 0
        POST tasks < {"intent": "(i×500)", "summary": "(s×4000)", "outcome": "(o×8190)", "epic": "(e×128)"} → 201
        § numbers of an outcome are stored exactly or rejected, and never rounded
        POST tasks | Content-Type: application/json < {"intent": "a", "summary": "b", "outcome": {"n": 12345678901234567890123}} → 422 invalid outcome {"detail~": "12345678901234567890123"}
        POST tasks | Content-Type: application/json < {"intent": "a", "summary": "b", "outcome": {"n": 18446744073709551615}} → 201 ~18446744073709551615
        GET window → 200 ~{"n":18446744073709551615}"##;
    Service::start().await.requests(table).await;
}

#[tokio::test]
async fn ten_concurrent_writers_lose_nothing() {
    let (_, memory) = Service::start().await.agent();
    let written = join_all((1..=10).map(|number| record(&memory, task(number)))).await;
    let version_and_id = |made: Value| {
        (
            made["version"].as_i64(),
            made["record_id"].as_str().map(str::to_owned),
        )
    };
    let mut made: Vec<_> = written
        .into_iter()
        .map(|answer| version_and_id(answer.is(201).json()))
        .collect();
    made.sort();
    let expected: Vec<_> = (1..=10)
        .map(|number| (Some(number), Some(format!("T-{number}"))))
        .collect();
    assert_eq!(made, expected, "ids are given in the order of the versions");
    let all = memory.read("records?kind=T&status=all").await;
    assert_eq!(each(&all["items"], "record_id").len(), 10);
    let document = memory.get("context?section=tasks").await.is(200);
    let ids = document.text().lines().filter_map(|line| line.split(' ').nth(1));
    assert_eq!(
        ids.skip(1).collect::<Vec<_>>(),
        ["T-10", "T-9", "T-8", "T-7", "T-6"]
    );
}

#[tokio::test]
async fn a_vault_may_have_its_own_window_size() {
    let own = VaultWindow {
        tasks: Some(1),
        decisions: None,
    };
    let configure = |config: &mut Config| {
        config.window.vaults.insert("acme".to_owned(), own);
    };
    let table = r#"
        POST /v1/vaults/acme/memories/agent/tasks < {"intent": "one", "summary": "s"} → 201 {"archived": []}
        POST /v1/vaults/acme/memories/agent/tasks < {"intent": "two", "summary": "s"} → 201 {"archived": ["T-1"]}
        POST /v1/vaults/other/memories/agent/tasks < {"intent": "one", "summary": "s"} → 201 {"archived": []}
        POST /v1/vaults/other/memories/agent/tasks < {"intent": "two", "summary": "s"} → 201 {"archived": []}"#;
    Service::configured(configure).await.requests(table).await;
}

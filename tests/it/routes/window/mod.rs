//! The living window: tasks, decisions, status, and their archive.

mod import;
mod tasks;

use crate::harness::{Answer, Memory, Service, holds};
use serde_json::{Value, json};

/// POST a task.
async fn record(memory: &Memory, task: Value) -> Answer {
    memory.post("tasks", &task).await
}

/// A task of a number.
fn task(number: usize) -> Value {
    json!({ "task_id": format!("task-{number}"), "intent": format!("Step {number}"), "summary": "Done. All of it." })
}

#[tokio::test]
async fn the_window_has_a_status_tasks_and_decisions_that_are_written_one_by_one() {
    let table = r##"
        § the window is Markdown or JSON and is not sent twice
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
        GET window | If-None-Match: $tag → 200
        § a status is written, and the same again changes nothing
        PUT status < {} → 422 invalid goal
        PUT status < {"goal": "ship the\nparser"} → 201 {"goal": "ship the parser", "blocker": null, "version": 1, "unchanged": false}
        GET context → 200 =# Active Context\nGoal: ship the parser\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n
        +60
        PUT status < {"goal": "ship the parser", "blocker": null} → 200 {"unchanged": true, "version": 1}
        PUT status < {"blocker": "review"} → 201 {"goal": "ship the parser", "blocker": "review"}
        PUT status < {"goal": " "} → 422 invalid goal
        PUT status < {"goal": "(x×1001)"} → 422 invalid goal
        PUT status < {"goal": "x", "blocker": "a\u0000"} → 422 invalid blocker
        PUT status < [] → 422 invalid body
        GET log → 200 {"/items/0/source": "status"}
        § an absent member of a status is unchanged, and null clears it
        PUT status < {"blocker": "the net"} → 201 {"goal": null, "blocker": "the net"}
        PUT status < {"goal": "ship"} → 201 {"goal": "ship", "blocker": "the net"}
        PUT status < {"blocker": null} → 201 {"goal": "ship", "blocker": null}
        PUT status < {"blocker": "review"} → 201 {"goal": "ship", "blocker": "review"}
        PUT status < {"goal": null} → 201 {"goal": null, "blocker": "review"}
        PUT status < {"goal": "rest", "blocker": "none"} → 201 {"goal": "rest", "blocker": null}
        § code, signs and numbers at the start of a line above goal and blocker do not hide them
        PUT context < # Active Context\n`main` is frozen until Friday.\n~5 people wait\n#123 blocks us\nGoal: ship it\nBlocker: CI is red\n → 201
        GET window | Accept: application/json → 200 {"/status/goal": "ship it", "/status/blocker": "CI is red"}
        § bullets without a letter stay when a session moves one
        PUT context < # Current Progress\n## In Progress\n- wire it\n## Remaining\n- `<=`\n- 🎉\n- —\n → 201
        POST update < {"task": "x", "messages": [], "record": {"intent": "wire it", "summary": "s"}} → 200
        GET context → 200 ~## Completed\n- wire it
        GET context → 200 ~- `<=`\n- 🎉\n
        § an imported goal leaves a blocker that is there
        PUT status < {"blocker": "waiting for legal"} → 201
        POST window/import < {"status": {"goal": "ship"}} → 201
        GET window | Accept: application/json → 200 {"/status/goal": "ship", "/status/blocker": "waiting for legal"}
        § a blocker without a goal replaces none, and is there already
        PUT context < # Facts\n → 201
        PUT status < {"blocker": "newer"} → 201
        POST window/import < {"status": {"blocker": "first"}} → 200 {"unchanged": true, "/present/status": 1}
        POST window/import < {"status": {"goal": "ship", "blocker": "first"}} → 201
        GET window | Accept: application/json → 200 {"/status/goal": "ship", "/status/blocker": "newer"}
        § updated is set by every change, and free text stays
        PUT context < # Active Context\nGoal: ship\n* a note\n\n# Facts\n\ttab  \r\n```\n# no heading\n```\n → 201
        +61
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201
        GET context → 200 =# Active Context\nGoal: ship\nBlocker: none\nUpdated: 2026-11-21T02:01:01Z\n* a note\n\n# Facts\n\ttab  \r\n```\n# no heading\n```\n\n# Recent Tasks\n- T-1 [2026-11-21T02:01:01Z] task-1: Step 1: Done. All of it.\n
        § a decision supersedes another, and the two are linked
        POST decisions < {"decision": "SQL in\nstorage", "reason": "one language, std::fs too"} → 201 {"record_id": "D-1", "content": "SQL in storage", "reason": "one language, std::fs too", "kind": "D"}
        POST decisions < {"decision": "SQL in files", "reason": "it is checked", "supersedes": "D-1"} → 201 {"record_id": "D-2", "archived": ["D-1"]}
        GET records/D-1 → 200 {"status": "archived", "superseded_by": "D-2", "archive_reason": "superseded: it is checked"}
        GET context?section=decisions → 200 =# Decisions\n- D-2 [2026-11-21T02:00:00Z] because it is checked: SQL in files\n
        POST decisions < {"decision": "x", "reason": "y", "supersedes": "D-1"} → 422 invalid supersedes {"active": ["D-2"]}
        POST decisions < {"decision": "x", "reason": "y", "supersedes": "D-77"} → 422 invalid supersedes {"active": ["D-2"]}
        ROWS memory_contexts 2
        § a decision may have no reason
        POST decisions < {"decision": "SQL in storage"} → 201 {"reason": null, "content": "SQL in storage"}
        POST decisions < {"decision": "SQL in files", "reason": null, "supersedes": "D-1"} → 201
        GET records/D-1 → 200 {"archive_reason": "superseded", "superseded_by": "D-2"}
        GET context?section=decisions → 200 =# Decisions\n- D-2 [2026-11-21T02:00:00Z] SQL in files\n
        § a line that was edited by hand is returned
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201
        PUT context < # Active Context\nGoal: none\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n\n# Recent Tasks\n- T-1 [2026-11-21T02:00:00Z] task-1: Step one: Almost done. All of it.\n- by hand: also\n → 201
        GET window | Accept: application/json → 200 {"/tasks/0/intent": "Step one", "/tasks/0/task_id": "task-1"}
        GET records/T-1 → 200 {"intent": "Step one", "summary": "Almost done. All of it."}
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 201
        GET window | Accept: application/json → 200 {"/tasks/2/intent": "by hand"}"##;
    Service::start().await.requests(table).await;
}

#[tokio::test]
async fn the_oldest_decision_beyond_the_window_is_archived_and_invalid_ones_are_rejected() {
    let service = Service::configured(|config| config.window.decisions = 2).await;
    // A reason that the line format would change is rejected, and the error says why.
    let table = r#"
        § agent
        POST decisions < {"decision": "way 1", "reason": "why"} → 201 {"archived": []}
        POST decisions < {"decision": "way 2", "reason": "why"} → 201 {"archived": []}
        POST decisions < {"decision": "way 3", "reason": "why"} → 201 {"archived": ["D-1"]}
        § new
        POST decisions < {"decision": " ", "reason": "why"} → 422 invalid decision
        POST decisions < {"decision": "x", "reason": ""} → 422 invalid reason
        POST decisions < {"decision": "x", "reason": "a: b"} → 422 invalid reason
        POST decisions < {"decision": "x", "reason": "a\nb"} → 422 invalid reason
        POST decisions < {"decision": "(x×2001)", "reason": "why"} → 422 invalid decision
        POST decisions < {"decision": "x", "reason": "why", "supersedes": "T-1"} → 422 invalid supersedes
        POST decisions < {"decision": "x", "reason": "the root cause: a race"} → 422 invalid reason {"detail~": ["colon", "byte 14"]}
        GET context → 404 not-found"#;
    service.requests(table).await;
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
async fn a_task_that_left_the_window_is_in_the_history_by_epic_and_by_week_until_it_is_redacted() {
    let service = Service::configured(|config| config.window.tasks = 1).await;
    // The 21st of November 2026 is a Saturday: two days to the week's end.
    let table = r##"
        § the history is rolled up by epic and by week
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it.", "epic": "parser"} → 201
        +86400
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 201
        +86400
        POST tasks < {"task_id": "task-3", "intent": "Step 3", "summary": "Done. All of it.", "epic": "parser"} → 201
        +86400
        POST tasks < {"task_id": "task-4", "intent": "Step 4", "summary": "Done. All of it.", "epic": "Bench"} → 201
        +86400
        POST tasks < {"task_id": "task-5", "intent": "Step 5", "summary": "Done. All of it."} → 201
        GET records/T-1 → 200 {"archive_reason": "left the window of 1 recent task"}
        GET archive/epics → 200 {"/items/*/name": [null, "Bench", "parser"], "/items/*/tasks": [1, 1, 2], "/items/2/first": "2026-11-21T02:00:00Z", "/items/2/latest/1/record_id": "T-3"}
        GET archive/epics?by=week&limit=1 → 200 {"/items/0/name": "2026-W47", "/items/0/tasks": 2} ⇒ cursor=/next_cursor
        GET archive/epics?by=week&limit=1&cursor=$cursor → 200 {"/items/0/name": "2026-W48"}
        GET archive/epics?by=week | Accept: text/plain → 200 ^# 2026-W47\n2 tasks, 2026-11-21T02:00:00Z to
        GET archive/epics?by=month → 422 invalid by
        § a redaction removes the texts of a task
        POST tasks < {"task_id": "task-1", "intent": "Store sk-live-4711", "summary": "Done. All of it.", "outcome": {"token": "sk-live-4711"}, "epic": "keys"} → 201
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        HOLDING sk-live-4711:
        GET records/T-1 → 200 {"intent": "", "outcome": null}
        GET archive/history → 200 ~T-1 [redacted]
        GET records/T-2 → 200 {"task_id": "task-2"}
        § a task sent twice is recorded once, also after it was archived
        § of one memory
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 200 {"record_id": "T-1", "unchanged": true}
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 201
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 200 {"record_id": "T-1", "unchanged": true}
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 200
        ROWS memory_contexts 2
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Something else"} → 409 conflict task_id {"record_id": "T-1"}
        § other
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201
        § a task with an unsuccessful outcome is shown as failed everywhere
        § agent
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it.", "outcome": {"success": false, "exit": 3}} → 201 {"failed": true, "content": "task-1: [failed] Step 1: Done. All of it."}
        GET window → 200 ~Task: task-1\nResult: failed\n
        GET window | Accept: application/json → 200 {"/tasks/0/failed": true}
        GET prompt?include=recent_tasks → 200 ~- T-1 [2026-11-21T02:00:00Z] task-1: [failed] Step 1: Done.
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it.", "outcome": {"success": true}} → 201 {"failed": false}
        GET archive/history | Accept: application/json → 200 {"/items/0/failed": true, "/items/0/line": "2026-11-21T02:00:00Z T-1 task-1: [failed] Step 1: Done."}
        GET archive/epics → 200 {"/items/0/latest/0/failed": true}
        GET records/T-1 → 200 {"intent": "Step 1", "failed": true}
        § the history is one line a task, in pages
        GET archive/history → 404 not-found
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201
        +1
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 201
        +1
        POST tasks < {"task_id": "task-3", "intent": "Step 3", "summary": "Done. All of it."} → 201
        +1
        POST tasks < {"task_id": "task-4", "intent": "Step 4", "summary": "Done. All of it."} → 201
        GET archive/history → 200 =- 2026-11-21T02:00:00Z T-1 task-1: Step 1: Done.\n- 2026-11-21T02:00:01Z T-2 task-2: Step 2: Done.\n- 2026-11-21T02:00:02Z T-3 task-3: Step 3: Done.\n
        GET archive/history?limit=2 | Accept: application/json → 200 {"/items/0/task_id": "task-1", "/items/1/line": "2026-11-21T02:00:01Z T-2 task-2: Step 2: Done."} ⇒ cursor=/next_cursor
        GET archive/history?limit=2&cursor=$cursor | Accept: application/json → 200 {"/items/0/record_id": "T-3", "next_cursor": null}
        GET archive/history?cursor=zz → 400 malformed cursor
        GET archive/history?limit=2 | Accept: application/json → 200
        GET archive/history?limit=2 → 200"##;
    let page = service.requests(table).await;
    holds(page.header("link"), &["cursor=", "rel=\"next\""]);
}

//! `POST M/tasks`

use super::{record, task};
use crate::harness::{Answer, Service, has, holds};
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn a_task_creates_the_memory_and_is_first_in_the_document() {
    let (_, memory) = Service::start().await.agent();
    let sent = json!({
        "task_id": "t1", "intent": "Fix: the\nparser", "summary": "First line.\nSecond: line",
        "outcome": {"tests": 60, "ok": [true, 1.5, null]}, "epic": "DSL"
    });

    let answer = record(&memory, sent.clone()).await.is(201);
    let made = answer.json();

    assert_eq!(answer.header("x-context-version"), "1");
    assert_eq!(answer.header("location"), memory.path("records/T-1"));
    has(&made, json!({"record_id": "T-1", "version": 1}));
    has(&made, json!({"unchanged": false, "archived": []}));
    for field in ["task_id", "intent", "summary", "outcome", "epic"] {
        assert_eq!(made[field], sent[field], "{field}");
    }
    let document = memory.get("context").await.is(200);
    assert_eq!(document.header("etag"), answer.header("etag"));
    assert_eq!(
        document.text(),
        "# Active Context\nGoal: none\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n\n# Recent Tasks\n- T-1 \
         [2026-11-21T02:00:00Z] t1: Fix: the parser: First line. Second: line\n"
    );
    let read = memory.read("records/T-1").await;
    for (field, value) in read.as_object().unwrap() {
        assert_eq!(made[field], *value, "{field}");
    }
    let listed = memory.read("records?kind=T").await;
    assert_eq!(listed["items"][0], read);
    let log = memory.read("log").await;
    assert_eq!(log["items"][0]["source"], "task");
    assert_eq!(
        log["items"][0]["log"],
        "+ T-1 t1: Fix: the parser: First line. Second: line"
    );
}

#[tokio::test]
async fn the_oldest_task_beyond_the_window_is_archived_in_the_same_version() {
    let (_, memory) = Service::start().await.agent();
    for number in 1..=5 {
        record(&memory, task(number)).await.is(201);
    }
    let table = r#"
        POST tasks < {"task_id": "task-6", "intent": "Step 6", "summary": "Done. All of it."} → 201 {"version": 6, "archived": ["T-1"]}
        GET records/T-1 → 200 {"status": "archived", "ended_version": 6, "archive_reason": "left the window of 5 recent tasks", "task_id": "task-1", "summary": "Done. All of it."}
        GET records?kind=T → 200 {"items#": 5}
        POST contexts/5/restore → 201
        GET records/T-1 → 200 {"status": "active", "task_id": "task-1"}"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_task_sent_twice_is_recorded_once_also_after_it_was_archived() {
    let service = Service::configured(|config| config.window.tasks = 1).await;
    // Ids are unique per memory.
    let table = r#"
        § agent
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 200 {"record_id": "T-1", "unchanged": true}
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 201
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 200 {"record_id": "T-1", "unchanged": true}
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it."} → 200
        ROWS memory_contexts 2
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Something else"} → 409 conflict task_id {"record_id": "T-1"}
        § other
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201"#;
    service.requests(table).await;
}

#[tokio::test]
async fn an_invalid_task_is_rejected_with_the_limit_and_saves_nothing() {
    let (service, memory) = Service::start().await.agent();
    for (field, value, limit) in [
        ("intent", json!(" \n"), None),
        ("intent", json!("x".repeat(501)), Some(500)),
        ("intent", json!("a\u{0}b"), None),
        ("summary", json!(""), None),
        ("summary", json!("x".repeat(4_001)), Some(4_000)),
        ("outcome", json!({"text": "x".repeat(8_190)}), Some(8_192)),
        ("outcome", json!({"a": ["\u{0}"]}), None),
        ("epic", json!("x".repeat(129)), Some(128)),
        ("epic", json!(" "), None),
        ("task_id", json!("not an id"), None),
        ("task_id", json!(""), None),
        ("more", json!(1), None),
    ] {
        let mut sent = task(1);
        sent[field] = value;
        let problem = record(&memory, sent).await.invalid(field);
        assert_eq!(problem.get("limit"), limit.map(Value::from).as_ref(), "{problem}");
    }
    let stale = memory
        .request(Method::POST, "tasks")
        .header("If-Match", "\"x\"")
        .json(&task(1));
    Answer::to(stale).await.stale();
    assert_eq!(service.counts(["memories", "records"]).await, [0, 0]);
    let at_their_limits = json!({
        "intent": "i".repeat(500), "summary": "s".repeat(4_000), "outcome": "o".repeat(8_190), "epic": "e".repeat(128)
    });
    record(&memory, at_their_limits).await.is(201);
}

#[tokio::test]
async fn ten_concurrent_writers_lose_nothing() {
    let (_, memory) = Service::start().await.agent();
    let written = join_all((1..=10).map(|number| record(&memory, task(number)))).await;
    let mut versions: Vec<(i64, String)> = written
        .into_iter()
        .map(|answer| {
            let made = answer.is(201).json();
            (
                made["version"].as_i64().unwrap(),
                made["record_id"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    versions.sort();
    let expected: Vec<_> = (1..=10).map(|number| (number, format!("T-{number}"))).collect();
    assert_eq!(versions, expected, "ids are given in the order of the versions");
    let all = memory.read("records?kind=T&status=all").await;
    assert_eq!(all["items"].as_array().unwrap().len(), 10);
    let document = memory.get("context?section=tasks").await.is(200);
    let lines: Vec<_> = document
        .text()
        .lines()
        .filter_map(|line| line.split(' ').nth(1))
        .skip(1)
        .collect();
    assert_eq!(lines, ["T-10", "T-9", "T-8", "T-7", "T-6"]);
}

#[tokio::test]
async fn a_vault_may_have_its_own_window_size() {
    let configure = |config: &mut working_memory::config::Config| {
        let own = working_memory::config::window::VaultWindow {
            tasks: Some(1),
            decisions: None,
        };
        config.window.vaults.insert("acme".to_owned(), own);
    };
    let (service, memory) = Service::configured(configure).await.agent();
    record(&memory, task(1)).await.is(201);
    let second = record(&memory, task(2)).await.is(201).json();
    assert_eq!(second["archived"], json!(["T-1"]));
    let elsewhere = "/v1/vaults/other/memories/agent/tasks";
    for number in 1..=2 {
        let sent = service.request(Method::POST, elsewhere).json(&task(number));
        assert_eq!(Answer::to(sent).await.is(201).json()["archived"], json!([]));
    }
}

#[tokio::test]
async fn a_task_with_an_unsuccessful_outcome_is_shown_as_failed_everywhere() {
    let service = Service::configured(|config| config.window.tasks = 1).await;
    let table = r#"
        § agent
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it.", "outcome": {"success": false, "exit": 3}} → 201 {"failed": true, "content": "task-1: [failed] Step 1: Done. All of it."}
        GET window → 200 ~Task: task-1\nResult: failed\n
        GET window | Accept: application/json → 200 {"/tasks/0/failed": true}
        GET prompt?include=recent_tasks → 200 ~- T-1 [2026-11-21T02:00:00Z] task-1: [failed] Step 1: Done.
        POST tasks < {"task_id": "task-2", "intent": "Step 2", "summary": "Done. All of it.", "outcome": {"success": true}} → 201 {"failed": false}
        GET archive/history | Accept: application/json → 200 {"/items/0/failed": true, "/items/0/line": "2026-11-21T02:00:00Z T-1 task-1: [failed] Step 1: Done."}
        GET archive/epics → 200 {"/items/0/latest/0/failed": true}
        GET records/T-1 → 200 {"intent": "Step 1", "failed": true}"#;
    service.requests(table).await;
}

#[tokio::test]
async fn numbers_of_an_outcome_are_stored_exactly_or_rejected_and_never_rounded() {
    let (_, memory) = Service::start().await.agent();
    let send = |number: &str| {
        let body = format!(r#"{{"intent": "a", "summary": "b", "outcome": {{"n": {number}}}}}"#);
        let request = memory.request(Method::POST, "tasks");
        Answer::to(request.header("Content-Type", "application/json").body(body))
    };
    let problem = send("12345678901234567890123")
        .await
        .problem(422, "invalid", None);
    holds(problem["detail"].as_str().unwrap(), &["12345678901234567890123"]);
    let made = send("18446744073709551615").await.is(201);
    assert!(made.text().contains("18446744073709551615"), "{}", made.text());
    assert!(
        memory
            .get("window")
            .await
            .text()
            .contains(r#"{"n":18446744073709551615}"#)
    );
}

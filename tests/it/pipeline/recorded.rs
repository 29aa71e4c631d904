//! `record` in `/update`: the end of a session in one call and one version.

use super::dictated::{Dictated, Gate, dictate, learning, progress};
use super::stored::is_sound;
use crate::harness::{Answer, Service, eventually, has, holds, rows};
use serde_json::{Value, json};
use std::time::Duration;
use working_memory::config::Config;
use working_memory::domain::operation::Role;

fn session(answers: Value, record: Value) -> Value {
    let mut body = dictate(answers);
    body["record"] = record;
    body
}

fn record(task_id: &str, intent: &str) -> Value {
    json!({"task_id": task_id, "intent": intent, "summary": "60 tests. And more.", "epic": "Parser",
           "outcome": {"ok": true}, "goal": "ship it"})
}

#[tokio::test]
async fn operations_task_and_status_are_one_version() {
    let (service, memory) = Dictated::new().service().await.agent();
    let tasks = (1..=5).rev().map(|n| format!("- T-{n} task {n}: done\n"));
    let tasks: String = tasks.collect();
    memory.write(format!("# Recent Tasks\n{tasks}")).await;
    let answers = json!({
        "learnings": learning("one"),
        "progress": "CURRENT_PROGRESS:\n  In Progress:\n    - wire  The parser\n    - Test it\n",
    });
    let body = session(answers, record("t", "Wire the parser"));
    let answer = memory.updated(body).await;
    has(
        &answer,
        json!({"status": "applied", "version": 2, "/operations/*/id": [null, "KL-1", "T-1", "T-6", null],
               "/operations/*/op": ["rewrite_progress", "add", "archive", "add", "rewrite_status"]}),
    );
    let table = r###"
        GET context | Accept: application/json → 200 {"context~": ["## Completed\n- wire  The parser\n## In Progress\n- Test it\n", "Goal: ship it\n"]}
        GET records/T-6 → 200 {"task_id": "t", "epic": "Parser", "outcome": {"ok": true}}
        GET log → 200 {"/items/0/source": "update"}
        GET archive/history | Accept: application/json → 200 {"items#": 1}"###;
    memory.requests(table).await;
    is_sound(&service, "agent").await;
}

#[tokio::test]
async fn the_record_is_written_also_when_the_roles_change_nothing_and_not_in_a_dry_run() {
    let (service, memory) = Dictated::new().service().await.agent();
    let mut tried = session(json!({}), record("t", "a"));
    tried["dry_run"] = json!(true);
    let tried = memory.updated(tried).await;
    has(&tried, json!({"status": "dry_run", "/operations/0/id": "T-1"}));
    assert_eq!(service.count("memory_contexts").await, 0);
    let answer = memory.updated(session(json!({}), record("t", "a"))).await;
    has(&answer, json!({"status": "applied", "version": 1}));
    assert_eq!(memory.read("records/T-1").await["task_id"], "t");
}

#[tokio::test]
async fn a_call_with_the_same_task_id_is_a_repeat_that_calls_no_model() {
    let dictated = Dictated::new();
    let (service, memory) = dictated.service().await.agent();
    let first = session(json!({"learnings": learning("one")}), record("t", "a"));
    memory.updated(first.clone()).await;
    let calls = dictated.asked(Role::Learnings).len();
    let mut other = first.clone();
    other["task"] = json!("something else was done");
    for body in [first, other] {
        let again = memory.updated(body).await;
        let repeat = json!({"status": "unchanged", "version": 1, "/warnings/0/kind": "already_recorded", "operations": [],
                            "diff": ""});
        has(&again, repeat);
    }
    assert_eq!(dictated.asked(Role::Learnings).len(), calls);
    assert_eq!(service.count("memory_contexts").await, 1);
    let response = memory.update(session(json!({}), record("t", "b"))).await;
    let problem = response.problem(409, "conflict", Some("record.task_id"));
    assert_eq!(problem["record_id"], "T-1");
    // Tasks of `RecordTask` count, too.
    let task = json!({"task_id": "u", "intent": "c", "summary": "d"});
    memory.post("tasks", &task).await.is(201);
    let again = memory.updated(session(json!({}), task)).await;
    assert_eq!(again["status"], "unchanged");
    // A task is the same whatever numbers it reports.
    let mut task = record("v", "a");
    task["outcome"] = json!({"rows": [1e16, -2.5e17, 1.0, 0.1, 7, -0.0]});
    for status in ["applied", "unchanged"] {
        let answer = memory.updated(session(json!({}), task.clone())).await;
        assert_eq!(answer["status"], status, "{answer}");
    }
}

#[tokio::test]
async fn a_repeat_is_answered_also_when_the_vault_has_used_its_tokens() {
    let limit = |config: &mut Config| config.limits.vault_tokens_per_day = Some(300);
    let (_, memory) = Service::start_with(limit, Some(Dictated::new().models()))
        .await
        .agent();
    let first = session(json!({}), record("t", "a"));
    memory.updated(first.clone()).await;
    memory.update(session(json!({}), record("u", "a"))).await.is(429);
    let again = memory.updated(first.clone()).await;
    has(
        &again,
        json!({"status": "unchanged", "/warnings/0/kind": "already_recorded"}),
    );
    memory.queued(&first).await;
}

#[tokio::test]
async fn the_record_is_applied_to_a_head_that_changed() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    let begin = "# Current Progress\n## In Progress\n- Wire it\n";
    memory.write(begin).await;
    let body = session(json!({"learnings": learning("one")}), record("t", "wire it"));
    let update = memory.update(body);
    let meanwhile = async {
        gate.asked().await;
        memory.write(format!("{begin}- Other\n\n# Notes\nnew\n")).await;
        gate.open();
    };
    let (answer, ()) = futures::join!(update, meanwhile);
    let answer = answer.is(200).json();
    has(&answer, json!({"rebased": true, "version": 3}));
    let text = memory.text().await;
    let merged = "## Completed\n- Wire it\n## In Progress\n- Other\n|# Notes\nnew\n";
    holds(&text, &merged.split('|').collect::<Vec<_>>());
    is_sound(&service, "agent").await;
}

#[tokio::test]
async fn a_queued_or_streamed_session_is_recorded_once() {
    let (service, memory) = Dictated::new().service().await.agent();
    let body = session(json!({"progress": progress("x")}), record("t", "a"));
    let workers = service.work(Duration::from_secs(10));
    let mut runs = Vec::new();
    for _ in 0..2 {
        runs.push(memory.queued(&body).await);
    }
    for (path, status) in runs.iter().zip(["applied", "unchanged"]) {
        let has_ended = async || !memory.read(path).await["finished_at"].is_null();
        eventually("it has ended", has_ended).await;
        let run = json!({"status": status, "/request/record/task_id": "t"});
        has(&memory.read(path).await, run);
    }
    let watched = memory.updating(&body).header("Accept", "text/event-stream");
    let streamed = Answer::to(watched).await.is(200);
    holds(streamed.text(), &["already_recorded"]);
    assert_eq!(service.count("memory_contexts").await, 1);
    service.stop();
    workers.stopped().await;
}

#[tokio::test]
async fn the_record_of_a_proposal_is_written_on_approval() {
    let (service, memory) = Dictated::new().service().await.agent();
    let mut body = session(json!({"learnings": learning("one")}), record("t", "a"));
    body["mode"] = json!("propose");
    // The record has no number.
    let table = r#"
        POST update < BODY → 200 {"/operations/*/number": [0, null, null]} ⇒ one=/update_id
        POST update < BODY → 200 ⇒ two=/update_id
        GET context → 404
        POST updates/$one/approve < {"operations": []} → 200 {"/operations/0/id": "T-1"}
        GET records/T-1 → 200 {"task_id": "t"}
        POST updates/$two/approve < {} → 200 {"/rejected/0/kind": "already_recorded", "/operations/0/id": "KL-1", "version": 2}"#;
    memory.requests(&table.replace("BODY", &body.to_string())).await;
    is_sound(&service, "agent").await;
}

#[tokio::test]
async fn an_invalid_record_is_rejected_before_any_model_is_called() {
    let dictated = Dictated::new();
    let (service, memory) = dictated.service().await.agent();
    let table = r#"
        {"intent": "a"} → record
        {"intent": " ", "summary": "b"} → record.intent
        {"intent": "a", "summary": "b", "task_id": "not an id"} → record.task_id
        {"intent": "a", "summary": "b", "goal": ""} → record.goal
        {"intent": "a", "summary": "b", "blocker": "\u0000"} → record.blocker
        {"intent": "a", "summary": "b", "status": "done"} → record.status
        ["a", "b"] → record"#;
    let long = json!({"intent": "a", "summary": "x".repeat(4_001)});
    let large = json!({"intent": "a", "summary": "b", "outcome": "x".repeat(9_000)});
    for (record, field) in rows(table).chain([(long, "record.summary"), (large, "record.outcome")]) {
        let problem = memory
            .update(session(json!({}), record))
            .await
            .problem(422, "invalid", None);
        has(&problem, json!({"field^": field}));
    }
    assert!(dictated.asked(Role::Progress).is_empty());
    assert_eq!(service.count("updates").await, 0);
}

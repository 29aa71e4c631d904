//! `on_invalid: fail`: nothing is saved, the run is stored, and a person completes it.

use super::dictated::{Dictated, LEARNING, PROGRESS, dictate, learning};
use crate::harness::{Answer, Memory, Service, has};
use serde_json::{Value, json};

const FAULTY: &str = "KEY_LEARNINGS:\n  ADD:\n    - no reason here\n    - because good: kept\n";

async fn failed_run(memory: &Memory) -> String {
    let mut update = dictate(json!({"learnings": FAULTY, "progress": PROGRESS}));
    update["on_invalid"] = json!("fail");
    let problem = memory.update(update).await.problem(422, "invalid", None);
    assert_eq!(problem["rejected"][0]["kind"], "missing_reason", "{problem}");
    problem["update_id"].as_str().unwrap().to_owned()
}

async fn run(memory: &Memory, id: &str) -> Value {
    memory.read(&format!("updates/{id}")).await
}

async fn finish(memory: &Memory, id: &str, more: &str, text: &str) -> Answer {
    Answer::to(memory.applying(&format!("?update_id={id}{more}"), text)).await
}

async fn start() -> Service {
    Dictated::new().service().await
}

#[tokio::test]
async fn a_faulty_update_saves_nothing_and_can_be_completed_once() {
    let (service, memory) = start().await.agent();

    let id = failed_run(&memory).await;

    assert_eq!(service.counts(["memories", "records"]).await, [0, 0]);
    let stored = run(&memory, &id).await;
    has(&stored, json!({"status": "invalid", "version": null}));
    assert!(stored["exchanges"].to_string().contains("no reason here"));
    assert_eq!(stored["outcome"]["rejected"][0]["kind"], "missing_reason");

    let finished = finish(&memory, &id, "", LEARNING).await.is(200).json();
    has(&finished, json!({"status": "applied", "version": 1}));
    let resolved = run(&memory, &id).await;
    assert_eq!(resolved["status"], "resolved");
    assert_eq!(resolved["resolved_by"], finished["update_id"]);

    finish(&memory, &id, "", LEARNING)
        .await
        .problem(409, "conflict", Some("update_id"));
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_text_that_changes_nothing_completes_a_run_too() {
    let (service, memory) = start().await.agent();
    let id = failed_run(&memory).await;

    let finished = finish(&memory, &id, "", "KEY_LEARNINGS: NO CHANGE\n")
        .await
        .is(200)
        .json();

    assert_eq!(finished["status"], "unchanged");
    assert_eq!(run(&memory, &id).await["resolved_by"], finished["update_id"]);
    finish(&memory, &id, "", LEARNING)
        .await
        .problem(409, "conflict", Some("update_id"));
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn neither_a_dry_run_nor_a_faulty_text_completes_a_run() {
    let (_, memory) = start().await.agent();
    let id = failed_run(&memory).await;

    let dry = finish(&memory, &id, "&dry_run=true", LEARNING)
        .await
        .is(200)
        .json();
    assert_eq!(dry["status"], "dry_run");
    finish(&memory, &id, "&on_invalid=fail", FAULTY)
        .await
        .problem(422, "invalid", None);
    assert_eq!(run(&memory, &id).await["status"], "invalid");

    finish(&memory, &id, "", LEARNING).await.is(200);
}

#[tokio::test]
async fn only_an_invalid_run_of_this_memory_can_be_completed() {
    let (service, memory) = start().await.agent();
    let id = failed_run(&memory).await;
    finish(&service.memory("other"), &id, "", LEARNING)
        .await
        .problem(404, "not-found", Some("update_id"));
    finish(&memory, "no-such-run", "", LEARNING)
        .await
        .problem(404, "not-found", Some("update_id"));
    let applied = memory.applied(LEARNING).await;
    finish(&memory, applied["update_id"].as_str().unwrap(), "", LEARNING)
        .await
        .problem(409, "conflict", Some("update_id"));
}

#[tokio::test]
async fn of_two_concurrent_completions_of_a_run_one_succeeds() {
    for texts in [
        [learning("one"), learning("two")],
        [
            "KEY_LEARNINGS: NO CHANGE".to_owned(),
            "VERBATIM_CONTEXT: NO CHANGE".to_owned(),
        ],
    ] {
        let (service, memory) = start().await.agent();
        memory.write("# Notes\n").await;
        let id = failed_run(&memory).await;
        let versions = service.count("memory_contexts").await;

        // Both have read the run before either can write.
        let mut lock = service.rows().begin().await.unwrap();
        sqlx::query("SELECT FROM memories WHERE vault_id = 'acme' FOR UPDATE")
            .execute(&mut *lock)
            .await
            .unwrap();
        let (one, two, ()) = tokio::join!(
            finish(&memory, &id, "", &texts[0]),
            finish(&memory, &id, "", &texts[1]),
            async {
                service.waits_for_locks(2).await;
                lock.rollback().await.unwrap();
            }
        );

        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        assert!(service.count("memory_contexts").await - versions <= 1);
        assert_eq!(run(&memory, &id).await["status"], "resolved");
    }
}

//! `POST M/consolidate`: what can go without losing anything is proposed or archived, and checked again when it is saved.

mod model;

use crate::harness::{Answer, Memory, Service, eventually, has, holds, lacks};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const DOCUMENT: &str = "# Key Learnings\n\
    - KL-1 because it failed: CI needs SQLX_OFFLINE=true\n\
    - KL-2 because it failed again: the CI needs `SQLX_OFFLINE=true`.\n\
    - KL-3 CI needs SQLX_OFFLINE=false\n\
    - KL-4 [until 2026-11-01] the certificate is in the safe\n\
    - KL-5 tests are slow\n\
    - KL-6 a\n- KL-7 b\n- KL-8 c\n- KL-9 d\n- KL-10 e\n\n\
    # Decisions\n- D-2 because D-1 is superseded: we use Redis\n- D-1 we use Postgres\n";

async fn consolidate(memory: &Memory, body: Value) -> Answer {
    memory.post("consolidate", &body).await
}

/// What is archived at once.
async fn applied(memory: &Memory) -> Value {
    let answer = consolidate(memory, json!({"mode": "apply"})).await;
    answer.is(200).json()
}

fn archived(answer: &Value) -> Vec<(String, Value)> {
    let operations = answer["operations"].as_array().unwrap().iter();
    let pair = |operation: &Value| {
        assert_eq!(operation["op"], "archive");
        (
            operation["id"].as_str().unwrap().to_owned(),
            operation["superseded_by"].clone(),
        )
    };
    operations.map(pair).collect()
}

async fn document(memory: &Memory) -> String {
    memory.text().await
}

#[tokio::test]
async fn what_can_go_is_proposed_and_archived_when_it_is_approved() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;

    let answer = memory.post_empty("consolidate").await.is(200).json();

    assert_eq!(answer["status"], "proposed");
    let expected = [
        ("KL-2".to_owned(), json!("KL-1")),
        ("KL-4".to_owned(), Value::Null),
        ("D-1".to_owned(), json!("D-2")),
    ];
    let mut found = archived(&answer);
    found.sort_by_key(|(id, _)| expected.iter().position(|(expected, _)| expected == id));
    assert_eq!(found, expected);
    assert_eq!(document(&memory).await, DOCUMENT);
    let id = answer["update_id"].as_str().unwrap();
    let run = memory.read(&format!("updates/{id}")).await;
    has(&run, json!({"kind": "consolidation", "status": "proposed"}));

    memory.post_empty(&format!("updates/{id}/approve")).await.is(200);
    let left = DOCUMENT.lines().filter(|line| {
        !["- KL-2 ", "- KL-4 ", "- D-1 "]
            .iter()
            .any(|id| line.starts_with(id))
    });
    assert_eq!(
        document(&memory).await.lines().collect::<Vec<_>>(),
        left.collect::<Vec<_>>()
    );
    let record = memory.read("records/KL-2").await;
    has(
        &record,
        json!({"archive_reason": "duplicate of KL-1", "superseded_by": "KL-1"}),
    );
    // Restored, everything is there again.
    memory.restore("1").await.is(201);
    assert_eq!(document(&memory).await, DOCUMENT);
}

#[tokio::test]
async fn a_step_that_no_longer_holds_is_refused_when_it_is_approved() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let answer = consolidate(&memory, json!({"mode": "propose"}))
        .await
        .is(200)
        .json();
    let id = answer["update_id"].as_str().unwrap();

    // KL-1 says something else meanwhile, so KL-2 is no duplicate of it any more; D-2 is gone.
    let moved = DOCUMENT
        .replace("CI needs SQLX_OFFLINE=true", "CI needs nothing")
        .replace("- D-2 ", "- D-3 ");
    memory.write(moved).await;
    let approved = memory
        .post_empty(&format!("updates/{id}/approve"))
        .await
        .is(200)
        .json();

    let rejected = approved["rejected"].as_array().unwrap();
    let details: Vec<_> = rejected
        .iter()
        .map(|fault| (fault["kind"].as_str().unwrap(), fault["detail"].as_str().unwrap()))
        .collect();
    assert!(
        details.iter().all(|(kind, _)| *kind == "uncovered"),
        "{details:?}"
    );
    assert!(
        details.iter().any(|(_, detail)| detail
            .contains("KL-1 does not say all that KL-2 says: `sqlx_offline=true` is missing")),
        "{details:?}"
    );
    assert!(
        details
            .iter()
            .any(|(_, detail)| detail.contains("D-2 is no active record")),
        "{details:?}"
    );
    assert_eq!(archived(&approved), [("KL-4".to_owned(), Value::Null)]);
}

#[tokio::test]
async fn applied_it_ends_when_nothing_is_left_and_answers_a_retry_the_same() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let apply = || {
        let request = memory
            .request(Method::POST, "consolidate")
            .header("Idempotency-Key", "once");
        Answer::to(request.json(&json!({"mode": "apply"})))
    };

    let first = apply().await.is(200).json();
    has(&first, json!({"status": "applied", "version": 2}));
    assert_eq!(apply().await.is(200).json()["update_id"], first["update_id"]);
    let again = applied(&memory).await;
    has(&again, json!({"status": "unchanged", "version": 2}));
}

#[tokio::test]
async fn bad_requests_say_what_is_wrong() {
    let (_, memory) = Service::start().await.agent();
    consolidate(&memory, json!({})).await.missing();
    memory.write(DOCUMENT).await;
    for (body, field) in [
        (json!({"mode": "now"}), "mode"),
        (json!({"modes": 1}), "modes"),
        (json!({"instructions": "x".repeat(10_001)}), "instructions"),
        (json!({"instructions": "a\u{0}b"}), "instructions"),
    ] {
        consolidate(&memory, body).await.invalid(field);
    }
    consolidate(&memory, json!({"instructions": null})).await.is(200);
}

#[tokio::test]
async fn a_newer_proposal_replaces_the_older_one_and_a_memory_says_that_one_waits() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let about = || async { memory.about().await };
    assert_eq!(about().await["open_proposals"], 0);
    assert!(
        !memory
            .get("prompt")
            .await
            .is(200)
            .text()
            .contains("About this memory")
    );

    let first = consolidate(&memory, json!({})).await.is(200).json();
    let by_operations = json!({"operations": [{"op": "archive", "id": "KL-5", "reason": "they are fast"}]});
    memory.asked("?mode=propose", by_operations).await;
    let second = consolidate(&memory, json!({})).await.is(200).json();

    let run = |answer: &Value| format!("updates/{}", answer["update_id"].as_str().unwrap());
    let replaced = memory.read(&run(&first)).await;
    assert_eq!(replaced["status"], "rejected");
    let reason = replaced["outcome"]["review"]["reason"].as_str().unwrap();
    assert_eq!(
        reason,
        format!(
            "replaced by the newer proposal {}",
            second["update_id"].as_str().unwrap()
        )
    );
    assert_eq!(memory.read(&run(&second)).await["status"], "proposed");
    // That of another kind waits on.
    let about = about().await;
    assert_eq!(about["open_proposals"], 2);
    assert!(about["bytes_limit"].as_u64().unwrap() > about["bytes"].as_u64().unwrap());
    let prompt = memory.get("prompt").await.is(200);
    assert!(
        prompt
            .text()
            .ends_with("About this memory: 2 proposals wait for a decision."),
        "{}",
        prompt.text()
    );
}

#[tokio::test]
async fn agents_name_grounds_and_merge_in_operations_of_their_own() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let operations = json!({"operations": [
        {"op": "archive", "id": "KL-2", "duplicate_of": "KL-1", "reason": "the same"},
        {"op": "archive", "id": "KL-3", "duplicate_of": "KL-1", "reason": "nearly the same"},
        {"op": "archive", "id": "KL-4", "expired": true, "reason": "over"},
        {"op": "merge", "ids": ["KL-5", "KL-7"], "content": "tests are slow, and b", "reason": "short"},
        {"op": "merge", "ids": ["KL-8"], "content": "c", "reason": "one is none"},
        {"op": "archive", "id": "D-1", "superseded_by": "D-2", "reason": "decided anew"},
        {"op": "archive", "id": "D-2", "reason": "without a ground"},
    ]});
    let answer = memory.asked("", operations).await;
    let rejected = answer["rejected"].as_array().unwrap().iter();
    let rejected: Vec<_> = rejected
        .map(|entry| (entry["index"].as_u64().unwrap(), entry["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(
        rejected,
        [(1, "uncovered"), (4, "malformed_id"), (6, "wrong_section_id")],
        "{answer}"
    );
    let text = document(&memory).await;
    holds(&text, &[": tests are slow, and b\n"]);
    lacks(&text, &["- KL-5", "- D-1"]);
    let two = json!({"op": "archive", "id": "KL-1", "duplicate_of": "KL-3", "expired": true, "reason": "r"});
    let misplaced = json!({"op": "add", "section": "learnings", "content": "c", "reason": "r", "ids": []});
    for operation in [two, misplaced] {
        let body = json!({"operations": [operation]});
        memory.ask("", body).await.invalid("operations[0]");
    }
}

#[tokio::test]
async fn a_memory_is_consolidated_by_itself_when_enough_is_new() {
    let service = Service::configured(|config| {
        config.consolidation.after_records = 10;
        config.consolidation.poll_seconds = 1;
    })
    .await;
    let background = service.consolidate_by_itself();
    let workers = service.work(Duration::from_secs(1));
    let small = service.memory("small");
    small
        .put("# Key Learnings\n- KL-1 tests are slow\n- KL-2 Tests are slow.\n")
        .await
        .is(201);
    let memory = service.memory("agent");
    memory.write(DOCUMENT).await;

    let newest = async || memory.read("updates").await["items"][0].clone();
    eventually("it is consolidated", async || {
        newest().await["status"] == "proposed"
    })
    .await;
    let run = newest().await;
    assert_eq!(
        (&run["kind"], &run["actor_id"]),
        (&json!("consolidation"), &json!("working-memory")),
        "{run}"
    );
    assert_eq!(small.get("updates").await.is(200).json()["items"], json!([]));
    // A change without enough new records begins no other one.
    memory.learns("r: one more").await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let runs = memory.read("updates").await;
    let own = |run: &&Value| run["kind"] == "consolidation";
    assert_eq!(
        runs["items"].as_array().unwrap().iter().filter(own).count(),
        1,
        "{runs}"
    );
    service.stop();
    workers.stopped().await;
    background.stop().await;
}

#[tokio::test]
async fn what_has_expired_is_archived_by_itself_where_that_is_configured() {
    let service = Service::configured(|config| {
        config.consolidation.archive_expired = true;
        config.consolidation.poll_seconds = 1;
    })
    .await;
    let memory = service.memory("agent");
    memory
        .write(DOCUMENT.replace("- KL-5 tests", "- KL-5 [pinned, until 2026-11-01] tests"))
        .await;
    let background = service.consolidate_by_itself();
    eventually("it is archived", async || {
        memory.read("records/KL-4").await["status"] == "archived"
    })
    .await;
    let record = memory.read("records/KL-4").await;
    has(
        &record,
        json!({"archive_reason": "expired on 2026-11-01", "ended_by": "working-memory"}),
    );
    let pinned = memory.read("records/KL-5").await;
    assert_eq!(pinned["status"], "active");
    background.stop().await;
}

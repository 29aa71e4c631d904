//! `POST M/consolidate`: what can go without losing anything is proposed or archived, and checked again when it is saved.

mod model;

use crate::harness::{Answer, Memory, Service, each, eventually, has};
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
    let mut found = archived(&answer);
    found.sort_by_key(|(id, _)| id.clone());
    let expected = [
        ("D-1", json!("D-2")),
        ("KL-2", json!("KL-1")),
        ("KL-4", Value::Null),
    ];
    assert_eq!(found, expected.map(|(id, by)| (id.to_owned(), by)));
    assert_eq!(document(&memory).await, DOCUMENT);
    let table = r#"
        GET updates/ID → 200 {"kind": "consolidation", "status": "proposed"}
        POST updates/ID/approve → 200
        GET records/KL-2 → 200 {"archive_reason": "duplicate of KL-1", "superseded_by": "KL-1"}"#;
    memory
        .requests(&table.replace("ID", answer["update_id"].as_str().unwrap()))
        .await;
    let goes = ["- KL-2 ", "- KL-4 ", "- D-1 "];
    let left = DOCUMENT
        .lines()
        .filter(|line| !goes.iter().any(|id| line.starts_with(id)));
    let text = document(&memory).await;
    assert_eq!(text.lines().collect::<Vec<_>>(), left.collect::<Vec<_>>());
    // Restored, everything is there again.
    memory.restore("1").await.is(201);
    assert_eq!(document(&memory).await, DOCUMENT);
}

#[tokio::test]
async fn a_step_that_no_longer_holds_is_refused_when_it_is_approved() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let answer = consolidate(&memory, json!({"mode": "propose"})).await;
    let id = answer.is(200).part("/update_id");
    // KL-1 says something else meanwhile, so KL-2 is no duplicate of it any more; D-2 is gone.
    let moved = DOCUMENT
        .replace("CI needs SQLX_OFFLINE=true", "CI needs nothing")
        .replace("- D-2 ", "- D-3 ");
    memory.write(moved).await;
    let approve = format!("POST updates/{id}/approve → 200");
    let approved = memory.requests(&approve).await.json();
    has(
        &approved,
        json!({"/rejected/*/kind": ["uncovered", "uncovered"], "/rejected/*/detail~": [
            "KL-1 does not say all that KL-2 says: `sqlx_offline=true` is missing", "D-2 is no active record"]}),
    );
    assert_eq!(archived(&approved), [("KL-4".to_owned(), Value::Null)]);
}

#[tokio::test]
async fn applied_it_ends_when_nothing_is_left_and_answers_a_retry_the_same() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let table = r#"
        POST consolidate | Idempotency-Key: once < {"mode": "apply"} → 200 {"status": "applied", "version": 2} ⇒ id=/update_id
        POST consolidate | Idempotency-Key: once < {"mode": "apply"} → 200 {"update_id": "$id"}
        POST consolidate < {"mode": "apply"} → 200 {"status": "unchanged", "version": 2}"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn bad_requests_say_what_is_wrong() {
    let (_, memory) = Service::start().await.agent();
    consolidate(&memory, json!({})).await.missing();
    memory.write(DOCUMENT).await;
    let table = r#"
        POST consolidate < {"mode": "now"} → 422 invalid mode
        POST consolidate < {"modes": 1} → 422 invalid modes
        POST consolidate < {"instructions": "LONG"} → 422 invalid instructions
        POST consolidate < {"instructions": "a\u0000b"} → 422 invalid instructions
        POST consolidate < {"instructions": null} → 200"#;
    memory.requests(&table.replace("LONG", &"x".repeat(10_001))).await;
}

#[tokio::test]
async fn a_newer_proposal_replaces_the_older_one_and_a_memory_says_that_one_waits() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    // A proposal of another kind waits on.
    let table = r#"
        GET . → 200 {"open_proposals": 0}
        GET prompt | Accept: application/json → 200 {"text!": "About this memory"}
        POST consolidate < {} → 200 ⇒ first=/update_id
        POST operations?mode=propose < {"operations": [{"op": "archive", "id": "KL-5", "reason": "they are fast"}]} → 200
        POST consolidate < {} → 200 ⇒ second=/update_id
        GET updates/$first → 200 {"status": "rejected", "/outcome/review/reason": "replaced by the newer proposal $second"}
        GET updates/$second → 200 {"status": "proposed"}
        GET . → 200 {"open_proposals": 2}"#;
    let about = memory.requests(table).await.json();
    assert!(about["bytes_limit"].as_u64().unwrap() > about["bytes"].as_u64().unwrap());
    let prompt = memory.get("prompt").await.is(200);
    let about = "About this memory: 2 proposals wait for a decision.";
    assert!(prompt.text().ends_with(about), "{}", prompt.text());
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
    has(
        &answer,
        json!({"/rejected/*/index": [1, 4, 6], "/rejected/*/kind": ["uncovered", "malformed_id", "wrong_section_id"]}),
    );
    let table = r#"
        GET context | Accept: application/json → 200 {"context~": ": tests are slow, and b\n", "context!": ["- KL-5", "- D-1"]}
        POST operations < {"operations": [{"op": "archive", "id": "KL-1", "duplicate_of": "KL-3", "expired": true, "reason": "r"}]} → 422 invalid operations[0]
        POST operations < {"operations": [{"op": "add", "section": "learnings", "content": "c", "reason": "r", "ids": []}]} → 422 invalid operations[0]"#;
    memory.requests(table).await;
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
    let text = "# Key Learnings\n- KL-1 tests are slow\n- KL-2 Tests are slow.\n";
    small.write(text).await;
    let memory = service.memory("agent");
    memory.write(DOCUMENT).await;

    let newest = async || memory.read("updates").await["items"][0].clone();
    eventually("it is consolidated", async || {
        newest().await["status"] == "proposed"
    })
    .await;
    let own = json!({"kind": "consolidation", "actor_id": "working-memory"});
    has(&newest().await, own);
    has(&small.read("updates").await, json!({"items": []}));
    // A change without enough new records begins no other one.
    memory.learns("r: one more").await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let runs = memory.read("updates").await;
    let kinds = each(&runs["items"], "kind").join(" ");
    assert_eq!(kinds.matches("consolidation").count(), 1, "{runs}");
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

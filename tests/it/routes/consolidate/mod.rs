//! `POST M/consolidate`: what can go without losing anything is proposed or archived, and checked again when it is saved.

mod model;

use crate::harness::{Answer, Memory, Service, eventually};
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

/// What is archived at once.
async fn applied(memory: &Memory) -> Value {
    let answer = memory.post("consolidate", json!({"mode": "apply"})).await;
    answer.is(200).json()
}

/// Sends the requests of a table, in which `DOCUMENT` is this one.
async fn asked(memory: &Memory, document: &str, table: &str) -> Answer {
    let document = document.replace('\n', "\\n");
    memory.requests(&table.replace("DOCUMENT", &document)).await
}

#[tokio::test]
async fn what_can_go_is_proposed_and_archived_when_it_is_approved() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        PUT context < DOCUMENT → 201
        POST consolidate → 200 {"status": "proposed", "/operations/*/op": ["archive", "archive", "archive"]} ⇒ id=/update_id
        GET context → 200 =DOCUMENT
        GET updates/$id → 200 {"kind": "consolidation", "status": "proposed"}
        POST updates/$id/approve → 200
        GET records/KL-2 → 200 {"archive_reason": "duplicate of KL-1", "superseded_by": "KL-1"}
        GET records/KL-4 → 200 {"status": "archived", "superseded_by": null}
        GET records/D-1 → 200 {"status": "archived", "superseded_by": "D-2"}
        GET context → 200"#;
    let text = asked(&memory, DOCUMENT, table).await;
    let goes = ["- KL-2 ", "- KL-4 ", "- D-1 "];
    let left = DOCUMENT
        .lines()
        .filter(|line| !goes.iter().any(|id| line.starts_with(id)));
    assert!(text.text().lines().eq(left), "{}", text.text());
    // Restored, everything is there again.
    let table = "
        POST contexts/1/restore → 201
        GET context → 200 =DOCUMENT";
    asked(&memory, DOCUMENT, table).await;
}

#[tokio::test]
async fn a_step_that_no_longer_holds_is_refused_when_it_is_approved() {
    let (_, memory) = Service::start().await.agent();
    // KL-1 says something else meanwhile, so KL-2 is no duplicate of it any more; D-2 is gone.
    let moved = DOCUMENT
        .replace("CI needs SQLX_OFFLINE=true", "CI needs nothing")
        .replace("- D-2 ", "- D-3 ");
    let table = r#"
        PUT context < DOCUMENT → 201
        POST consolidate < {"mode": "propose"} → 200 ⇒ id=/update_id
        PUT context < MOVED → 201
        POST updates/$id/approve → 200 {"/rejected/*/kind": ["uncovered", "uncovered"], "/rejected/*/detail~": ["KL-1 does not say all that KL-2 says: `SQLX_OFFLINE=true` is missing", "D-2 is no active record"], "/operations/*/id": ["KL-4"]}"#;
    let table = table.replace("MOVED", &moved.replace('\n', "\\n"));
    asked(&memory, DOCUMENT, &table).await;
}

#[tokio::test]
async fn consolidations_are_asked_for_and_agents_name_grounds_in_operations_of_their_own() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        § applied, it ends when nothing is left, and answers a retry the same
        PUT context < DOCUMENT → 201
        POST consolidate | Idempotency-Key: once < {"mode": "apply"} → 200 {"status": "applied", "version": 2} ⇒ id=/update_id
        POST consolidate | Idempotency-Key: once < {"mode": "apply"} → 200 {"update_id": "$id"}
        POST consolidate < {"mode": "apply"} → 200 {"status": "unchanged", "version": 2}
        § bad requests say what is wrong
        POST consolidate < {} → 404 not-found
        PUT context < DOCUMENT → 201
        POST consolidate < {"mode": "now"} → 422 invalid mode
        POST consolidate < {"mode": 5} → 422 invalid mode
        POST consolidate < {"modes": 1} → 422 invalid modes
        POST consolidate < {"instructions": "(x×10001)"} → 422 invalid instructions
        POST consolidate < {"instructions": "a\u0000b"} → 422 invalid instructions
        POST consolidate < {"instructions": null} → 200
        § a newer proposal replaces the older one, not one of another kind, and a memory says that one waits
        PUT context < DOCUMENT → 201
        GET . → 200 {"open_proposals": 0}
        GET prompt | Accept: application/json → 200 {"text!": "About this memory"}
        POST consolidate < {} → 200 ⇒ first=/update_id
        POST operations?mode=propose < {"operations": [{"op": "archive", "id": "KL-5", "reason": "they are fast"}]} → 200
        POST consolidate < {} → 200 ⇒ second=/update_id
        GET updates/$first → 200 {"status": "rejected", "/outcome/review/reason": "replaced by the newer proposal $second"}
        GET updates/$second → 200 {"status": "proposed"}
        GET . → 200 {"open_proposals": 2}
        GET prompt → 200 ~About this memory: 2 proposals wait for a decision.
        § agents name grounds and merge in operations of their own
        PUT context < DOCUMENT → 201
        POST operations < OPERATIONS → 200 {"/rejected/*/index": [1, 4, 6], "/rejected/*/kind": ["uncovered", "malformed_id", "wrong_section_id"]}
        GET context | Accept: application/json → 200 {"context~": ": tests are slow, and b\n", "context!": ["- KL-5", "- D-1"]}
        POST operations < {"operations": [{"op": "archive", "id": "KL-1", "duplicate_of": "KL-3", "expired": true, "reason": "r"}]} → 422 invalid operations[0]
        POST operations < {"operations": [{"op": "add", "section": "learnings", "content": "c", "reason": "r", "ids": []}]} → 422 invalid operations[0]"#;
    let operations = json!({"operations": [
        {"op": "archive", "id": "KL-2", "duplicate_of": "KL-1", "reason": "the same"},
        {"op": "archive", "id": "KL-3", "duplicate_of": "KL-1", "reason": "nearly the same"},
        {"op": "archive", "id": "KL-4", "expired": true, "reason": "over"},
        {"op": "merge", "ids": ["KL-5", "KL-7"], "content": "tests are slow, and b", "reason": "short"},
        {"op": "merge", "ids": ["KL-8"], "content": "c", "reason": "one is none"},
        {"op": "archive", "id": "D-1", "superseded_by": "D-2", "reason": "decided anew"},
        {"op": "archive", "id": "D-2", "reason": "without a ground"},
    ]});
    let table = table.replace("OPERATIONS", &operations.to_string());
    asked(&memory, DOCUMENT, &table).await;
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
    let text = "# Key Learnings\n- KL-1 tests are slow\n- KL-2 Tests are slow.\n";
    service.memory("small").write(text).await;
    let memory = service.memory("agent");
    memory.write(DOCUMENT).await;

    eventually("it is consolidated", async || {
        memory.read("updates").await["items"][0]["status"] == "proposed"
    })
    .await;
    // A change without enough new records begins no other one.
    memory.learns("r: one more").await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let table = r#"
        GET updates → 200 {"/items/*/kind": ["operations", "consolidation"], "/items/1/actor_id": "working-memory"}
        GET /v1/vaults/acme/memories/small/updates → 200 {"items": []}"#;
    memory.requests(table).await;
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
    let table = r#"
        GET records/KL-4 → 200 {"archive_reason": "expired on 2026-11-01", "ended_by": "working-memory"}
        GET records/KL-5 → 200 {"status": "active"}"#;
    memory.requests(table).await;
    background.stop().await;
}

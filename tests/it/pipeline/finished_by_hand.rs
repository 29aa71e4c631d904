//! `on_invalid: fail`: nothing is saved, the run is stored, and a person completes it.

use super::dictated::{Dictated, LEARNING, PROGRESS, dictate, learning};
use crate::harness::{Answer, Memory, Service};
use serde_json::json;

const FAULTY: &str = "KEY_LEARNINGS:\n  ADD:\n    - no reason here\n    - because good: kept\n";

async fn failed_run(memory: &Memory) -> String {
    let mut update = dictate(json!({"learnings": FAULTY, "progress": PROGRESS}));
    update["on_invalid"] = json!("fail");
    let problem = memory.update(update).await.problem(422, "invalid", None);
    assert_eq!(problem["rejected"][0]["kind"], "missing_reason", "{problem}");
    problem["update_id"].as_str().unwrap().to_owned()
}

async fn start() -> Service {
    Dictated::new().service().await
}

/// Sends the requests of a table, in which `ID` is the run, `GOOD` and `FAULTY` are texts.
async fn asked(memory: &Memory, id: &str, table: &str) {
    let good = LEARNING.replace('\n', "\\n");
    let table = table.replace("ID", id).replace("GOOD", &good);
    memory
        .requests(&table.replace("FAULTY", &FAULTY.replace('\n', "\\n")))
        .await;
}

#[tokio::test]
async fn a_faulty_update_saves_nothing_and_can_be_completed_once() {
    for (text, status) in [("GOOD", "applied"), ("KEY_LEARNINGS: NO CHANGE\\n", "unchanged")] {
        let (service, memory) = start().await.agent();
        let id = failed_run(&memory).await;
        assert_eq!(service.counts(["memories", "records"]).await, [0, 0]);
        let table = r#"
            GET updates/ID → 200 {"status": "invalid", "version": null, "exchanges~": "no reason here", "/outcome/rejected/0/kind": "missing_reason"}
            POST operations?update_id=ID < TEXT → 200 {"status": "STATUS"} ⇒ by=/update_id
            GET updates/ID → 200 {"status": "resolved", "resolved_by": "$by"}
            POST operations?update_id=ID < GOOD → 409 conflict update_id"#;
        let table = table.replace("TEXT", text).replace("STATUS", status);
        asked(&memory, &id, &table).await;
        let versions = i64::from(status == "applied");
        assert_eq!(service.count("memory_contexts").await, versions);
    }
}

#[tokio::test]
async fn only_an_invalid_run_of_this_memory_can_be_completed_and_not_by_a_dry_run_or_a_faulty_text() {
    let (_, memory) = start().await.agent();
    let id = failed_run(&memory).await;
    let table = r#"
        POST operations?update_id=ID&dry_run=true < GOOD → 200 {"status": "dry_run"}
        POST operations?update_id=ID&on_invalid=fail < FAULTY → 422 invalid
        POST operations?update_id=ID < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-9 because a\n → 200 {"status": "unchanged"}
        GET updates/ID → 200 {"status": "invalid"}
        POST /v1/vaults/acme/memories/other/operations?update_id=ID < GOOD → 404 not-found update_id
        POST operations?update_id=no-such-run < GOOD → 404 not-found update_id
        POST operations?update_id=ID < GOOD → 200
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because a: b\n → 200 {"status": "applied"} ⇒ done=/update_id
        POST operations?update_id=$done < GOOD → 409 conflict update_id"#;
    asked(&memory, &id, table).await;
}

#[tokio::test]
async fn of_two_concurrent_completions_of_a_run_one_succeeds() {
    let unchanged = ["KEY_LEARNINGS", "VERBATIM_CONTEXT"].map(|header| format!("{header}: NO CHANGE"));
    for texts in [[learning("one"), learning("two")], unchanged] {
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
            Answer::to(memory.applying(&format!("?update_id={id}"), &texts[0])),
            Answer::to(memory.applying(&format!("?update_id={id}"), &texts[1])),
            async {
                service.waits_for_locks(2).await;
                lock.rollback().await.unwrap();
            }
        );

        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        assert!(service.count("memory_contexts").await - versions <= 1);
        asked(&memory, &id, r#"GET updates/ID → 200 {"status": "resolved"}"#).await;
    }
}

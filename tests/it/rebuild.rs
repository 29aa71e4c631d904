//! Records and their history, rebuilt from the versions alone.

use crate::harness::Service;
use serde_json::json;
use std::time::Duration;
use working_memory::storage::Rebuilt;

async fn rows(service: &Service) -> Vec<String> {
    let statement =
        "SELECT t::text FROM records AS t UNION ALL SELECT c::text FROM record_changes AS c ORDER BY 1";
    service.values(statement).await
}

/// Executes each statement, which loses something, and checks that it is found again in the versions.
async fn is_rebuilt_after(service: &Service, losses: &[&'static str]) {
    let before = rows(service).await;
    for lost in losses {
        service.execute(*lost).await;
        for mended in [1, 0] {
            let rebuilt = service.storage().rebuild_records(None, None).await.unwrap();
            assert_eq!(rebuilt, Rebuilt { memories: 1, mended }, "{lost}");
            assert_eq!(rows(service).await, before, "{lost}");
        }
    }
}

#[tokio::test]
async fn lost_records_are_rebuilt_from_the_versions() {
    let (service, memory) = Service::start().await.with_memory("m");
    let table = r##"
        PUT context < # Key Learnings\n- KL-1 because a: one\n- KL-2 because b: two\n → 201
        +60
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because c: three\n  ARCHIVE:\n    - KL-1 because it is over\n → 200
        PUT context < # Key Learnings\n- KL-2 because b: zwei\n → 201
        POST contexts/1/restore → 201"##;
    memory.requests(table).await;
    let history: Vec<String> = service
        .values(
            "SELECT format('%s %s-%s %s', version, kind, number, change) FROM record_changes \
             ORDER BY version, kind, number",
        )
        .await;
    let expected = "1 KL-1 added, 1 KL-2 added, 2 KL-1 archived, 2 KL-3 added, 3 KL-2 changed, 3 KL-3 archived, \
                    4 KL-1 restored, 4 KL-2 changed";
    assert_eq!(history.join(", "), expected);
    let losses = [
        "DELETE FROM records",
        "DELETE FROM record_changes",
        "UPDATE records SET content = 'x'",
    ];
    is_rebuilt_after(&service, &losses).await;
}

#[tokio::test]
async fn tasks_decisions_and_their_replacements_survive_a_rebuild() {
    let (service, memory) = Service::start().await.with_memory("m");
    for number in 1..=7 {
        service.clock.advance(Duration::from_secs(60));
        let task = json!({
            "task_id": format!("t-{number}"), "intent": format!("intent {number}"), "summary": "Done. And more.",
            "outcome": {"tests": number}, "epic": "parser",
        });
        memory.post("tasks", task).await.is(201);
    }
    let table = r#"
        POST decisions < {"decision": "one", "reason": "first"} → 201
        POST decisions < {"decision": "two", "reason": "better", "supersedes": "D-1"} → 201
        POST window/import < {"history": [{"time": "2020-01-01T00:00:00Z", "intent": "old", "summary": "Long ago.", "epic": "past"}]} → 201"#;
    memory.requests(table).await;
    let changes: Vec<String> = service
        .values("SELECT change FROM record_changes WHERE kind = 'D' ORDER BY version, number")
        .await;
    assert_eq!(changes, ["added", "superseded", "added"]);
    let rebuilt = service.storage().rebuild_records(None, None).await.unwrap();
    assert_eq!(rebuilt.mended, 0);
    let losses = [
        "DELETE FROM records",
        "DELETE FROM record_changes",
        "DELETE FROM records WHERE kind = 'D'",
        "UPDATE records SET content = 'x', written_at = NULL WHERE kind = 'T' AND number < 8",
        "UPDATE records SET superseded_by = NULL",
    ];
    is_rebuilt_after(&service, &losses).await;
}

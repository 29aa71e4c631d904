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

#[tokio::test]
async fn lost_records_are_rebuilt_from_the_versions() {
    let (service, memory) = Service::start().await.with_memory("m");
    let text = "# Key Learnings\n- KL-1 because a: one\n- KL-2 because b: two\n";
    memory.write(text).await;
    service.clock.advance(Duration::from_secs(60));
    let text = "KEY_LEARNINGS:\n  ADD:\n    - because c: three\n  ARCHIVE:\n    - KL-1 because it is over\n";
    memory.applied(text).await;
    memory.write("# Key Learnings\n- KL-2 because b: zwei\n").await;
    memory.restore("1").await.is(201);
    let before = rows(&service).await;
    let history: Vec<String> = service
        .values(
            "SELECT format('%s %s-%s %s', version, kind, number, change) FROM record_changes \
             ORDER BY version, kind, number",
        )
        .await;
    let expected = "1 KL-1 added, 1 KL-2 added, 2 KL-1 archived, 2 KL-3 added, 3 KL-2 changed, 3 KL-3 archived, \
                    4 KL-1 restored, 4 KL-2 changed";
    assert_eq!(history.join(", "), expected);
    for lost in [
        "DELETE FROM records",
        "DELETE FROM record_changes",
        "UPDATE records SET content = 'x'",
    ] {
        sqlx::query(lost).execute(service.rows()).await.unwrap();
        let rebuilt = service.storage().rebuild_records(None, None).await.unwrap();
        let Rebuilt { memories, mended } = rebuilt;
        assert_eq!((memories, mended), (1, 1), "{lost}");
        assert_eq!(rows(&service).await, before, "{lost}");
    }
    let rebuilt = service.storage().rebuild_records(None, None).await.unwrap();
    assert_eq!((rebuilt.memories, rebuilt.mended), (1, 0));
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
    let one = json!({"decision": "one", "reason": "first"});
    memory.post("decisions", one).await.is(201);
    let two = json!({"decision": "two", "reason": "better", "supersedes": "D-1"});
    memory.post("decisions", two).await.is(201);
    let history = json!({
        "history": [{"time": "2020-01-01T00:00:00Z", "intent": "old", "summary": "Long ago.", "epic": "past"}],
    });
    memory.post("window/import", history).await.is(201);
    let before = rows(&service).await;
    let history_lines: Vec<String> = service
        .values("SELECT change FROM record_changes WHERE kind = 'D' ORDER BY version, number")
        .await;
    assert_eq!(history_lines, ["added", "superseded", "added"]);
    let rebuilt = service.storage().rebuild_records(None, None).await.unwrap();
    assert_eq!((rebuilt.mended, rows(&service).await), (0, before.clone()));
    let all = "DELETE FROM records|DELETE FROM record_changes|DELETE FROM records WHERE kind = 'D'|\
            UPDATE records SET content = 'x', written_at = NULL WHERE kind = 'T' AND number < 8|\
            UPDATE records SET superseded_by = NULL";
    for lost in all.split('|') {
        sqlx::query(lost).execute(service.rows()).await.unwrap();
        let rebuilt = service.storage().rebuild_records(None, None).await.unwrap();
        assert_eq!(rebuilt.mended, 1, "{lost}");
        assert_eq!(rows(&service).await, before, "{lost}");
    }
}

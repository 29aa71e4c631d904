//! Tasks in exports and imports.

use super::program::{export, imports, refuses};
use super::sealed::File;
use crate::harness::{Database, Service};
use serde_json::{Value, json};

async fn filled() -> Service {
    let service = Service::configured(|config| config.window.tasks = 1).await;
    let memory = service.memory("agent");
    let post = |route: &'static str, body: Value| memory.post(route, body);
    for number in 1..=2 {
        let task = json!({
            "task_id": format!("task-{number}"), "intent": "Step\none", "summary": "Done.", "epic": "e",
            "outcome": {"tests": 60}
        });
        post("tasks", task).await.is(201);
    }
    let second = json!({"decision": "c", "reason": "d", "supersedes": "D-1"});
    for decision in [json!({"decision": "a", "reason": "b"}), second] {
        post("decisions", decision).await.is(201);
    }
    let history = json!({"history": [{"time": "2026-09-02T00:00:00Z", "intent": "Old", "epic": "k"}]});
    post("window/import", history).await.is(201);
    service
}

#[tokio::test]
async fn a_file_that_gives_two_tasks_one_id_is_refused() {
    let service = filled().await;
    let file = export(&service.database_url(), &["--vault", "acme"]);
    let twice = File::of(&file.replace("task-2", "task-1")).sealed();
    let other = Database::create().await;
    let said = "task_id: two tasks of the memory have the same";
    refuses(&other.url(), &[], &twice, said);
}

#[tokio::test]
async fn unknown_fields_of_a_task_are_preserved_and_validated() {
    let service = filled().await;
    let plain = export(&service.database_url(), &["--vault", "acme"]);
    assert!(!plain.contains("\"details\""), "{plain}");
    service
        .execute("UPDATE records SET details = '{\"priority\": \"high\"}' WHERE epic = 'e'")
        .await;
    let file = export(&service.database_url(), &["--vault", "acme"]);
    let details = file.matches(r#""epic":"e","details":{"priority":"high"}}"#);
    assert_eq!(details.count(), 2, "{file}");
    let other = Database::create().await;
    imports(&other.url(), &[], &file, [1, 0, 0, 0]);
    assert_eq!(export(&other.url(), &["--vault", "acme"]), file);

    for (member, value, said) in [
        ("details", json!([]), "records_details_check"),
        ("details", json!("x"), "records_details_check"),
        ("details", json!({"priority": "\0"}), "unsupported Unicode escape"),
        ("kind", json!("D"), "records_task_check"),
    ] {
        let mut lines = File::of(&file);
        let task_line = lines.0.iter_mut().find(|line| line["record"]["epic"] == "e");
        task_line.unwrap()["record"][member] = value;
        let other = Database::create().await;
        refuses(&other.url(), &[], &lines.sealed(), said);
    }
}

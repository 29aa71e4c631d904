//! `POST M/window/import`

use super::{record, set, task};
use crate::harness::{Answer, Memory, Service, each, has, rows};
use serde_json::{Value, json};

async fn import(memory: &Memory, body: &Value) -> Answer {
    memory.post("window/import", body).await
}

fn folder() -> Value {
    json!({
        "status": {"goal": "ship", "blocker": "review"},
        "tasks": [
            {"time": "2026-10-02T00:00:00Z", "intent": "Second", "summary": "Two."},
            {"time": "2026-10-03T00:00:00Z", "task_id": "mine", "intent": "Third", "summary": "Three.", "outcome": [1]},
        ],
        "decisions": [{"time": "2026-10-01T00:00:00Z", "decision": "plain text", "reason": "it lasts"}],
        "history": [
            {"time": "2026-09-02T00:00:00Z", "intent": "Zero", "epic": "start"},
            {"time": "2026-09-01T00:00:00Z", "intent": "Before zero", "summary": "Less."},
            {"time": "2026-10-02T00:00:00Z", "intent": "Second", "summary": "Two."},
        ],
    })
}

#[tokio::test]
async fn a_folder_is_imported_in_one_version_and_only_once() {
    let (service, memory) = Service::start().await.agent();
    let done = import(&memory, &folder()).await.is(201).json();
    assert_eq!(done["version"], 1);
    assert_eq!(
        done["taken"],
        json!({"status": 1, "tasks": 2, "decisions": 1, "history": 2})
    );
    assert_eq!(
        done["present"],
        json!({"status": 0, "tasks": 0, "decisions": 0, "history": 1})
    );

    let document = memory.get("context").await.is(200);
    assert_eq!(
        document.text(),
        "# Active Context\nGoal: ship\nBlocker: review\nUpdated: 2026-11-21T02:00:00Z\n\n# Recent Tasks\n- T-4 \
         [2026-10-03T00:00:00Z] mine: Third: Three.\n- T-3 [2026-10-02T00:00:00Z] Second: Two.\n\n# Decisions\n- D-1 \
         [2026-10-01T00:00:00Z] because it lasts: plain text\n"
    );
    assert_eq!(
        memory.get("archive/history").await.is(200).text(),
        "- 2026-09-01T00:00:00Z T-1 Before zero: Less.\n- 2026-09-02T00:00:00Z T-2 Zero\n"
    );
    let past = memory.read("records/T-2").await;
    has(&past, json!({"status": "archived", "epic": "start"}));
    has(&past, json!({"created_version": 1, "ended_version": 1}));
    assert_eq!(memory.get("log").await.json()["items"][0]["source"], "import");
    assert_eq!(memory.get("records/T-4").await.json()["outcome"], json!([1]));

    let again = import(&memory, &folder()).await.is(200).json();
    has(&again, json!({"unchanged": true, "version": 1}));
    assert_eq!(
        again["present"],
        json!({"status": 1, "tasks": 2, "decisions": 1, "history": 3})
    );
    // A number of an archived task is not assigned again.
    assert_eq!(record(&memory, task(1)).await.is(201).json()["record_id"], "T-5");
    let stored: Value = service
        .value("SELECT operations FROM memory_contexts WHERE version = 1")
        .await;
    let history = stored
        .as_array()
        .unwrap()
        .iter()
        .filter(|operation| operation["op"] == "history");
    assert_eq!(history.count(), 2, "{stored}");
}

#[tokio::test]
async fn a_decision_that_begins_like_a_reason_is_imported_whole_and_once() {
    let (_, memory) = Service::start().await.agent();
    let made = json!({"time": "2026-10-01T00:00:00Z", "decision": "Because of load: one queue"});
    let folder = json!({ "decisions": [made] });
    assert_eq!(
        import(&memory, &folder).await.is(201).json()["taken"]["decisions"],
        1
    );
    let record = memory.read("records/D-1").await;
    has(
        &record,
        json!({"content": "Because\u{a0}of load: one queue", "reason": null}),
    );
    let again = import(&memory, &folder).await.is(200).json();
    assert_eq!(
        (&again["unchanged"], &again["present"]["decisions"]),
        (&json!(true), &json!(1))
    );
}

#[tokio::test]
async fn tasks_older_than_the_window_are_archived() {
    let service = Service::configured(|config| config.window.tasks = 2).await;
    let memory = service.memory("agent");
    set(&memory, json!({"goal": "mine"})).await.is(201);
    record(&memory, task(1)).await.is(201);
    let done = import(&memory, &folder()).await.is(201).json();
    assert_eq!(
        (&done["taken"]["status"], &done["archived"]),
        (&json!(0), &json!([]))
    );
    let window = memory.get_json("window").await.json();
    assert_eq!(window["status"]["goal"], "mine");
    let intents = each(&window["tasks"], "intent");
    assert_eq!(intents, ["Third", "Step 1"]);
    assert!(
        memory
            .get("archive/history")
            .await
            .text()
            .contains(" Second: Two.")
    );
}

#[tokio::test]
async fn invalid_entries_are_named_by_their_position() {
    let (service, memory) = Service::start().await.agent();
    for (body, field) in rows(
        r#"
        {"tasks": [{"time": "2026-10-02T00:00:00Z", "intent": ""}]} → tasks[0].intent
        {"history": [{"time": "yesterday", "intent": "x"}]} → history[0].time
        {"decisions": [{"time": "2026-10-02T00:00:00Z", "decision": "\u0000"}]} → decisions[0].decision
        {"tasks": [{"time": "2026-10-02T00:00:00Z", "intent": "x", "task_id": "a b"}]} → tasks[0].task_id
        {"more": 1} → more"#,
    ) {
        import(&memory, &body).await.invalid(field);
    }
    let nothing = import(&memory, &json!({})).await.is(200).json();
    has(&nothing, json!({"unchanged": true, "version": null}));
    assert_eq!(service.count("memories").await, 0);
}

//! `POST M/decisions`

use super::decide;
use crate::harness::{Service, has};
use serde_json::json;

#[tokio::test]
async fn a_decision_supersedes_another_and_the_two_are_linked() {
    let (service, memory) = Service::start().await.agent();
    let first = decide(
        &memory,
        json!({"decision": "SQL in\nstorage", "reason": "one language, std::fs too"}),
    )
    .await;
    let first = first.is(201).json();
    has(&first, json!({"record_id": "D-1", "content": "SQL in storage"}));
    has(
        &first,
        json!({"reason": "one language, std::fs too", "kind": "D"}),
    );

    let second = json!({"decision": "SQL in files", "reason": "it is checked", "supersedes": "D-1"});
    let second = decide(&memory, second).await.is(201).json();

    has(&second, json!({"record_id": "D-2", "archived": ["D-1"]}));
    let old = memory.read("records/D-1").await;
    has(&old, json!({"status": "archived", "superseded_by": "D-2"}));
    assert_eq!(old["archive_reason"], "superseded: it is checked");
    let document = memory.get("context?section=decisions").await.is(200);
    let line = "- D-2 [2026-11-21T02:00:00Z] because it is checked: SQL in files\n";
    assert_eq!(document.text(), format!("# Decisions\n{line}"));
    for id in ["D-1", "D-77"] {
        let refused = json!({"decision": "x", "reason": "y", "supersedes": id});
        let problem = decide(&memory, refused).await.invalid("supersedes");
        assert_eq!(problem["active"], json!(["D-2"]));
    }
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn the_oldest_decision_beyond_the_window_is_archived_and_invalid_ones_are_rejected() {
    let service = Service::configured(|config| config.window.decisions = 2).await;
    let memory = service.memory("agent");
    memory
        .requests(
            r#"
            POST decisions < {"decision": "way 1", "reason": "why"} → 201 {"archived": []}
            POST decisions < {"decision": "way 2", "reason": "why"} → 201 {"archived": []}
            POST decisions < {"decision": "way 3", "reason": "why"} → 201 {"archived": ["D-1"]}"#,
        )
        .await;
    let long = "x".repeat(2_001);
    memory
        .requests(&format!(
            r#"
            POST decisions < {{"decision": " ", "reason": "why"}} → 422 invalid decision
            POST decisions < {{"decision": "x", "reason": ""}} → 422 invalid reason
            POST decisions < {{"decision": "x", "reason": "a: b"}} → 422 invalid reason
            POST decisions < {{"decision": "x", "reason": "a\nb"}} → 422 invalid reason
            POST decisions < {{"decision": "{long}", "reason": "why"}} → 422 invalid decision
            POST decisions < {{"decision": "x", "reason": "why", "supersedes": "T-1"}} → 422 invalid supersedes"#
        ))
        .await;
}

#[tokio::test]
async fn a_decision_may_have_no_reason() {
    let (_, memory) = Service::start().await.agent();
    memory
        .requests(
            r#"
            POST decisions < {"decision": "SQL in storage"} → 201 {"reason": null, "content": "SQL in storage"}
            POST decisions < {"decision": "SQL in files", "reason": null, "supersedes": "D-1"} → 201
            GET records/D-1 → 200 {"archive_reason": "superseded", "superseded_by": "D-2"}"#,
        )
        .await;
    assert_eq!(
        memory.get("context?section=decisions").await.text(),
        "# Decisions\n- D-2 [2026-11-21T02:00:00Z] SQL in files\n"
    );
}

#[tokio::test]
async fn a_reason_that_the_line_format_would_change_is_rejected_and_the_error_says_why() {
    let (_, memory) = Service::start().await.agent();
    let refused = json!({"decision": "x", "reason": "the root cause: a race"});
    let problem = decide(&memory, refused).await.invalid("reason");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("colon") && detail.contains("byte 14"), "{detail}");
    memory.get("context").await.missing();
}

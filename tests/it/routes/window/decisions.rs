//! `POST M/decisions`

use crate::harness::Service;

#[tokio::test]
async fn a_decision_supersedes_another_and_the_two_are_linked() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        POST decisions < {"decision": "SQL in\nstorage", "reason": "one language, std::fs too"} → 201 {"record_id": "D-1", "content": "SQL in storage", "reason": "one language, std::fs too", "kind": "D"}
        POST decisions < {"decision": "SQL in files", "reason": "it is checked", "supersedes": "D-1"} → 201 {"record_id": "D-2", "archived": ["D-1"]}
        GET records/D-1 → 200 {"status": "archived", "superseded_by": "D-2", "archive_reason": "superseded: it is checked"}
        GET context?section=decisions → 200 =# Decisions\n- D-2 [2026-11-21T02:00:00Z] because it is checked: SQL in files\n
        POST decisions < {"decision": "x", "reason": "y", "supersedes": "D-1"} → 422 invalid supersedes {"active": ["D-2"]}
        POST decisions < {"decision": "x", "reason": "y", "supersedes": "D-77"} → 422 invalid supersedes {"active": ["D-2"]}
        ROWS memory_contexts 2"##;
    memory.requests(table).await;
}

#[tokio::test]
async fn the_oldest_decision_beyond_the_window_is_archived_and_invalid_ones_are_rejected() {
    let service = Service::configured(|config| config.window.decisions = 2).await;
    // A reason that the line format would change is rejected, and the error says why.
    let table = r#"
        § agent
        POST decisions < {"decision": "way 1", "reason": "why"} → 201 {"archived": []}
        POST decisions < {"decision": "way 2", "reason": "why"} → 201 {"archived": []}
        POST decisions < {"decision": "way 3", "reason": "why"} → 201 {"archived": ["D-1"]}
        § new
        POST decisions < {"decision": " ", "reason": "why"} → 422 invalid decision
        POST decisions < {"decision": "x", "reason": ""} → 422 invalid reason
        POST decisions < {"decision": "x", "reason": "a: b"} → 422 invalid reason
        POST decisions < {"decision": "x", "reason": "a\nb"} → 422 invalid reason
        POST decisions < {"decision": "LONG", "reason": "why"} → 422 invalid decision
        POST decisions < {"decision": "x", "reason": "why", "supersedes": "T-1"} → 422 invalid supersedes
        POST decisions < {"decision": "x", "reason": "the root cause: a race"} → 422 invalid reason {"detail~": ["colon", "byte 14"]}
        GET context → 404 not-found"#;
    service.requests(&table.replace("LONG", &"x".repeat(2_001))).await;
}

#[tokio::test]
async fn a_decision_may_have_no_reason() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        POST decisions < {"decision": "SQL in storage"} → 201 {"reason": null, "content": "SQL in storage"}
        POST decisions < {"decision": "SQL in files", "reason": null, "supersedes": "D-1"} → 201
        GET records/D-1 → 200 {"archive_reason": "superseded", "superseded_by": "D-2"}
        GET context?section=decisions → 200 =# Decisions\n- D-2 [2026-11-21T02:00:00Z] SQL in files\n"##;
    memory.requests(table).await;
}

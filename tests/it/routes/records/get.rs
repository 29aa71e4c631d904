//! `GET M/records/{record_id}`

use crate::harness::Service;
use serde_json::json;

#[tokio::test]
async fn a_record_shows_its_creation_and_its_archiving() {
    let (_, memory) = Service::start().await.agent();
    memory
        .write("# Verbatim Context\n- VC-3 because it is next: Makefile =>\n  test:\n  \tcargo test\n")
        .await;
    assert_eq!(
        memory.read("records/VC-3").await,
        json!({
            "record_id": "VC-3", "kind": "VC", "status": "active", "label": "Makefile",
            "reason": "it is next", "content": "test:\n\tcargo test", "pinned": false, "until": null,
            "created_version": 1, "created_at": "2026-11-21T02:00:00Z", "created_by": "anonymous",
            "ended_version": null, "ended_at": null, "ended_by": null,
            "archive_reason": null, "superseded_by": null, "evidence": [],
        })
    );
    let table = r#"
        POST operations < VERBATIM_CONTEXT:\n  ARCHIVE:\n    - VC-3 because done\n → 200
        GET records/VC-3 → 200 {"status": "archived", "ended_version": 2, "ended_by": "anonymous", "archive_reason": "done"}
        GET records/VC-4 → 404 not-found record_id
        GET records/VC-0 → 422 invalid record_id
        GET records/vc-3 → 422 invalid record_id
        GET records/VC-03 → 422 invalid record_id
        GET records/X-1 → 422 invalid record_id
        GET records/VC-9223372036854775808 → 422 invalid record_id
        GET records/KL- → 422 invalid record_id
        GET records/KL-0 → 422 invalid record_id
        GET records/KL-01 → 422 invalid record_id
        GET records/KL-+1 → 422 invalid record_id
        GET records/KL--1 → 422 invalid record_id
        GET records/KL1 → 422 invalid record_id
        GET records/%20KL-1 → 422 invalid record_id
        GET records/VC → 422 invalid record_id"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_put_that_reuses_an_archived_id_returns_a_warning_and_the_history_has_both_texts() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        PUT context < # Key Learnings\n- KL-1 because a: first meaning\n- KL-2 because b: stays\n → 201
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because obsolete\n → 200
        PUT context < # Key Learnings\n- KL-1 because c: second meaning\n- KL-2 because b: stays\n- KL-9 because d: new\n → 201 {"/warnings/*/kind": ["archived_id_reused"], "/warnings/0/records": ["KL-1"]}
        GET records/KL-1?history=true → 200 {"content": "second meaning", "/history/*/change": ["restored", "archived", "added"], "/history/*/version": [3, 2, 1]}
        GET records/KL-1?history=true → 200 {"/history/*/reason": ["c", null, "a"], "/history/*/content": ["second meaning", null, "first meaning"]}
        GET records/KL-1?history=maybe → 422 invalid history"##;
    memory.requests(table).await;
    let plain = memory.read("records/KL-1").await;
    assert_eq!(plain.get("history"), None);
}

#[tokio::test]
async fn a_time_that_the_database_does_not_read_is_content() {
    let (_, memory) = Service::start().await.agent();
    for time in [
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "2026-12-31T23:59:60.5Z",
    ] {
        memory
            .write(format!("# Key Learnings\n- KL-1 [{time}] because a: one\n"))
            .await;
        let record = memory.read("records/KL-1").await;
        assert_eq!(record["content"], format!("[{time}] because a: one"));
    }
}

//! `M/records`, `M/records/{record_id}`

use crate::harness::Service;

#[tokio::test]
async fn records_are_listed_by_kind_and_status_and_show_how_they_began_and_ended() {
    let table = r##"
        § records are filtered by kind and status
        PUT context < # Key Learnings\n- KL-1 because a: one\n- KL-2 because b: two\n\n# Decisions\n- D-1 because c: x\n → 201
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because old\n → 200
        GET records → 200 {"/items/*/record_id": ["D-1", "KL-2"]}
        GET records?status=all → 200 {"/items/*/record_id": ["D-1", "KL-1", "KL-2"]}
        GET records?status=archived → 200 {"/items/*/record_id": ["KL-1"]}
        GET records?kind=KL&status=all → 200 {"/items/*/record_id": ["KL-1", "KL-2"]}
        GET records?kind=VC → 200 {"items": []}
        GET records?kind=kl → 422 invalid kind
        GET records?status=gone → 422 invalid status
        § a record shows its creation and its archiving
        PUT context < # Verbatim Context\n- VC-3 because it is next: Makefile =>\n  test:\n  \tcargo test\n → 201
        GET records/VC-3 → 200 {"record_id": "VC-3", "kind": "VC", "status": "active", "label": "Makefile", "reason": "it is next", "content": "test:\n\tcargo test", "pinned": false, "until": null}
        GET records/VC-3 → 200 {"created_version": 1, "created_at": "2026-11-21T02:00:00Z", "created_by": "anonymous", "ended_version": null, "ended_at": null, "ended_by": null, "archive_reason": null, "superseded_by": null, "evidence": []}
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
        GET records/VC → 422 invalid record_id
        § a put that reuses an archived id returns a warning, and the history has both texts
        PUT context < # Key Learnings\n- KL-1 because a: first meaning\n- KL-2 because b: stays\n → 201
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because obsolete\n → 200
        PUT context < # Key Learnings\n- KL-1 because c: second meaning\n- KL-2 because b: stays\n- KL-9 because d: new\n → 201 {"/warnings/*/kind": ["archived_id_reused"], "/warnings/0/records": ["KL-1"]}
        GET records/KL-1?history=true → 200 {"content": "second meaning", "/history/*/change": ["restored", "archived", "added"], "/history/*/version": [3, 2, 1]}
        GET records/KL-1?history=true → 200 {"/history/*/reason": ["c", null, "a"], "/history/*/content": ["second meaning", null, "first meaning"]}
        GET records/KL-1?history=maybe → 422 invalid history
        GET records/KL-1 → 200 {"history": null}
        § a time that the database does not read is content
        PUT context < # Key Learnings\n- KL-1 [0000-01-01T00:00:00Z] because a: one\n → 201
        GET records/KL-1 → 200 {"content": "[0000-01-01T00:00:00Z] because a: one"}
        PUT context < # Key Learnings\n- KL-1 [0001-01-01T00:00:00+23:59] because a: one\n → 201
        GET records/KL-1 → 200 {"content": "[0001-01-01T00:00:00+23:59] because a: one"}
        PUT context < # Key Learnings\n- KL-1 [9999-12-31T23:59:59-23:59] because a: one\n → 201
        GET records/KL-1 → 200 {"content": "[9999-12-31T23:59:59-23:59] because a: one"}
        PUT context < # Key Learnings\n- KL-1 [2026-12-31T23:59:60.5Z] because a: one\n → 201
        GET records/KL-1 → 200 {"content": "[2026-12-31T23:59:60.5Z] because a: one"}"##;
    Service::start().await.requests(table).await;
}

//! `POST M/operations`

use crate::harness::{Service, holds, rows};

#[tokio::test]
async fn operations_are_applied_without_a_model_and_a_dry_run_saves_nothing() {
    let service = Service::start().await;
    let table = r###"
        § a dry run shows everything and saves nothing
        POST operations?dry_run=true < KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n → 200 {"status": "dry_run", "version": 0, "/operations/0/id": "KL-1", "diff~": "+- KL-1"}
        GET context → 404 not-found
        ROWS memories 0
        § they create the memory
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n → 200 {"status": "applied", "base_version": 0, "version": 1, "/operations/0/id": "KL-1", "rejected": [], "models": {}}
        GET context → 200 =# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z] because CI has no database: commit the query data\n
        ROWS records 1
        ROWS updates 1
        § faulty items are dropped and reported
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - no reason at all\n    - because good: kept\n → 200 {"/rejected/0/kind": "missing_reason", "/rejected/0/section": "learnings", "/operations/0/content": "kept"}
        § a text in JSON is the same text
        POST operations?dry_run=true < {"text": "KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n"} → 200 {"/operations/0/content": "commit the query data", "rejected": []}
        § a text whose items are all rejected is not reported as applied
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - no reason\n → 200 {"log^": "nothing was applied\n! learnings: missing_reason"}
        § the caller can limit the number of additions
        POST operations?dry_run=true&max_additions=3 < FIVE → 200 {"operations#": 3, "/rejected/0/kind": "too_many_additions"}
        POST operations?dry_run=true < FIVE → 200 {"operations#": 5}
        POST operations?max_additions=0 < FIVE → 422 invalid max_additions
        POST operations?max_additions=101 < FIVE → 422 invalid max_additions
        POST operations?max_additions=x < FIVE → 422 invalid max_additions {"minimum": 1, "limit": 100}
        § a text without a header changes nothing and the error shows a header
        POST operations < Please remember that CI has no database. → 200 {"status": "unchanged", "/warnings/0/kind": "no_section", "log^": "nothing was applied", "log~": "KEY_LEARNINGS:"}
        POST operations?on_invalid=fail < Please remember that CI has no database. → 422 invalid {"/rejected/0/kind": "no_section"}
        § faulty JSON operations fail the request only for retryable faults
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n → 200
        POST operations?on_invalid=fail < {"operations": [{"op": "add", "section": "learnings", "reason": "again", "content": "commit the query data"}]} → 200 {"status": "unchanged", "/rejected/0/kind": "duplicate"}
        POST operations?on_invalid=fail < {"operations": [{"op": "add", "section": "learnings", "reason": "", "content": "commit the query data"}]} → 422 invalid {"/rejected/0/index": 0}
        § progress beside a free section of the same name is a warning
        POST operations?dry_run=true < CURRENT_PROGRESS:\n  In Progress:\n    - Wire the parser\n → 200 {"warnings": []}
        PUT context < # Progress\nNext: write the parser\n\n# Current Progress\n- nothing yet\n → 201
        POST operations < CURRENT_PROGRESS:\n  In Progress:\n    - Wire the parser\n → 200 {"status": "applied", "/warnings/0/kind": "second_progress_section", "/warnings/0/section": "progress"}
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n → 200 {"warnings": []}
        § a stale precondition and an empty body are rejected
        POST operations | If-Match: "x" < KEY_LEARNINGS:\n  ADD:\n    - because a: b\n → 412 precondition-failed
        POST operations | Content-Type: text/plain → 422 invalid body
        POST operations < KEY_LEARNINGS:\n\0 → 422 invalid body
        POST operations | Content-Type: application/json < {} → 422 invalid operations
        POST operations | Content-Type: application/xml < {} → 415 unsupported-media-type Content-Type
        ROWS memories 0
        § a list of operations in JSON is applied to the byte
        POST operations < {"operations": [{"op": "add", "section": "verbatim", "reason": "a", "label": "l", "content": "KEY_LEARNINGS:\n  ADD:\n\t- because x: y\n"}, {"op": "add", "section": "learnings", "reason": "no", "content": " "}, {"op": "add", "section": "learnings", "reason": "b", "content": "one\ntwo"}, {"op": "rewrite_progress", "completed": [], "in_progress": ["i"], "remaining": []}]} → 200 {"status": "applied", "/rejected/*/kind": ["empty_content"], "/rejected/0/index": 1, "/rejected/0/detail^": "operations[1]: ", "/warnings/0/kind": "multi_line_insight", "/warnings/0/index": 2} ⇒ run=/update_id
        GET records/VC-1 → 200 {"content": "KEY_LEARNINGS:\n  ADD:\n\t- because x: y"}
        GET records/KL-1 → 200 {"content": "one two"}
        GET updates/$run → 200 {"/request/operations/0/content": "KEY_LEARNINGS:\n  ADD:\n\t- because x: y\n"}
        § a record that is replaced stays in the place of no other
        PUT context < # Key Learnings\n- KL-1 tests are slow\n- KL-2 tests are slow at night\n → 201
        POST operations < {"operations": [{"op": "archive", "id": "KL-1", "duplicate_of": "KL-2", "reason": "it says more"}, {"op": "add", "section": "learnings", "reason": "r", "content": "nights are free", "replaces": "KL-2"}]} → 200 {"/rejected/*/kind": ["uncovered"]}
        GET context → 200 ~- KL-1 tests are slow\n
        GET context → 200 ~: nights are free\n
        § of several rewrites of progress the last one counts, and the others are told
        POST operations < {"operations": [{"op": "rewrite_progress", "in_progress": ["first"]}, {"op": "rewrite_progress", "in_progress": ["second"]}]} → 200 {"/rejected/*/kind": ["duplicate"], "/rejected/0/index": 0}
        GET context → 200 ~- second
        § a replaced record names its replacement
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n → 200
        POST operations < {"operations": [{"op": "add", "section": "verbatim", "reason": "r", "label": "l", "content": "x"}]} → 200
        POST operations < {"operations": [{"op": "add", "section": "learnings", "reason": "CI has a database", "content": "leave it out", "replaces": "KL-1"}, {"op": "archive", "id": "VC-1", "reason": "it changed"}, {"op": "add", "section": "verbatim", "reason": "s", "label": "l", "content": "y", "replaces": "VC-1"}]} → 200 {"rejected": [], "log~": ["KL-2 replaced KL-1", "VC-2 replaced VC-1"]}
        GET records/KL-1 → 200 {"status": "archived", "superseded_by": "KL-2", "archive_reason": "CI has a database"}
        GET records/VC-1 → 200 {"status": "archived", "superseded_by": "VC-2", "archive_reason": "it changed"}
        GET contexts/3/diff | Accept: application/json → 200 {"/records/archived/*/record_id": ["KL-1", "VC-1"], "/records/archived/*/superseded_by": ["KL-2", "VC-2"]}
        GET records/KL-1?history=true → 200 {"/history/*/change": ["superseded", "added"]}
        GET records/VC-1?history=true → 200 {"/history/*/change": ["superseded", "added"]}
        GET records/KL-2?history=true → 200 {"/history/*/change": ["added"], "/history/*/version": [3]}
        POST handoff/refresh → 201 {"markdown~": "Learning KL-1 was replaced by KL-2"}
        § replacing an archived record is rejected and archives nothing, and the archive of a replaced one reports the error
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n → 200
        POST operations < {"operations": [{"op": "add", "section": "learnings", "reason": "r", "content": "one", "replaces": "KL-9"}, {"op": "add", "section": "learnings", "reason": "r", "content": "commit the query data", "replaces": "KL-1"}, {"op": "add", "section": "learnings", "reason": "r", "content": "three", "replaces": "KL-1"}]} → 200 {"/rejected/*/kind": ["unknown_id", "already_archived"]}
        POST operations < {"operations": [{"op": "add", "section": "learnings", "reason": "r", "content": "four", "replaces": "KL-1"}]} → 200 {"/rejected/0/kind": "already_archived", "status": "unchanged"}
        POST operations < {"operations": [{"op": "archive", "id": "KL-1", "reason": "r"}, {"op": "add", "section": "learnings", "reason": "r", "content": "four", "replaces": "KL-1"}]} → 200 {"/rejected/0/index": 0, "/operations/0/op": "add"}
        § sections under their authors' titles are changed in place
        PUT context < # Description\r\nA  shop.\n\n# Progress\n- old\n\n# Learnings\n- because a: one\n\n# Verbatim\n\n# Facts\n\tx\n → 201
        POST operations < CURRENT_PROGRESS:\n  In Progress:\n    - Wire the parser\nKEY_LEARNINGS:\n  ADD:\n    - because b: two\nVERBATIM_CONTEXT:\n  ADD:\n    - because next: run => cargo test\n → 200 {"rejected": [], "warnings": []}
        GET sections → 200 {"/items/*/path": ["Description", "Progress", "Progress/In Progress", "Learnings", "Verbatim", "Facts"]}
        GET context → 200 ^# Description\r\nA  shop.\n\n
        GET context → 200 ~# Progress\n## In Progress\n- Wire the parser\n\n# Learnings\n- KL-1
        GET records → 200 {"items#": 3}
        GET context → 200 ~\n\n# Facts\n\tx\n
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it is over\n → 200
        POST handoff/refresh → 201 {"markdown~": "- In progress: \"Wire the parser\" [Current Progress@3]"}
        GET contexts/3/diff?base=2 → 200 ~-- KL-1
        GET context?section=learnings → 200 ^# Learnings\n- KL-2"###;
    let five: String = (0..5)
        .map(|number| format!("    - because x: insight {number}\\n"))
        .collect();
    service
        .requests(&table.replace("FIVE", &format!("KEY_LEARNINGS:\\n  ADD:\\n{five}")))
        .await;
}

#[tokio::test]
async fn a_document_over_its_limit_is_rejected_with_both_sizes() {
    let service = Service::configured(|config| config.limits.context_bytes = 200).await;
    let table = r#"
        § full
        PUT context < (x×190) → 201
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because a: b\n → 422 invalid context {"before": 190, "actual": 251, "limit": 200}
        POST tasks < {"intent": "i", "summary": "s"} → 422 invalid context {"before": 190, "actual!": "null", "limit": 200}
        POST decisions < {"decision": "d"} → 422 invalid context {"before": 190, "actual!": "null", "limit": 200}
        PUT status < {"goal": "g"} → 422 invalid context {"before": 190, "actual!": "null", "limit": 200}
        ROWS memory_contexts 1"#;
    service.requests(table).await;
}

#[tokio::test]
async fn invalid_json_operations_are_rejected_with_their_position() {
    let (service, memory) = Service::start().await.agent();
    for (body, field) in rows(
        r#"
        {"operations": [{"op": "archive", "id": "KL-1", "why": "r"}]} → operations[0].why
        {"operations": [{"op": "add", "content": "r"}]} → operations[0] `section`
        {"operations": [{"op": "add", "section": "tasks"}]} → operations[0].section
        {"operations": [{"op": "add", "section": "learnings", "label": "l"}]} → operations[0] `label`
        {"operations": [{"op": "archive", "id": "KL-1", "content": "b"}]} → operations[0] `content`
        {"operations": [{"op": "rewrite_progress", "id": "KL-1"}]} → operations[0] `id`
        {"operations": [{"op": "rewrite_progress", "in_progress": ["a", "b\u0000"]}]} → operations[0].in_progress[1]
        {"operations": [{"op": "delete"}]} → operations[0].op `delete`
        {"operations": [{"op": 5}]} → operations[0].op string
        {"operations": [{"op": null}]} → operations[0].op string
        {"operations": [{"op": []}]} → operations[0].op string
        {"operations": [{"op": {}}]} → operations[0].op string
        {"operations": [{"op": "add", "section": 7}]} → operations[0].section string
        {"operations": [{"id": "KL-1", "reason": "b"}]} → operations[0] `op`
        {"operations": ["KL-1"]} → operations[0]
        {"operations": [{"op": "archive", "id": "KL-1", "reason": "a\u0000"}]} → operations[0].reason
        {"operations": [{"op": "archive", "id": "KL-1", "reason": "r"}, {"op": "archive", "id": 1, "reason": "r"}]} → operations[1].id
        {"operations": [{"op": "archive", "id": "KL-1", "reason": "r"}], "text": "KEY_LEARNINGS:\n"} → text
        [{"op": "archive", "id": "KL-1", "reason": "r"}] → body
        {"text": " "} → text
        {} → operations"#,
    ) {
        let (field, named) = field.split_once(' ').unwrap_or((field, ""));
        let problem = memory.ask("", body).await.invalid(field);
        holds(problem["detail"].as_str().unwrap(), &[named]);
    }
    assert_eq!(service.count("updates").await, 0);
}

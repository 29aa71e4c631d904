//! Pins and ends of records: written in the brackets of their line, set by operations, kept by models and the window.

use crate::harness::{Service, has, holds};
use crate::pipeline::dictated::{Dictated, dictate};
use serde_json::json;

#[tokio::test]
async fn marks_are_written_in_brackets_and_a_pinned_decision_stays_in_the_window() {
    let service = Service::configured(|config| config.window.decisions = 2).await;
    // What is absent stays; what was never there is written without inventing a time. The same again changes nothing, and without a
    // mark the brackets are as they were.
    let table = r##"
        § an operation changes the brackets and nothing else
        PUT context < # Key Learnings\n- KL-1 [2026-11-01T00:00:00Z] because they said so: the budget is 4,000 euros\n- KL-2 because it changes: the certificate is in the safe\n → 201
        POST operations < {"operations": [{"op": "mark", "id": "KL-1", "pinned": true, "until": "2027-08-31", "reason": "they insist"}]} → 200 {"/operations/0/op": "mark", "/operations/0/content": "pinned, until 2027-08-31", "/operations/0/reason": "they insist"}
        GET context → 200 =# Key Learnings\n- KL-1 [2026-11-01T00:00:00Z, pinned, until 2027-08-31] because they said so: the budget is 4,000 euros\n- KL-2 because it changes: the certificate is in the safe\n
        GET records/KL-1 → 200 {"pinned": true, "until": "2027-08-31", "created_version": 1}
        POST operations < KEY_LEARNINGS:\n  MARK:\n    - KL-1 until never because it is settled\n    - KL-2 until 2026-12-24T12:00:00+02:00 because it is renewed then\n → 200
        GET context → 200 =# Key Learnings\n- KL-1 [2026-11-01T00:00:00Z, pinned] because they said so: the budget is 4,000 euros\n- KL-2 [until 2026-12-24T10:00:00Z] because it changes: the certificate is in the safe\n
        POST operations < KEY_LEARNINGS:\n  MARK:\n    - KL-1 until never because it is settled\n    - KL-2 until 2026-12-24T12:00:00+02:00 because it is renewed then\n → 200 {"status": "unchanged", "version": 3}
        POST operations < KEY_LEARNINGS:\n  MARK:\n    - KL-1 unpinned because done\n    - KL-2 until never because done\n → 200
        GET context → 200 =# Key Learnings\n- KL-1 [2026-11-01T00:00:00Z] because they said so: the budget is 4,000 euros\n- KL-2 because it changes: the certificate is in the safe\n
        § by operations
        POST operations < {"operations": [{"op": "add", "section": "learnings", "reason": "r", "content": "c", "pinned": true, "until": "2027-01-01"}]} → 200
        POST operations < VERBATIM_CONTEXT:\n  ADD:\n    - [until 2027-01-01] because r: call =>\n        make\n → 200
        GET context → 200 =# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z, pinned, until 2027-01-01] because r: c\n\n# Verbatim Context\n- VC-1 [2026-11-21T02:00:00Z, until 2027-01-01] because r: call => make\n
        § by hand
        PUT context < # Key Learnings\n- [pinned] never on Fridays\n → 201
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because r: c\n → 200
        GET context → 200 ~- KL-1 [2026-11-21T02:00:00Z, pinned] never on Fridays\n
        § a pinned decision stays in the window
        POST decisions < {"decision": "first"} → 201
        POST operations < {"operations": [{"op": "mark", "id": "D-1", "pinned": true, "reason": "it binds"}]} → 200
        POST decisions < {"decision": "second"} → 201
        POST decisions < {"decision": "third"} → 201
        GET context | Accept: application/json → 200 {"context~": ["D-3", "D-1 [2026-11-21T02:00:00Z, pinned]"], "context!": "D-2"}
        § a prompt leaves out what has expired and says so
        PUT context < # Key Learnings\n- KL-1 [until 2026-11-20] old\n- KL-2 [until 2026-11-21] today\n- KL-3 new\n\n# Decisions\n- D-1 [until 2026-11-21T01:59:59Z] gone\n → 201
        GET prompt?exclude=datetime → 200 =# Key Learnings\n- KL-2 [until 2026-11-21] today\n- KL-3 new\n(Left out, expired: KL-1.)\n\n# Decisions\n(Left out, expired: D-1.)
        POST handoff/refresh → 201
        GET handoff → 200 ~Learning KL-1 expired on 2026-11-20: "old"
        GET handoff → 200 ~Learning KL-2 expires on 2026-11-21: "today""##;
    service.requests(table).await;
}

const DOCUMENT: &str = "# Key Learnings\n\
    - KL-1 [2026-11-01T00:00:00Z] because they said so: the budget is 4,000 euros\n\
    - KL-2 because it changes: the certificate is in the safe\n";

#[tokio::test]
async fn what_is_no_mark_is_refused_with_the_forms_that_are() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    // What could not be read as it would be written is refused, too: years that UTC or another form would lengthen.
    for until in "31.08.2027|soon|2027-02-30||+12027-1-1|-027-01-01|9999-12-31T23:59:59-12:00|0000-01-01T00:00:00+12:00".split('|') {
        let operation = json!({"op": "mark", "id": "KL-1", "reason": "r", "until": until});
        let refused = memory.ask("", json!({ "operations": [operation] })).await;
        has(&refused.problem(422, "invalid", None), json!({"detail~": "2027-08-31T12:00:00Z"}));
    }
    // One that was archived before is not unknown, and one that an addition replaces in the same request is not marked.
    let table = r#"
        POST operations < {"operations": [{"op": "mark", "id": "KL-1", "reason": "r"}]} → 200 {"/rejected/*/kind": ["malformed_mark"]}
        POST operations < {"operations": [{"op": "mark", "id": "KL-9", "reason": "r", "pinned": true}]} → 200 {"/rejected/*/kind": ["unknown_id"]}
        POST operations < {"operations": [{"op": "mark", "id": "KL-1", "pinned": true}]} → 200 {"/rejected/*/kind": ["missing_reason"]}
        POST operations < KEY_LEARNINGS:\n  MARK:\n    - KL-1 forever because r\n → 200 {"/rejected/*/kind": ["malformed_mark"]}
        POST operations < KEY_LEARNINGS:\n  MARK:\n    - KL-1 pinned, unpinned because r\n → 200 {"/rejected/*/kind": ["malformed_mark"]}
        POST operations < KEY_LEARNINGS:\n  MARK:\n    - KL-1 because r\n → 200 {"/rejected/*/kind": ["malformed_mark"]}
        POST operations < KEY_LEARNINGS:\n  MARK:\n    - KL-1 until +12027-1-1 because r\n → 200 {"/rejected/*/kind": ["malformed_mark"]}
        POST operations < KEY_LEARNINGS:\n  MARK:\n    - KL-1 pinned\n → 200 {"/rejected/*/kind": ["missing_reason"]}
        POST operations < KEY_LEARNINGS:\n  MARK:\n    - VC-1 pinned because r\n → 200 {"/rejected/*/kind": ["wrong_section_id"]}
        POST operations < {"operations": [{"op": "archive", "id": "KL-1", "reason": "r", "pinned": true}]} → 422 invalid {"detail~": "`pinned`"}
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-2 because r\n  MARK:\n    - KL-1 pinned because r\n    - KL-1 until never because r\n    - KL-2 pinned because r\n → 200 {"/rejected/*/kind": ["duplicate", "already_archived"]}
        POST operations < {"operations": [{"op": "mark", "id": "KL-2", "reason": "r", "pinned": true}]} → 200 {"/rejected/*/kind": ["already_archived"]}
        POST operations < {"operations": [{"op": "mark", "id": "KL-1", "reason": "r", "pinned": true}, {"op": "add", "section": "learnings", "reason": "r", "content": "the budget is 5,000 euros", "replaces": "KL-1"}]} → 200 {"/rejected/*/kind": ["already_archived"]}
        GET records/KL-1 → 200 {"superseded_by": "KL-3"}"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_model_archives_nothing_that_is_pinned_and_marks_nothing() {
    let (_, memory) = Dictated::new().service().await.agent();
    memory.write(DOCUMENT).await;
    memory
        .applied("KEY_LEARNINGS:\n  MARK:\n    - KL-1 pinned because it stays\n")
        .await;
    let before = memory.text().await;
    let learnings = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 duplicate of KL-2 because KL-1 is wrong\n  MARK:\n    \
                     - KL-2 until 2026-11-20 because gone\n  ADD:\n    - [pinned] because it is certain: go on\n";
    let answer = memory.updated(dictate(json!({ "learnings": learnings }))).await;
    has(
        &answer,
        json!({"/rejected/*/kind": ["protected", "protected", "protected"]}),
    );
    assert_eq!(memory.text().await, before);
    // People and agents do, by an operation of their own.
    memory.archives("KL-1 because it is over").await;
    assert!(!memory.text().await.contains("KL-1"));
}

#[tokio::test]
async fn marks_are_rebuilt_and_a_proposal_of_them_is_approved_one_by_one() {
    let (service, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let table = r#"
        POST operations?mode=propose < KEY_LEARNINGS:\n  MARK:\n    - KL-1 pinned because a\n    - KL-2 pinned because b\n → 200 ⇒ id=/update_id
        POST updates/$id/approve < {"operations": [1]} → 200"#;
    memory.requests(table).await;
    holds(
        memory.text().await,
        &["- KL-2 [pinned] because", "- KL-1 [2026-11-01T00:00:00Z] because"],
    );
    let marked = "SELECT kind || number || marks FROM records WHERE marks IS NOT NULL";
    assert_eq!(service.values::<String>(marked).await, ["KL2pinned"]);
    service.execute("UPDATE records SET marks = NULL").await;
    service.storage().rebuild_records(None, None).await.unwrap();
    assert_eq!(service.values::<String>(marked).await, ["KL2pinned"]);
}

//! Pins and ends of records: written in the brackets of their line, set by operations, kept by models and the window.

use crate::harness::{Answer, Memory, Service, each, has, holds, rows};
use crate::pipeline::dictated::{Dictated, dictate};
use serde_json::{Value, json};

const DOCUMENT: &str = "# Key Learnings\n\
    - KL-1 [2026-11-01T00:00:00Z] because they said so: the budget is 4,000 euros\n\
    - KL-2 because it changes: the certificate is in the safe\n";

async fn mark(memory: &Memory, operation: Value) -> Answer {
    memory.ask("", json!({ "operations": [operation] })).await
}

fn kinds(answer: &Value) -> Vec<&str> {
    each(&answer["rejected"], "kind")
}

#[tokio::test]
async fn an_operation_changes_the_brackets_and_nothing_else() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;

    let pin =
        json!({"op": "mark", "id": "KL-1", "pinned": true, "until": "2027-08-31", "reason": "they insist"});
    let answer = mark(&memory, pin).await.is(200).json();

    let operation = &answer["operations"][0];
    has(
        operation,
        json!({"op": "mark", "content": "pinned, until 2027-08-31", "reason": "they insist"}),
    );
    let marked = DOCUMENT.replace("00:00Z]", "00:00Z, pinned, until 2027-08-31]");
    assert_eq!(memory.text().await, marked);
    let record = memory.read("records/KL-1").await;
    has(
        &record,
        json!({"pinned": true, "until": "2027-08-31", "created_version": 1}),
    );

    // What is absent stays; what was never there is written without inventing a time.
    let text = "KEY_LEARNINGS:\n  MARK:\n    - KL-1 until never because it is settled\n    \
                - KL-2 until 2026-12-24T12:00:00+02:00 because it is renewed then\n";
    memory.applied(text).await;
    let marked = DOCUMENT
        .replace("00:00Z]", "00:00Z, pinned]")
        .replace("KL-2 ", "KL-2 [until 2026-12-24T10:00:00Z] ");
    assert_eq!(memory.text().await, marked);

    // The same again changes nothing, and without a mark the brackets are as they were.
    let answer = memory.applied(text).await;
    has(&answer, json!({"status": "unchanged", "version": 3}));
    let both =
        "KEY_LEARNINGS:\n  MARK:\n    - KL-1 unpinned because done\n    - KL-2 until never because done\n";
    memory.applied(both).await;
    assert_eq!(memory.text().await, DOCUMENT);
}

#[tokio::test]
async fn an_addition_has_marks_and_a_hand_written_one_too() {
    let (service, memory) = Service::start().await.agent();
    let add = json!({"op": "add", "section": "learnings", "reason": "r", "content": "c", "pinned": true,
                     "until": "2027-01-01"});
    mark(&memory, add).await.is(200);
    memory
        .applied("VERBATIM_CONTEXT:\n  ADD:\n    - [until 2027-01-01] because r: call =>\n        make\n")
        .await;
    assert_eq!(
        memory.text().await,
        "# Key Learnings\n- KL-1 [2026-11-21T02:00:00Z, pinned, until 2027-01-01] because r: c\n\n\
         # Verbatim Context\n- VC-1 [2026-11-21T02:00:00Z, until 2027-01-01] because r: call => make\n"
    );

    let memory = service.memory("by-hand");
    memory
        .write("# Key Learnings\n- [pinned] never on Fridays\n")
        .await;
    memory.learns("r: c").await;
    let text = memory.text().await;
    holds(
        &text,
        &["- KL-1 [2026-11-21T02:00:00Z, pinned] never on Fridays\n"],
    );
}

#[tokio::test]
async fn what_is_no_mark_is_refused_with_the_forms_that_are() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    // What could not be read as it would be written is refused, too: years that UTC or another form would lengthen.
    for until in [
        "31.08.2027",
        "soon",
        "2027-02-30",
        "",
        "+12027-1-1",
        "-027-01-01",
        "9999-12-31T23:59:59-12:00",
        "0000-01-01T00:00:00+12:00",
    ] {
        let operation = json!({"op": "mark", "id": "KL-1", "reason": "r", "until": until});
        let problem = mark(&memory, operation).await.problem(422, "invalid", None);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("2027-08-31T12:00:00Z"), "{detail}");
    }
    let problem = mark(
        &memory,
        json!({"op": "archive", "id": "KL-1", "reason": "r", "pinned": true}),
    )
    .await;
    holds(
        problem.problem(422, "invalid", None)["detail"].as_str().unwrap(),
        &["`pinned`"],
    );
    for (operation, kind) in rows(
        r#"
        {"op": "mark", "id": "KL-1", "reason": "r"} → malformed_mark
        {"op": "mark", "id": "KL-9", "reason": "r", "pinned": true} → unknown_id
        {"op": "mark", "id": "KL-1", "pinned": true} → missing_reason"#,
    ) {
        let answer = mark(&memory, operation).await.is(200).json();
        assert_eq!(kinds(&answer), [kind]);
    }
    for (item, kind) in [
        ("KL-1 forever because r", "malformed_mark"),
        ("KL-1 pinned, unpinned because r", "malformed_mark"),
        ("KL-1 because r", "malformed_mark"),
        ("KL-1 until +12027-1-1 because r", "malformed_mark"),
        ("KL-1 pinned", "missing_reason"),
        ("VC-1 pinned because r", "wrong_section_id"),
    ] {
        let answer = memory
            .applied(&format!("KEY_LEARNINGS:\n  MARK:\n    - {item}\n"))
            .await;
        assert_eq!(kinds(&answer), [kind], "{item}");
    }
    let twice = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-2 because r\n  MARK:\n    - KL-1 pinned because r\n    \
                 - KL-1 until never because r\n    - KL-2 pinned because r\n";
    let answer = memory.applied(twice).await;
    assert_eq!(kinds(&answer), ["duplicate", "already_archived"]);

    // One that was archived before is not unknown, and one that an addition replaces in the same request is not marked.
    let pin = |id: &str| json!({"op": "mark", "id": id, "reason": "r", "pinned": true});
    let answer = mark(&memory, pin("KL-2")).await.is(200).json();
    assert_eq!(kinds(&answer), ["already_archived"]);
    let replace = json!({"op": "add", "section": "learnings", "reason": "r", "content": "the budget is 5,000 euros",
                         "replaces": "KL-1"});
    let both = json!({"operations": [pin("KL-1"), replace]});
    let answer = memory.ask("", both).await.is(200).json();
    assert_eq!(kinds(&answer), ["already_archived"]);
    assert_eq!(memory.read("records/KL-1").await["superseded_by"], "KL-3");
}

#[tokio::test]
async fn a_model_archives_nothing_that_is_pinned_and_marks_nothing() {
    let (_, memory) = Dictated::new().service().await.agent();
    memory.write(DOCUMENT).await;
    memory
        .applied("KEY_LEARNINGS:\n  MARK:\n    - KL-1 pinned because it stays\n")
        .await;
    let before = memory.text().await;

    let learnings = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because KL-1 is wrong\n  MARK:\n    \
                     - KL-2 until 2026-11-20 because gone\n  ADD:\n    - [pinned] because it is certain: go on\n";
    let update = dictate(json!({ "learnings": learnings }));
    let answer = memory.updated(update).await;
    assert_eq!(
        kinds(&answer),
        ["protected", "protected", "protected"],
        "{answer}"
    );
    assert_eq!(memory.text().await, before);

    // People and agents do, by an operation of their own.
    memory.archives("KL-1 because it is over").await;
    assert!(!memory.text().await.contains("KL-1"));
}

#[tokio::test]
async fn a_pinned_decision_stays_in_the_window() {
    let service = Service::configured(|config| config.window.decisions = 2).await;
    let memory = service.memory("agent");
    let decide = |decision: &str| memory.post("decisions", json!({"decision": decision}));
    decide("first").await.is(201);
    mark(
        &memory,
        json!({"op": "mark", "id": "D-1", "pinned": true, "reason": "it binds"}),
    )
    .await
    .is(200);
    for decision in ["second", "third"] {
        decide(decision).await.is(201);
    }
    let text = memory.text().await;
    holds(&text, &["D-3", "D-1 [2026-11-21T02:00:00Z, pinned]"]);
    assert!(!text.contains("D-2"), "{text}");
}

#[tokio::test]
async fn a_prompt_leaves_out_what_has_expired_and_says_so() {
    let (_, memory) = Service::start().await.agent();
    memory
        .write(
            "# Key Learnings\n- KL-1 [until 2026-11-20] old\n- KL-2 [until 2026-11-21] today\n- KL-3 new\n\n\
             # Decisions\n- D-1 [until 2026-11-21T01:59:59Z] gone\n",
        )
        .await;
    let prompt = memory
        .get("prompt?exclude=datetime")
        .await
        .is(200)
        .text()
        .to_owned();
    assert_eq!(
        prompt,
        "# Key Learnings\n- KL-2 [until 2026-11-21] today\n- KL-3 new\n(Left out, expired: KL-1.)\n\n\
         # Decisions\n(Left out, expired: D-1.)"
    );
    memory.post_empty("handoff/refresh").await.is(201);
    let handoff = memory.get("handoff").await.is(200).text().to_owned();
    holds(&handoff, &["Learning KL-1 expired on 2026-11-20: \"old\""]);
    holds(&handoff, &["Learning KL-2 expires on 2026-11-21: \"today\""]);
}

#[tokio::test]
async fn marks_are_rebuilt_and_a_proposal_of_them_is_approved_one_by_one() {
    let (service, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let text = "KEY_LEARNINGS:\n  MARK:\n    - KL-1 pinned because a\n    - KL-2 pinned because b\n";
    let proposed = memory.proposed(text).await;
    let id = proposed["update_id"].as_str().unwrap();
    let path = format!("updates/{id}/approve");
    memory.post(&path, json!({"operations": [1]})).await.is(200);
    assert!(memory.text().await.contains("- KL-2 [pinned] because"));
    assert!(
        memory
            .text()
            .await
            .contains("- KL-1 [2026-11-01T00:00:00Z] because")
    );

    let rows = || {
        sqlx::query_scalar::<_, String>("SELECT kind || number || marks FROM records WHERE marks IS NOT NULL")
    };
    assert_eq!(rows().fetch_all(service.rows()).await.unwrap(), ["KL2pinned"]);
    service.execute("UPDATE records SET marks = NULL").await;
    service.storage().rebuild_records(None, None).await.unwrap();
    assert_eq!(rows().fetch_all(service.rows()).await.unwrap(), ["KL2pinned"]);
}

//! `POST M/contexts/{ref}/redact`

use crate::harness::{Answer, Service, Step, has, holds, scripted};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use std::time::Duration;
use working_memory::clock::Clock;
use working_memory::domain::operation::Role;
use working_memory::storage::updates::{Run, RunKind, RunStatus};

const MARKER: &str = "sk-live-4711";

#[tokio::test]
async fn the_text_is_redacted_and_the_row_stays() {
    let (service, memory) = Service::start().await.agent();
    let text = format!("the key is {MARKER}\n");
    let first = memory.put_as("bob", &text).await.is(201).json();
    service.clock.advance(Duration::from_secs(60));
    memory.write("no key\n").await;

    let request = memory
        .redacting("1", " it held a key ")
        .header("X-Actor-Id", "ann");
    let redacted = Answer::to(request).await.is(200).json();

    let check = |body: &Value| {
        for member in "context_id version actor_id creation_time bytes source".split(' ') {
            assert_eq!(body[member], first[member], "{member}");
        }
        assert_eq!(body["redacted"], true);
        assert_eq!(body["redaction_reason"], "it held a key");
        assert_eq!(body["redacted_by"], "ann");
        assert_eq!(body["redacted_at"], "2026-11-21T02:01:00Z");
        assert_eq!(body["redacted_sha256"].as_str().unwrap().len(), 64);
        assert!(body.get("context").is_none());
    };
    check(&redacted);
    let list = memory.read("contexts").await;
    check(&list["items"][1]);
    assert!(list["items"][0].get("redacted").is_none());
    let hash: String = sqlx::query_scalar("SELECT encode(sha256(convert_to($1, 'UTF8')), 'hex')")
        .bind(&text)
        .fetch_one(service.rows())
        .await
        .unwrap();
    assert_eq!(redacted["redacted_sha256"], hash);
    assert_eq!(service.tables_that_hold(MARKER).await, [""; 0]);
    for below in [
        "contexts/1",
        &format!("contexts/{}", first["context_id"].as_str().unwrap()),
        "context?as_of=2026-11-21T02:00:30Z",
    ] {
        let problem_410 = memory.refuses(below, 410, "gone", Some("ref")).await;
        holds(problem_410["detail"].as_str().unwrap(), &["it held a key"]);
        assert_eq!(problem_410["redaction_reason"], "it held a key");
    }
    assert_eq!(memory.text().await, "no key\n");
}

#[tokio::test]
async fn the_newest_version_cannot_be_redacted_and_redacting_twice_changes_nothing() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        POST contexts/1/redact < {"reason": "it held a key"} → 404 not-found ref
        PUT context < one → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 409 conflict ref {"detail~": "put a new version"}
        PUT context < two → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200 ⇒ whole==
        +60
        POST contexts/1/redact < {"reason": "another reason"} → 200 =$whole
        POST contexts/9/redact < {"reason": "it held a key"} → 404 not-found ref"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_reason_is_required_and_preconditions_are_checked() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        PUT context < one → 201 ⇒ old=etag
        PUT context < two → 201
        POST contexts/1/redact < {} → 422 invalid body
        POST contexts/1/redact < {"reason": " \t"} → 422 invalid reason
        POST contexts/1/redact < {"reason": "a\u0000"} → 422 invalid reason
        POST contexts/1/redact < {"reason": "LONG"} → 422 invalid reason
        POST contexts/1/redact < {"reason": 1} → 422 invalid reason
        POST contexts/1/redact < {"reason": "a", "because": "b"} → 422 invalid because
        POST contexts/1/redact | If-Match: $old < {"reason": "a"} → 412 precondition-failed
        GET contexts/1 → 200 =one"#;
    memory.requests(&table.replace("LONG", &"x".repeat(1_001))).await;
}

#[tokio::test]
async fn text_that_only_the_redacted_version_contained_is_removed_everywhere() {
    let answer = move |role| {
        Step::answer(&match role {
            Role::Learnings => format!("KEY_LEARNINGS:\n  ADD:\n    - because it bit us: use {MARKER}\n"),
            _ => format!("VERBATIM_CONTEXT:\n  ADD:\n    - because next: {MARKER} =>\n      curl {MARKER}\n"),
        })
    };
    let (service, memory) = Service::with_models(scripted(answer)).await.agent();
    memory.write("# Notes\nold\n").await;
    let task = json!({"task": format!("try curl {MARKER}"), "roles": ["learnings", "verbatim"]});
    memory.updated(task.clone()).await;
    // What quotes version 2: a dry run, a run that changed nothing, a failed run, and the put that replaced it.
    Answer::to(memory.applying(
        "?dry_run=true",
        "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because x\n",
    ))
    .await
    .is(200);
    memory.updated(task).await;
    Answer::to(memory.applying(
        "?on_invalid=fail",
        "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-9 because x\n",
    ))
    .await
    .is(422);
    let out = format!(
        "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because {MARKER} was a key\nVERBATIM_CONTEXT:\n  ARCHIVE:\n    - VC-1 because y\n"
    );
    memory.applied(&out).await;
    memory.write("# Notes\nnew\n").await;
    assert!(service.tables_that_hold(MARKER).await.len() >= 3);

    memory.redact("2").await.is(200);

    assert_eq!(service.tables_that_hold(MARKER).await, [""; 0]);
    let record = memory.read("records/KL-1").await;
    has(&record, json!({"status": "archived", "content": ""}));
    has(&record, json!({"created_version": 2, "ended_version": 3}));
    let runs = memory.read("updates").await;
    assert_eq!(runs["items"].as_array().unwrap().len(), 5);
    for run in runs["items"].as_array().unwrap() {
        memory
            .get(&format!("updates/{}", run["update_id"].as_str().unwrap()))
            .await
            .is(200);
    }
}

#[tokio::test]
async fn operations_still_name_the_records_that_they_changed() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        PUT context < # Key Learnings\n- KL-1 because a: stays\n → 201
        PUT context < # Key Learnings\n- KL-1 because a: stays\n- KL-10000 because b: goes\n → 201
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-10000 because c\n → 200
        PUT context < # Key Learnings\n- KL-1 because a: stays\n- KL-10001 because d: new\n → 201
        POST contexts/2/redact < {"reason": "it held a key"} → 200
        GET contexts/4/diff?base=1 | Accept: application/json → 200 {"base_version": 1, "version": 4}"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn text_that_another_version_contains_too_stays() {
    let (service, memory) = Service::start().await.agent();
    let table = r#"
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because a: a lesson of many words\n → 200
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because b: another lesson\n → 200
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because c\n    - KL-2 because d\n → 200
        POST contexts/2/redact < {"reason": "it held a key"} → 200
        GET records/KL-1 → 200 {"content": "a lesson of many words", "reason": "a"}
        GET records/KL-2 → 200 {"content": "", "reason": null, "archive_reason": "d"}
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        GET records/KL-1 → 200 {"content": ""}"#;
    memory.requests(table).await;
    assert_eq!(service.tables_that_hold("a lesson of many words").await, [""; 0]);
    let table = r#"
        PUT context < # Key Learnings\n- KL-1 because a: a lesson of many words\n → 201
        GET records/KL-1 → 200 {"content": "a lesson of many words", "created_version": 1}"#;
    memory.requests(table).await;
}

/// A run on the version 1 that ended with a problem, and quotes the marker everywhere.
fn failed(now: DateTime<Utc>) -> Run {
    Run {
        vault_id: "acme".parse().unwrap(),
        memory_id: "agent".parse().unwrap(),
        update_id: "run".parse().unwrap(),
        kind: RunKind::Update,
        status: RunStatus::Failed,
        actor_id: "ann".parse().unwrap(),
        created_at: now - TimeDelta::seconds(5),
        finished_at: Some(now),
        attempts: 1,
        base_version: 1,
        version: None,
        context_id: None,
        resolved_by: None,
        request: json!({"task": MARKER}),
        exchanges: json!([MARKER]),
        shown: None,
        outcome: json!({"problem": MARKER}),
        claim: None,
        identity: None,
        events: Vec::new(),
    }
}

#[tokio::test]
async fn a_run_that_ends_after_the_redaction_does_not_quote_the_text() {
    let (service, memory) = Service::start().await.agent();
    memory.write(MARKER).await;
    memory.write("two").await;
    memory.redact("1").await.is(200);
    let run = failed(service.clock.now());

    service.storage().save_run(&run, None, None).await.unwrap();

    assert_eq!(memory.read("updates/run").await["status"], "failed");
    assert_eq!(service.tables_that_hold(MARKER).await, [""; 0]);
}

#[tokio::test]
async fn a_queued_run_that_is_cleared_while_it_runs_does_not_get_its_text_back() {
    let (service, memory) = Service::start().await.agent();
    memory.write(MARKER).await;
    memory.write("two").await;
    sqlx::query(
        "INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, base_version, request,
                              exchanges, outcome, queue_place, claim_id, lease_until)
         VALUES ('acme', 'agent', 'run', 'update', 'running', 'ann', $1, 2, $2, '[]', '{}', 1, 'claim',
                 now() + interval '1 minute')",
    )
    .bind(service.clock.now())
    .bind(json!({"task": MARKER}))
    .execute(service.rows())
    .await
    .unwrap();
    memory.redact("1").await.is(200);
    let run = Run {
        base_version: 2,
        claim: Some("claim".to_owned()),
        ..failed(service.clock.now())
    };

    service.storage().save_run(&run, None, None).await.unwrap();

    assert_eq!(memory.read("updates/run").await["status"], "failed");
    assert_eq!(service.tables_that_hold(MARKER).await, [""; 0]);
}

//! `POST M/contexts/{ref}/redact`

use crate::harness::{Service, Step, each, scripted};
use chrono::TimeDelta;
use serde_json::json;
use working_memory::clock::Clock;
use working_memory::domain::operation::Role;
use working_memory::storage::updates::{Run, RunKind, RunStatus};

const MARKER: &str = "sk-live-4711";

#[tokio::test]
async fn the_text_of_a_version_is_redacted_wherever_only_this_version_contains_it_and_its_row_stays() {
    let table = r##"
        § the text is redacted, and the row stays
        PUT context | X-Actor-Id: bob < the key is sk-live-4711\n → 201 ⇒ first=/context_id
        +60
        PUT context < no key\n → 201
        POST contexts/1/redact | X-Actor-Id: ann < {"reason": " it held a key "} → 200 {"context_id": "$first", "version": 1, "actor_id": "bob", "creation_time": "2026-11-21T02:00:00Z", "bytes": 24, "source": "put", "context": null}
        POST contexts/1/redact < {"reason": "again"} → 200 {"redacted": true, "redaction_reason": "it held a key", "redacted_by": "ann", "redacted_at": "2026-11-21T02:01:00Z", "redacted_sha256": "e88364d55d0527c8f77a9207d601166c5985742e77e2ed1cf46a8a0ec292257c"}
        GET contexts → 200 {"/items/0/redacted": null, "/items/1/context_id": "$first", "/items/1/actor_id": "bob", "/items/1/bytes": 24, "/items/1/redacted": true, "/items/1/redaction_reason": "it held a key"}
        HOLDING sk-live-4711:
        GET contexts/1 → 410 gone ref {"detail~": "it held a key", "redaction_reason": "it held a key"}
        GET contexts/$first → 410 gone ref {"detail~": "it held a key", "redaction_reason": "it held a key"}
        GET context?as_of=2026-11-21T02:00:30Z → 410 gone ref {"detail~": "it held a key", "redaction_reason": "it held a key"}
        GET context → 200 =no key\n
        § the newest version cannot be redacted, and redacting twice changes nothing
        POST contexts/1/redact < {"reason": "it held a key"} → 404 not-found ref
        PUT context < one → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 409 conflict ref {"detail~": "put a new version"}
        PUT context < two → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200 ⇒ whole==
        +60
        POST contexts/1/redact < {"reason": "another reason"} → 200 =$whole
        POST contexts/9/redact < {"reason": "it held a key"} → 404 not-found ref
        § a reason is required, and preconditions are checked
        PUT context < one → 201 ⇒ old=etag
        PUT context < two → 201
        POST contexts/1/redact < {} → 422 invalid body
        POST contexts/1/redact < {"reason": " \t"} → 422 invalid reason
        POST contexts/1/redact < {"reason": "a\u0000"} → 422 invalid reason
        POST contexts/1/redact < {"reason": "(x×1001)"} → 422 invalid reason
        POST contexts/1/redact < {"reason": 1} → 422 invalid reason
        POST contexts/1/redact < {"reason": "a", "because": "b"} → 422 invalid because
        POST contexts/1/redact | If-Match: $old < {"reason": "a"} → 412 precondition-failed
        GET contexts/1 → 200 =one
        § operations still name the records that they changed
        PUT context < # Key Learnings\n- KL-1 because a: stays\n → 201
        PUT context < # Key Learnings\n- KL-1 because a: stays\n- KL-10000 because b: goes\n → 201
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-10000 because c\n → 200
        PUT context < # Key Learnings\n- KL-1 because a: stays\n- KL-10001 because d: new\n → 201
        POST contexts/2/redact < {"reason": "it held a key"} → 200
        GET contexts/4/diff?base=1 | Accept: application/json → 200 {"base_version": 1, "version": 4}
        § what the next version says of a record goes, however short it is
        PUT context < # Notes\n → 201
        PUT context < # Key Learnings\n- KL-1 because x: hunter2\n- KL-2 because y: stays\n → 201
        PUT context < # Key Learnings\n- KL-2 because y: went\n → 201
        POST contexts/2/redact < {"reason": "it held a password"} → 200
        GET log → 200 ~[redacted]
        HOLDING hunter2:
        § text that another version contains too stays
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because a: a lesson of many words\n → 200
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because b: another lesson\n → 200
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because c\n    - KL-2 because d\n → 200
        POST contexts/2/redact < {"reason": "it held a key"} → 200
        GET records/KL-1 → 200 {"content": "a lesson of many words", "reason": "a"}
        GET records/KL-2 → 200 {"content": "", "reason": null, "archive_reason": "d"}
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        GET records/KL-1 → 200 {"content": ""}
        HOLDING a lesson of many words:
        PUT context < # Key Learnings\n- KL-1 because a: a lesson of many words\n → 201
        GET records/KL-1 → 200 {"content": "a lesson of many words", "created_version": 1}"##;
    Service::start().await.requests(table).await;
}

#[tokio::test]
async fn what_is_kept_beside_the_versions_goes_with_their_texts() {
    let table = r##"
        § a handoff that is kept for a retry quotes in its own spelling
        PUT status < {"goal": "announce *the* merger"} → 201
        POST handoff/refresh | Idempotency-Key: h1 → 201 ~merger
        POST handoff/refresh | Idempotency-Key: h2 → 200 ~merger
        PUT status < {"goal": "other"} → 201
        POST handoff/refresh | Idempotency-Key: h3 → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        POST handoff/refresh | Idempotency-Key: h1 → 410 gone
        POST handoff/refresh | Idempotency-Key: h2 → 410 gone
        HOLDING merger:
        § the reason of an archiving stands in no text
        PUT context < # Key Learnings\n- KL-1 because a: office opens at nine\n- KL-2 because b: it closes at six\n → 201
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because token sk-live-4711 leaked it\n → 200
        PUT context < clean → 201
        POST contexts/2/redact < {"reason": "it held a key"} → 200
        GET records/KL-1 → 200 {"status": "archived", "archive_reason": "[redacted]"}
        GET records/KL-2 → 200 {"archive_reason": "left out by version 3"}
        HOLDING sk-live-4711:
        § a proposal whose text is gone waits for no decision
        PUT context < the key is sk-live-4711 here → 201
        POST operations?mode=propose < KEY_LEARNINGS:\n  ADD:\n    - because r: c\n → 200 ⇒ update=/update_id
        PUT context < clean → 201
        GET . → 200 {"open_proposals": 1}
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        GET . → 200 {"open_proposals": 0}
        POST updates/$update/approve → 410 gone
        POST updates/$update/reject < {"reason": "no"} → 410 gone
        GET updates/$update → 200 {"status": "expired"}
        § an index that is behind does not keep its words
        PUT context < the elephant dances → 201
        GET /v1/vaults/acme/search?consistent=true&q=elephant → 200 ~elephant
        PUT context < clean → 201
        POST contexts/1/redact < {"reason": "it held a name"} → 200
        HOLDING eleph:
        § nor is it in a name or number of an outcome
        POST tasks < {"intent": "i", "summary": "s", "outcome": {"pallas-6638-x": true, "n": 66186618661866}} → 201
        PUT context < pallas-6638-x and 66186618661866 → 201
        PUT context < clean → 201
        POST contexts/2/redact < {"reason": "it held a key"} → 200
        HOLDING pallas-6638:
        HOLDING 66186618661866:
        § the facts of a task whose line was edited go with what it said, however short that is
        POST tasks < {"task_id": "t1", "intent": "Call", "summary": "code hunter2", "outcome": {"success": true, "code": "hunter2"}} → 201
        PUT context < # Recent Tasks\n- T-1 [2026-11-21T02:00:00Z] t1: Call: done\n → 201
        PUT context < # Recent Tasks\n- T-1 [2026-11-21T02:00:00Z] t1: Call: done\n\n# Notes\n → 201
        POST contexts/1/redact < {"reason": "it held a password"} → 200
        HOLDING hunter2:
        GET records/T-1 → 200 {"intent": "Call", "outcome": {"success": true, "code": "[redacted]"}}
        § the tag of what is said of records changes with it
        PUT context < # Key Learnings\n- KL-1 because a: one thing\n → 201
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because token sk-live-4711 leaked it\n → 200
        PUT context < clean → 201
        GET contexts/3/diff?base=1 | Accept: application/json → 200 ~sk-live-4711 ⇒ tag=etag
        GET contexts/3/diff?base=1 | Accept: application/json | If-None-Match: $tag → 304
        POST contexts/2/redact < {"reason": "it held a key"} → 200
        GET contexts/3/diff?base=1 | Accept: application/json | If-None-Match: $tag → 200
        PUT context | If-Match: $tag < by the tag of any form of the head → 201"##;
    Service::start().await.requests(table).await;
}

#[tokio::test]
async fn runs_that_quote_a_redacted_version_no_longer_do() {
    let answer = move |role| {
        Step::answer(&match role {
            Role::Learnings => format!("KEY_LEARNINGS:\n  ADD:\n    - because it bit us: use {MARKER}\n"),
            _ => format!("VERBATIM_CONTEXT:\n  ADD:\n    - because next: {MARKER} =>\n      curl {MARKER}\n"),
        })
    };
    let (_, memory) = Service::with_models(scripted(answer)).await.agent();
    // What quotes version 2: a dry run, a run that changed nothing, a failed run, and the put that replaced it.
    let table = r##"
        PUT context < # Notes\nold\n → 201
        POST update < {"task": "try curl sk-live-4711", "roles": ["learnings", "verbatim"]} → 200
        POST operations?dry_run=true < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because x\n → 200
        POST update < {"task": "try curl sk-live-4711", "roles": ["learnings", "verbatim"]} → 200
        POST operations?on_invalid=fail < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-9 because x\n → 422
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because sk-live-4711 was a key\nVERBATIM_CONTEXT:\n  ARCHIVE:\n    - VC-1 because y\n → 200
        PUT context < # Notes\nnew\n → 201
        HOLDING sk-live-4711: memory_contexts records updates
        POST contexts/2/redact < {"reason": "it held a key"} → 200
        HOLDING sk-live-4711:
        GET records/KL-1 → 200 {"status": "archived", "content": "", "created_version": 2, "ended_version": 3}
        GET updates → 200 {"items#": 5}"##;
    let runs = memory.requests(table).await.json();
    for run in each(&runs["items"], "update_id") {
        memory.get(&format!("updates/{run}")).await.is(200);
    }
}

#[tokio::test]
async fn a_failed_run_that_ends_after_the_redaction_does_not_quote_the_text() {
    // Asked of the redacted version, and of a later one; and out of the queue, cleared while it runs.
    for (base_version, claim) in [(1, None), (2, None), (2, Some("claim".to_owned()))] {
        let (service, memory) = Service::start().await.agent();
        memory.write(MARKER).await;
        memory.write("two").await;
        let now = service.clock.now();
        if claim.is_some() {
            sqlx::query(
                "INSERT INTO updates (vault_id, memory_id, update_id, kind, status, actor_id, created_at, base_version,
                                      request, exchanges, outcome, queue_place, claim_id, lease_until)
                 VALUES ('acme', 'agent', 'run', 'update', 'running', 'ann', $1, 2, $2, '[]', '{}', 1, 'claim',
                         now() + interval '1 minute')",
            )
            .bind(now)
            .bind(json!({"task": MARKER}))
            .execute(service.rows())
            .await
            .unwrap();
        }
        memory.redact("1").await.is(200);
        let run = Run {
            vault_id: "acme".parse().unwrap(),
            memory_id: "agent".parse().unwrap(),
            update_id: "run".parse().unwrap(),
            kind: RunKind::Update,
            status: RunStatus::Failed,
            actor_id: "ann".parse().unwrap(),
            created_at: now - TimeDelta::seconds(5),
            finished_at: Some(now),
            attempts: 1,
            base_version,
            version: None,
            context_id: None,
            resolved_by: None,
            request: json!({"task": MARKER}),
            exchanges: json!([MARKER]),
            shown: None,
            outcome: json!({"problem": MARKER}),
            claim,
            identity: None,
            events: Vec::new(),
        };
        let is_cleared = service.storage().save_run(&run, None, None).await.unwrap();
        assert!(is_cleared || run.claim.is_some());
        assert_eq!(memory.read("updates/run").await["status"], "failed");
        assert_eq!(service.tables_that_hold(MARKER).await, [""; 0]);
    }
}

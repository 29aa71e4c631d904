//! Proposals: `mode=propose`, the inbox of a vault, `M/updates/{update_id}/approve` and `reject`.

use crate::access::first_admin;
use crate::harness::{Answer, Service, has};
use crate::pipeline::dictated::{Dictated, dictate, learning, progress};
use chrono::TimeDelta;
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use working_memory::clock::Clock;

const PROPOSED: &str = r##"
    PUT context < # Key Learnings\n- KL-1 because x: old\n → 201
    POST operations?mode=propose < CURRENT_PROGRESS:\n  In Progress:\n    - Wire it\nKEY_LEARNINGS:\n  ADD:\n    - because it bit us: pin the tool chain\n    - because it is slow: cache the build\n  ARCHIVE:\n    - KL-1 because it is wrong\n → 200 {"status": "proposed", "base_version": 1, "version": 1, "/operations/*/number": [0, 1, 2, 3], "/operations/*/op": ["rewrite_progress", "archive", "add", "add"]} ⇒ id=/update_id made=/operations
"##;

#[tokio::test]
async fn a_proposal_changes_nothing_until_it_is_decided_and_is_decided_once() {
    // The first looks at the inbox of the whole vault.
    let table = r##"
        § selected operations are approved
        PROPOSED
        GET context → 200 =# Key Learnings\n- KL-1 because x: old\n
        GET /v1/vaults/acme/updates?status=proposed → 200 {"/items/*/update_id": ["$id"], "/items/0/outcome/operations": $made}
        POST updates/$id/approve | X-Actor-Id: ann < {"operations": [0, 3, 3], "comment": "good\nenough"} → 200 {"status": "applied", "version": 2, "update_id": "$id"}
        GET context | Accept: application/json → 200 {"context~": ["- KL-1 because x: old", "because it is slow: cache the build", "- Wire it"], "context!": "tool chain"}
        GET log → 200 {"/items/0/actor_id": "anonymous", "/items/0/source": "operations", "/items/0/log~": "approved by ann: good enough\n"}
        GET updates/$id → 200 {"status": "approved", "version": 2, "/outcome/review/by": "ann", "/outcome/review/operations": [0, 3]} ⇒ decided=/outcome/review/at
        GET /v1/vaults/acme/updates?status=proposed → 200 {"items": []}
        POST updates/$id/approve < {} → 409 conflict update_id {"run_status": "approved", "decided_by": "ann", "decided_at": "$decided", "detail~": " by ann since "}
        POST updates/$id/reject < {"reason": "late"} → 409 conflict update_id {"run_status": "approved", "decided_by": "ann", "decided_at": "$decided", "detail~": " by ann since "}
        ROWS memory_contexts 2
        § a rejected proposal is stored with its reason and changes nothing
        POST operations?mode=propose < KEY_LEARNINGS:\n  ADD:\n    - because x: y\n → 200 {"status": "proposed"} ⇒ id=/update_id
        GET context → 404
        POST updates/$id/reject < {} → 422 invalid
        POST updates/$id/reject < {"reason": " "} → 422 invalid
        POST updates/$id/reject < {"reason": "(x×2001)"} → 422 invalid
        POST updates/$id/reject < {"reason": "not true"} → 200 {"status": "rejected", "/outcome/review/reason": "not true"}
        GET context → 404
        POST updates/$id/approve < {} → 409 conflict {"run_status": "rejected"}
        POST updates/$id/reject < {"reason": "x"} → 409 conflict {"run_status": "rejected"}
        GET /v1/vaults/acme/updates?status=rejected → 200 {"items#": 1}
        § operations that no longer apply are rejected, and the rest is applied
        PROPOSED
        POST operations < CURRENT_PROGRESS:\n  In Progress:\n    - Something else\nKEY_LEARNINGS:\n  ADD:\n    - because x: Pin the  tool chain\n  ARCHIVE:\n    - KL-1 because it was removed\n → 200
        POST updates/$id/approve → 200 {"/rejected/*/kind": ["progress_moved", "already_archived", "duplicate"], "status": "applied", "rebased": true}
        GET context → 200 ~- Something else
        GET context → 200 ~cache the build
        § what was proposed about a record that says something else by now is rejected
        PUT context < # Key Learnings\n- KL-1 because x: old\n- KL-2 because x: slow\n- KL-3 because x: as it was\n → 201
        POST operations?mode=propose < {"operations": [{"op": "archive", "id": "KL-1", "reason": "r"}, {"op": "add", "section": "learnings", "reason": "r", "content": "fast", "replaces": "KL-2"}, {"op": "archive", "id": "KL-3", "reason": "r"}]} → 200 {"status": "proposed"} ⇒ id=/update_id
        PUT context < # Key Learnings\n- KL-1 because x: never on Fridays\n- KL-2 because x: slow at night\n- KL-3 because y: as it was\n → 201
        POST updates/$id/approve → 200 {"/rejected/*/kind": ["record_changed", "record_changed"], "/rejected/0/detail~": "KL-1", "status": "applied"}
        GET context | Accept: application/json → 200 {"context~": ["KL-1 because x: never on Fridays", "KL-2 because x: slow at night", ": fast"], "context!": "KL-3"}
        § nor is one archived or marked that is marked otherwise by now
        PUT context < # Key Learnings\n- KL-1 because x: old\n- KL-2 because x: slow\n → 201
        POST operations?mode=propose < {"operations": [{"op": "archive", "id": "KL-1", "reason": "r"}, {"op": "mark", "id": "KL-2", "reason": "r", "until": "2030-01-01"}]} → 200 {"status": "proposed"} ⇒ id=/update_id
        POST operations < {"operations": [{"op": "mark", "id": "KL-1", "reason": "r", "pinned": true}, {"op": "mark", "id": "KL-2", "reason": "r", "until": "2099-01-01"}]} → 200 {"rejected": []}
        POST updates/$id/approve < {} → 200 {"/rejected/*/kind": ["record_changed", "record_changed"]}
        GET context → 200 ~- KL-2 [until 2099-01-01] because x: slow
        § a proposed goal does not overwrite one that was set since
        POST update < {"task": "go on", "mode": "propose", "record": {"intent": "i", "summary": "s", "goal": "ship"}} → 200 {"status": "proposed"} ⇒ id=/update_id
        PUT status < {"goal": "repair", "blocker": "no database"} → 201
        POST updates/$id/approve → 200 {"/rejected/*/kind": ["status_moved"], "/rejected/0/text": "ship", "status": "applied"}
        GET window | Accept: application/json → 200 {"/status/goal": "repair", "/status/blocker": "no database", "tasks#": 1}
        § an approval in which nothing applies is decided without a version
        PUT context < # Key Learnings\n- KL-1 because x: old\n → 201
        POST operations?mode=propose < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it is wrong\n → 200 {"status": "proposed"} ⇒ id=/update_id
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it was removed\n → 200
        POST updates/$id/approve < {} → 200 {"status": "unchanged", "version": 2}
        GET updates/$id → 200 {"status": "approved", "version": null}
        POST updates/$id/approve < {} → 409 conflict
        § invalid decisions are rejected, and the proposal stays pending
        PROPOSED
        POST updates/$id/approve < {"operations": [0, 4]} → 422 invalid
        POST updates/$id/approve < {"operations": []} → 422 invalid
        POST updates/$id/approve < {"operations": [-1]} → 422 invalid
        POST updates/$id/approve < {"operations": "all"} → 422 invalid
        POST updates/$id/approve < {"numbers": [0]} → 422 invalid
        POST updates/$id/approve < {"comment": "(x×2001)"} → 422 invalid
        POST updates/$id/approve | If-Match: "other" < {} → 412 precondition-failed
        POST updates/$id/reject | If-Match: "other" < {"reason": "x"} → 412 precondition-failed
        POST updates/nothing/approve < {} → 404 not-found
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because x: y\n → 200 ⇒ applied=/update_id
        POST updates/$applied/approve < {} → 409 conflict {"run_status": "applied"}
        POST operations?mode=propose&update_id=x < KEY_LEARNINGS:\n  ADD:\n    - because x: y\n → 422 invalid update_id
        POST updates/$id/approve | Idempotency-Key: k → 200 ⇒ whole==
        POST updates/$id/approve | Idempotency-Key: k → 200 =$whole"##;
    let service = Service::start().await;
    service.requests(&table.replace("PROPOSED", PROPOSED)).await;
}

#[tokio::test]
async fn a_proposal_ends_by_deletion_redaction_and_expiry() {
    let table = r#"
        § deleted
        PROPOSED
        DELETE . → 204
        POST updates/$id/approve < {} → 410 gone
        POST updates/$id/reject < {"reason": "x"} → 410 gone
        GET context → 404
        § redacted
        PROPOSED
        PUT context < another text altogether → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200
        POST updates/$id/approve < {} → 410 gone
        POST updates/$id/reject < {"reason": "x"} → 410 gone
        § old
        PROPOSED
        +2592000
        POST updates/$id/approve < {} → 410 gone
        GET updates/$id → 200"#;
    let service = Service::start().await;
    let run = service.requests(&table.replace("PROPOSED", PROPOSED)).await;
    let before = service.clock.now() - TimeDelta::days(30);
    let expired = service.storage().expire_proposals(before, 100).await;
    // The redacted one has expired already.
    assert_eq!(expired.unwrap(), 1);
    let table = r#"
        GET /v1/vaults/acme/updates?status=expired → 200 {"items#": 2}
        POST updates/ID/approve < {} → 410 gone
        GET context → 200 =# Key Learnings\n- KL-1 because x: old\n"#;
    let old = service.memory(&run.part("/memory_id"));
    old.requests(&table.replace("ID", &run.part("/update_id"))).await;
}

#[tokio::test]
async fn updates_of_a_proposer_key_are_always_proposals_and_it_cannot_approve_them() {
    let service = Dictated::new().service().await;
    let admin = first_admin(&service).await;
    let key = async |name: &str, role: &str| {
        admin
            .make(json!({"name": name, "role": role, "vaults": ["acme"]}))
            .await
    };
    let (proposer, writer) = (key("p", "proposer").await, key("w", "writer").await);
    let memory = "/v1/vaults/acme/memories/agent";
    let update = format!("{memory}/update");
    let approve = |proposal: &Value| {
        let id = proposal["update_id"].as_str().unwrap();
        format!("{memory}/updates/{id}/approve")
    };
    let body = dictate(json!({"learnings": learning("one"), "progress": progress("x")}));
    let proposal = proposer.post(&update, &body).await.is(200).json();
    let operations = proposer
        .request(Method::POST, &format!("{memory}/operations"))
        .header("Content-Type", "text/plain")
        .body(learning("two"));
    let other = Answer::to(operations).await.is(200).json();
    assert_eq!(
        (&proposal["status"], &other["status"]),
        (&json!("proposed"), &json!("proposed"))
    );
    assert_eq!(service.count("memory_contexts").await, 0);

    proposer.put("acme", "text").await.forbidden();
    for (path, body) in [
        (format!("{memory}/tasks"), json!({"intent": "a", "summary": "b"})),
        (format!("{memory}/contexts/1/restore"), json!({})),
        (approve(&proposal), json!({})),
        (
            approve(&proposal).replace("approve", "reject"),
            json!({"reason": "x"}),
        ),
    ] {
        let refused = proposer.post(&path, &body).await.forbidden();
        assert_eq!(refused["required_role"], "writer", "{path}");
    }
    let approved = writer.post(&approve(&proposal), &json!({})).await.is(200);
    assert_eq!(approved.json()["status"], "applied");
    let log = writer.get(&format!("{memory}/log")).await.is(200).json();
    has(
        &log["items"][0],
        json!({"actor_id": "p", "log~": "approved by w"}),
    );

    let mut body = dictate(json!({"learnings": learning("three")}));
    body["mode"] = json!("propose");
    let own = writer.post(&update, &body).await.is(200).json();
    writer.post(&approve(&own), &json!({})).await.forbidden();
    admin.post(&approve(&own), &json!({})).await.is(200);
}

#[tokio::test]
async fn the_inbox_is_of_all_memories_and_leaves_the_messages_out() {
    let service = Dictated::new().service().await;
    for (name, mode) in [
        ("a", "propose"),
        ("b", "propose"),
        ("c", "propose"),
        ("d", "apply"),
    ] {
        let mut body = dictate(json!({"learnings": learning(name)}));
        body["mode"] = json!(mode);
        service.memory(name).updated(body).await;
    }
    let table = r#"
        GET /v1/vaults/acme/updates?status=proposed → 200 {"/items/*/memory_id": ["c", "b", "a"], "/items/*/request/messages": [null, null, null], "/items/*/request/task~": "three"}
        GET /v1/vaults/acme/updates → 200 {"items#": 4}
        GET /v1/vaults/acme/updates?status=applied → 200 {"items#": 1}
        GET /v1/vaults/acme/updates?status=open → 422 invalid status
        GET /v1/vaults/other/updates → 200 {"items": []}"#;
    service.requests(&table.replace("three", "KEY_LEARNINGS")).await;
}

#[tokio::test]
async fn events_report_a_proposal_and_its_decision_without_its_text() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        POST operations?mode=propose < KEY_LEARNINGS:\n  ADD:\n    - because x: secretive\n → 200 ⇒ one=/update_id
        POST operations?mode=propose < KEY_LEARNINGS:\n  ADD:\n    - because x: other\n → 200 ⇒ two=/update_id
        POST updates/$one/approve < {"comment": "remarkable"} → 200
        POST updates/$two/reject < {"reason": "remarkable"} → 200
        GET /v1/vaults/acme/events?kinds=proposed,approved,rejected,version | Accept: application/json → 200 {"/items/*/kind": ["proposed", "proposed", "version", "approved", "rejected"], "/items/*/update_id": ["$one", "$two", "$one", "$one", "$two"], "items!": ["remarkable", "secretive"]}"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn of_concurrent_decisions_one_succeeds() {
    let (service, memory) = Service::start().await.agent();
    let proposal = memory
        .proposed("KEY_LEARNINGS:\n  ADD:\n    - because x: y\n")
        .await;
    let id = proposal["update_id"].as_str().unwrap();
    let decide = async |number: usize| {
        let (what, body) = [("approve", json!({})), ("reject", json!({"reason": "x"}))][number % 2].clone();
        memory.post(&format!("updates/{id}/{what}"), body).await.status
    };
    let mut statuses = join_all((0..8).map(decide)).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
    assert!(service.count("memory_contexts").await <= 1);
}

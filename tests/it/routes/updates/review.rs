//! Proposals: `mode=propose`, the inbox of a vault, `M/updates/{update_id}/approve` and `reject`.

use crate::access::{Holder, first_admin};
use crate::harness::{Answer, Service, each};
use crate::pipeline::dictated::{Dictated, dictate, learning, progress};
use reqwest::Method;
use serde_json::{Value, json};

const PROPOSED: &str = r##"
    PUT context < # Key Learnings\n- KL-1 because x: old\n → 201
    POST operations?mode=propose < CURRENT_PROGRESS:\n  In Progress:\n    - Wire it\nKEY_LEARNINGS:\n  ADD:\n    - because it bit us: pin the tool chain\n    - because it is slow: cache the build\n  ARCHIVE:\n    - KL-1 because it is wrong\n → 200 {"status": "proposed", "base_version": 1, "version": 1, "/operations/*/number": [0, 1, 2, 3], "/operations/*/op": ["rewrite_progress", "archive", "add", "add"]} ⇒ id=/update_id made=/operations
"##;

/// A memory with a proposal, of which the requests of a table are asked.
async fn asked(table: &str) {
    let (_, memory) = Service::start().await.agent();
    memory.requests(&(PROPOSED.to_owned() + table)).await;
}

#[tokio::test]
async fn a_proposal_changes_nothing_until_selected_operations_are_approved() {
    asked(
        r##"
        GET context → 200 =# Key Learnings\n- KL-1 because x: old\n
        GET /v1/vaults/acme/updates?status=proposed → 200 {"/items/*/update_id": ["$id"], "/items/0/outcome/operations": $made}
        POST updates/$id/approve | X-Actor-Id: ann < {"operations": [0, 3, 3], "comment": "good\nenough"} → 200 {"status": "applied", "version": 2, "update_id": "$id"}
        GET context | Accept: application/json → 200 {"context~": ["- KL-1 because x: old", "because it is slow: cache the build", "- Wire it"], "context!": "tool chain"}
        GET log → 200 {"/items/0/actor_id": "anonymous", "/items/0/source": "operations", "/items/0/log~": "approved by ann: good enough\n"}
        GET updates/$id → 200 {"status": "approved", "version": 2, "/outcome/review/by": "ann", "/outcome/review/operations": [0, 3]} ⇒ decided=/outcome/review/at
        GET /v1/vaults/acme/updates?status=proposed → 200 {"items": []}
        POST updates/$id/approve < {} → 409 conflict update_id {"run_status": "approved", "decided_by": "ann", "decided_at": "$decided", "detail~": " by ann since "}
        POST updates/$id/reject < {"reason": "late"} → 409 conflict update_id {"run_status": "approved", "decided_by": "ann", "decided_at": "$decided", "detail~": " by ann since "}
        ROWS memory_contexts 2"##,
    )
    .await;
}

#[tokio::test]
async fn operations_that_no_longer_apply_are_rejected_and_the_rest_is_applied() {
    asked(
        r#"
        POST operations < CURRENT_PROGRESS:\n  In Progress:\n    - Something else\nKEY_LEARNINGS:\n  ADD:\n    - because x: Pin the  tool chain\n  ARCHIVE:\n    - KL-1 because it was removed\n → 200
        POST updates/$id/approve → 200 {"/rejected/*/kind": ["progress_moved", "already_archived", "duplicate"], "status": "applied", "rebased": true}
        GET context → 200 ~- Something else
        GET context → 200 ~cache the build"#,
    )
    .await;
}

#[tokio::test]
async fn an_approval_in_which_nothing_applies_is_decided_without_a_version() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        PUT context < # Key Learnings\n- KL-1 because x: old\n → 201
        POST operations?mode=propose < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it is wrong\n → 200 {"status": "proposed"} ⇒ id=/update_id
        POST operations < KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it was removed\n → 200
        POST updates/$id/approve < {} → 200 {"status": "unchanged", "version": 2}
        GET updates/$id → 200 {"status": "approved", "version": null}
        POST updates/$id/approve < {} → 409 conflict"##;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_rejected_proposal_is_stored_with_its_reason_and_changes_nothing() {
    let (_, memory) = Service::start().await.with_memory("new");
    let table = r#"
        POST operations?mode=propose < KEY_LEARNINGS:\n  ADD:\n    - because x: y\n → 200 {"status": "proposed"} ⇒ id=/update_id
        GET context → 404
        POST updates/$id/reject < {} → 422 invalid
        POST updates/$id/reject < {"reason": " "} → 422 invalid
        POST updates/$id/reject < {"reason": "LONG"} → 422 invalid
        POST updates/$id/reject < {"reason": "not true"} → 200 {"status": "rejected", "/outcome/review/reason": "not true"}
        GET context → 404
        POST updates/$id/approve < {} → 409 conflict {"run_status": "rejected"}
        POST updates/$id/reject < {"reason": "x"} → 409 conflict {"run_status": "rejected"}
        GET /v1/vaults/acme/updates?status=rejected → 200 {"items#": 1}"#;
    memory.requests(&table.replace("LONG", &"x".repeat(2_001))).await;
}

#[tokio::test]
async fn invalid_decisions_are_rejected_and_the_proposal_stays_pending() {
    let table = r#"
        POST updates/$id/approve < {"operations": [0, 4]} → 422 invalid
        POST updates/$id/approve < {"operations": []} → 422 invalid
        POST updates/$id/approve < {"operations": [-1]} → 422 invalid
        POST updates/$id/approve < {"operations": "all"} → 422 invalid
        POST updates/$id/approve < {"numbers": [0]} → 422 invalid
        POST updates/$id/approve < {"comment": "LONG"} → 422 invalid
        POST updates/$id/approve | If-Match: "other" < {} → 412 precondition-failed
        POST updates/$id/reject | If-Match: "other" < {"reason": "x"} → 412 precondition-failed
        POST updates/nothing/approve < {} → 404 not-found
        POST operations < KEY_LEARNINGS:\n  ADD:\n    - because x: y\n → 200 ⇒ applied=/update_id
        POST updates/$applied/approve < {} → 409 conflict {"run_status": "applied"}
        POST operations?mode=propose&update_id=x < KEY_LEARNINGS:\n  ADD:\n    - because x: y\n → 422 invalid update_id
        POST updates/$id/approve | Idempotency-Key: k → 200 ⇒ whole==
        POST updates/$id/approve | Idempotency-Key: k → 200 =$whole"#;
    asked(&table.replace("LONG", &"x".repeat(2_001))).await;
}

#[tokio::test]
async fn a_proposal_ends_by_deletion_redaction_and_expiry() {
    let service = Service::start().await;
    let decided = r#"
        POST updates/$id/approve < {} → 410 gone
        POST updates/$id/reject < {"reason": "x"} → 410 gone"#;
    let deleted = format!("{PROPOSED}DELETE . → 204{decided}");
    service.memory("gone").requests(&deleted).await;
    let redacted = r#"
        PUT context < another text altogether → 201
        POST contexts/1/redact < {"reason": "it held a key"} → 200"#;
    service
        .memory("redacted")
        .requests(&format!("{PROPOSED}{redacted}{decided}"))
        .await;
    let old = service.memory("old");
    let late = format!(
        "{PROPOSED}+2592000\nPOST updates/$id/approve < {{}} → 410 gone ⇒ none=/status\nGET updates/$id → 200"
    );
    let id = old.requests(&late).await.json()["update_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let before = working_memory::clock::Clock::now(&*service.clock) - chrono::TimeDelta::days(30);
    let expired = service.storage().expire_proposals(before, 100).await;
    assert_eq!(expired.unwrap(), 2);
    let table = r#"
        GET /v1/vaults/acme/updates?status=expired → 200 {"items#": 2}
        POST updates/ID/approve < {} → 410 gone
        GET context → 200 =# Key Learnings\n- KL-1 because x: old\n
        GET /v1/vaults/acme/memories/gone/context → 404"#;
    old.requests(&table.replace("ID/", &format!("{id}/"))).await;
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
    let update = |body: Value| (format!("{memory}/update"), body);

    let (path, body) = update(dictate(
        json!({"learnings": learning("one"), "progress": progress("x")}),
    ));
    let proposal = proposer.post(&path, &body).await.is(200).json();
    assert_eq!(proposal["status"], "proposed");
    let operations = proposer
        .request(Method::POST, &format!("{memory}/operations"))
        .header("Content-Type", "text/plain")
        .body(learning("two"));
    assert_eq!(Answer::to(operations).await.is(200).json()["status"], "proposed");
    assert_eq!(service.count("memory_contexts").await, 0);

    proposer.put("acme", "text").await.forbidden();
    let decision = |proposal: &Value, what: &str| {
        format!(
            "{memory}/updates/{}/{what}",
            proposal["update_id"].as_str().unwrap()
        )
    };
    let task = json!({"intent": "a", "summary": "b"});
    for (path, body) in [
        (format!("{memory}/tasks"), &task),
        (format!("{memory}/contexts/1/restore"), &json!({})),
        (decision(&proposal, "approve"), &json!({})),
        (decision(&proposal, "reject"), &json!({"reason": "x"})),
    ] {
        let refused = proposer.post(&path, body).await.forbidden();
        assert_eq!(refused["required_role"], "writer", "{path}");
    }
    let approved = writer
        .post(&decision(&proposal, "approve"), &json!({}))
        .await
        .is(200)
        .json();
    assert_eq!(approved["status"], "applied");
    let log = writer.get(&format!("{memory}/log")).await.is(200).json()["items"][0].clone();
    assert_eq!(log["actor_id"], "p");
    assert!(log["log"].as_str().unwrap().contains("approved by w"), "{log}");

    let own = |holder: &Holder| {
        let (path, mut body) = update(dictate(json!({"learnings": learning("three")})));
        body["mode"] = json!("propose");
        holder.request(Method::POST, &path).json(&body)
    };
    let own = Answer::to(own(&writer)).await.is(200).json();
    writer
        .post(&decision(&own, "approve"), &json!({}))
        .await
        .forbidden();
    admin.post(&decision(&own, "approve"), &json!({})).await.is(200);
}

#[tokio::test]
async fn the_inbox_has_pages_over_all_memories_and_leaves_the_messages_out() {
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
    let found = json!(
        service
            .pages("/v1/vaults/acme/updates?status=proposed&limit=2")
            .await
    );
    let has_task = |run: &Value| run["request"]["messages"].is_null() && run["request"]["task"].is_string();
    assert!(found.as_array().unwrap().iter().all(has_task));
    assert_eq!(each(&found, "memory_id"), ["c", "b", "a"]);
    let table = r#"
        GET /v1/vaults/acme/updates → 200 {"items#": 4}
        GET /v1/vaults/acme/updates?status=applied → 200 {"items#": 1}
        GET /v1/vaults/acme/updates?status=open → 422 invalid status
        GET /v1/vaults/other/updates → 200 {"items": []}"#;
    service.requests(table).await;
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
    let below = |what: &str| format!("updates/{}/{what}", proposal["update_id"].as_str().unwrap());
    let paths = [below("approve"), below("reject")];
    let bodies = [json!({}), json!({"reason": "x"})];
    let decisions = (0..8).map(|number| memory.post(&paths[number % 2], &bodies[number % 2]));
    let answers = futures::future::join_all(decisions).await;
    let done = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(done, 1, "{answers:?}");
    assert!(answers.iter().all(|answer| [200, 409].contains(&answer.status)));
    assert!(service.count("memory_contexts").await <= 1);
}

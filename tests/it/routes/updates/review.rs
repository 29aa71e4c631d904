//! Proposals: `mode=propose`, the inbox of a vault, `M/updates/{update_id}/approve` and `reject`.

use crate::access::{Holder, first_admin};
use crate::harness::{Answer, Memory, Service, each, has, holds, lacks};
use crate::pipeline::dictated::{Dictated, dictate, learning, progress};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const TEXT: &str = "CURRENT_PROGRESS:\n  In Progress:\n    - Wire it\nKEY_LEARNINGS:\n  ADD:\n    - because it bit us: pin the tool chain\n    - because it is slow: cache the build\n  ARCHIVE:\n    - KL-1 because it is wrong\n";
const DOCUMENT: &str = "# Key Learnings\n- KL-1 because x: old\n";

async fn propose(memory: &Memory, text: &str) -> Value {
    let answer = memory.proposed(text).await;
    assert_eq!(answer["status"], "proposed", "{answer}");
    answer
}

fn below(proposal: &Value, what: &str) -> String {
    format!("updates/{}/{what}", proposal["update_id"].as_str().unwrap())
}

async fn decide(memory: &Memory, proposal: &Value, what: &str, body: Value) -> Answer {
    memory.post(&below(proposal, what), &body).await
}

async fn inbox(service: &Service, query: &str) -> Vec<Value> {
    let page = service.get(&format!("/v1/vaults/acme/updates?{query}")).await;
    page.is(200).json()["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_proposal_changes_nothing_until_selected_operations_are_approved() {
    let (service, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;

    let proposal = propose(&memory, TEXT).await;

    let shown: Vec<_> = proposal["operations"].as_array().unwrap().iter().collect();
    let numbered: Vec<_> = shown
        .iter()
        .map(|op| (&op["number"], op["op"].as_str().unwrap()))
        .collect();
    assert_eq!(
        numbered,
        [
            (&json!(0), "rewrite_progress"),
            (&json!(1), "archive"),
            (&json!(2), "add"),
            (&json!(3), "add")
        ]
    );
    has(&proposal, json!({"base_version": 1, "version": 1}));
    assert_eq!(memory.text().await, DOCUMENT);
    let waiting = inbox(&service, "status=proposed").await;
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0]["update_id"], proposal["update_id"]);
    assert_eq!(waiting[0]["outcome"]["operations"], proposal["operations"]);

    let request = memory
        .request(Method::POST, &below(&proposal, "approve"))
        .header("X-Actor-Id", "ann")
        .json(&json!({"operations": [0, 3, 3], "comment": "good\nenough"}));
    let approved = Answer::to(request).await.is(200).json();

    has(&approved, json!({"status": "applied", "version": 2}));
    assert_eq!(approved["update_id"], proposal["update_id"]);
    let head = memory.text().await;
    assert!(head.contains("- KL-1 because x: old") && head.contains("because it is slow: cache the build"));
    holds(&head, &["- Wire it"]);
    lacks(&head, &["tool chain"]);
    let log = memory.read("log").await["items"][0].clone();
    has(&log, json!({"actor_id": "anonymous", "source": "operations"}));
    holds(log["log"].as_str().unwrap(), &["approved by ann: good enough\n"]);
    let run = memory.read(below(&proposal, "").trim_end_matches('/')).await;
    has(&run, json!({"status": "approved", "version": 2}));
    assert_eq!(run["outcome"]["review"]["by"], "ann");
    assert_eq!(run["outcome"]["review"]["operations"], json!([0, 3]));
    assert!(inbox(&service, "status=proposed").await.is_empty());
    for (what, body) in [("approve", json!({})), ("reject", json!({"reason": "late"}))] {
        let again = decide(&memory, &proposal, what, body).await;
        let problem = again.problem(409, "conflict", Some("update_id"));
        assert_eq!(problem["run_status"], "approved");
        has(
            &problem,
            json!({"decided_by": "ann", "decided_at": run["outcome"]["review"]["at"]}),
        );
        holds(problem["detail"].as_str().unwrap(), &[" by ann since "]);
    }
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn operations_that_no_longer_apply_are_rejected_and_the_rest_is_applied() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let proposal = propose(&memory, TEXT).await;
    let meanwhile = "CURRENT_PROGRESS:\n  In Progress:\n    - Something else\nKEY_LEARNINGS:\n  ADD:\n    - because x: Pin the  tool chain\n  ARCHIVE:\n    - KL-1 because it was removed\n";
    memory.applied(meanwhile).await;

    let approved = memory.post_empty(&below(&proposal, "approve")).await;

    let approved = approved.is(200).json();
    let kinds = each(&approved["rejected"], "kind");
    assert_eq!(kinds, ["progress_moved", "already_archived", "duplicate"]);
    has(&approved, json!({"status": "applied", "rebased": true}));
    let head = memory.text().await;
    holds(&head, &["- Something else", "cache the build"]);
}

#[tokio::test]
async fn an_approval_in_which_nothing_applies_is_decided_without_a_version() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let proposal = propose(
        &memory,
        "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because it is wrong\n",
    )
    .await;
    memory.archives("KL-1 because it was removed").await;

    let answer = decide(&memory, &proposal, "approve", json!({}))
        .await
        .is(200)
        .json();

    has(&answer, json!({"status": "unchanged", "version": 2}));
    let run = memory.read(below(&proposal, "").trim_end_matches('/')).await;
    has(&run, json!({"status": "approved", "version": null}));
    decide(&memory, &proposal, "approve", json!({})).await.conflict();
}

#[tokio::test]
async fn a_rejected_proposal_is_stored_with_its_reason_and_changes_nothing() {
    let (service, memory) = Service::start().await.with_memory("new");
    let proposal = propose(&memory, "KEY_LEARNINGS:\n  ADD:\n    - because x: y\n").await;
    memory.get("context").await.is(404);
    for body in [
        json!({}),
        json!({"reason": " "}),
        json!({"reason": "x".repeat(2_001)}),
    ] {
        decide(&memory, &proposal, "reject", body)
            .await
            .problem(422, "invalid", None);
    }

    let run = decide(&memory, &proposal, "reject", json!({"reason": "not true"}))
        .await
        .is(200)
        .json();

    assert_eq!(run["status"], "rejected");
    assert_eq!(run["outcome"]["review"]["reason"], "not true");
    memory.get("context").await.is(404);
    for (what, body) in [("approve", json!({})), ("reject", json!({"reason": "x"}))] {
        let problem = decide(&memory, &proposal, what, body).await.conflict();
        assert_eq!(problem["run_status"], "rejected");
    }
    assert_eq!(inbox(&service, "status=rejected").await.len(), 1);
}

#[tokio::test]
async fn invalid_decisions_are_rejected_and_the_proposal_stays_pending() {
    let (_, memory) = Service::start().await.agent();
    memory.write(DOCUMENT).await;
    let proposal = propose(&memory, TEXT).await;
    for body in [
        json!({"operations": [0, 4]}),
        json!({"operations": []}),
        json!({"operations": [-1]}),
        json!({"operations": "all"}),
        json!({"numbers": [0]}),
        json!({"comment": "x".repeat(2_001)}),
    ] {
        decide(&memory, &proposal, "approve", body)
            .await
            .problem(422, "invalid", None);
    }
    for (what, body) in [("approve", json!({})), ("reject", json!({"reason": "x"}))] {
        let stale = memory.request(Method::POST, &below(&proposal, what)).json(&body);
        let stale = stale.header("If-Match", "\"other\"");
        Answer::to(stale).await.stale();
    }
    let unknown = json!({"update_id": "nothing"});
    decide(&memory, &unknown, "approve", json!({})).await.missing();
    let applied = memory.learns("x: y").await;
    let problem = decide(&memory, &applied, "approve", json!({})).await.conflict();
    assert_eq!(problem["run_status"], "applied");
    let resolving = memory.applying("?mode=propose&update_id=x", TEXT);
    Answer::to(resolving).await.invalid("update_id");
    let once = || {
        memory
            .request(Method::POST, &below(&proposal, "approve"))
            .header("Idempotency-Key", "k")
    };
    let first = Answer::to(once()).await.is(200);
    assert_eq!(Answer::to(once()).await.is(200).body, first.body);
}

#[tokio::test]
async fn a_proposal_ends_by_deletion_redaction_and_expiry() {
    let service = Service::start().await;
    let (gone, redacted, old) = (
        service.memory("gone"),
        service.memory("redacted"),
        service.memory("old"),
    );
    for memory in [&gone, &redacted, &old] {
        memory.write(DOCUMENT).await;
    }
    let of_gone = propose(&gone, TEXT).await;
    let of_redacted = propose(&redacted, TEXT).await;
    let of_old = propose(&old, TEXT).await;
    gone.delete().await.is(204);
    redacted.write("another text altogether").await;
    redacted.redact("1").await.is(200);
    for (memory, proposal) in [(&gone, &of_gone), (&redacted, &of_redacted)] {
        for (what, body) in [("approve", json!({})), ("reject", json!({"reason": "x"}))] {
            decide(memory, proposal, what, body)
                .await
                .problem(410, "gone", None);
        }
    }
    service.clock.advance(Duration::from_secs(30 * 86_400));
    decide(&old, &of_old, "approve", json!({}))
        .await
        .problem(410, "gone", None);
    let before = working_memory::clock::Clock::now(&*service.clock) - chrono::TimeDelta::days(30);
    let expired = service.storage().expire_proposals(before, 100).await;
    assert_eq!(expired.unwrap(), 2);
    assert_eq!(inbox(&service, "status=expired").await.len(), 2);
    decide(&old, &of_old, "approve", json!({}))
        .await
        .problem(410, "gone", None);
    assert_eq!(old.text().await, DOCUMENT);
    gone.get("context").await.is(404);
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
    for name in ["a", "b", "c"] {
        let mut body = dictate(json!({"learnings": learning(name)}));
        body["mode"] = json!("propose");
        service.memory(name).updated(body).await;
    }
    service
        .memory("d")
        .updated(dictate(json!({"learnings": learning("d")})))
        .await;
    let path = "/v1/vaults/acme/updates?status=proposed&limit=2";
    let found = json!(service.pages(path).await);
    let has_task = |run: &Value| run["request"]["messages"].is_null() && run["request"]["task"].is_string();
    assert!(found.as_array().unwrap().iter().all(has_task));
    assert_eq!(each(&found, "memory_id"), ["c", "b", "a"]);
    assert_eq!(inbox(&service, "").await.len(), 4);
    assert_eq!(inbox(&service, "status=applied").await.len(), 1);
    let wrong = service.get("/v1/vaults/acme/updates?status=open").await;
    wrong.invalid("status");
    let none = service.read("/v1/vaults/other/updates").await;
    assert_eq!(none["items"], json!([]));
}

#[tokio::test]
async fn events_report_a_proposal_and_its_decision_without_its_text() {
    let (service, memory) = Service::start().await.agent();
    let one = propose(&memory, "KEY_LEARNINGS:\n  ADD:\n    - because x: secretive\n").await;
    let two = propose(&memory, "KEY_LEARNINGS:\n  ADD:\n    - because x: other\n").await;
    decide(&memory, &one, "approve", json!({"comment": "remarkable"}))
        .await
        .is(200);
    decide(&memory, &two, "reject", json!({"reason": "remarkable"}))
        .await
        .is(200);

    let request = service
        .request(
            Method::GET,
            "/v1/vaults/acme/events?kinds=proposed,approved,rejected,version",
        )
        .header("Accept", "application/json");
    let page = Answer::to(request).await.is(200).json();

    let listed: Vec<_> = page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            (
                event["kind"].as_str().unwrap(),
                event["update_id"] == one["update_id"],
            )
        })
        .collect();
    assert_eq!(
        listed,
        [
            ("proposed", true),
            ("proposed", false),
            ("version", true),
            ("approved", true),
            ("rejected", false)
        ]
    );
    assert!(!page.to_string().contains("remarkable") && !page.to_string().contains("secretive"));
}

#[tokio::test]
async fn of_concurrent_decisions_one_succeeds() {
    let (service, memory) = Service::start().await.agent();
    let proposal = propose(&memory, "KEY_LEARNINGS:\n  ADD:\n    - because x: y\n").await;
    let decisions = (0..8).map(|number| {
        let (what, body) = if number % 2 == 0 {
            ("approve", json!({}))
        } else {
            ("reject", json!({"reason": "x"}))
        };
        decide(&memory, &proposal, what, body)
    });
    let answers = futures::future::join_all(decisions).await;
    let done = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(done, 1, "{answers:?}");
    assert!(answers.iter().all(|answer| [200, 409].contains(&answer.status)));
    assert!(service.count("memory_contexts").await <= 1);
}

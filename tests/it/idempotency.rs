//! `Idempotency-Key`: a request is executed once, however often and to whichever instance it is sent.

use crate::harness::{Answer, Memory, Service, Step, scripted};
use crate::pipeline::dictated::{Gate, dictate, learning};
use reqwest::RequestBuilder;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use working_memory::domain::operation::Role;
use working_memory::llm::{self, ModelError, Models};

const KEY: &str = "Idempotency-Key";

fn put(memory: &Memory, key: &str, text: &str) -> RequestBuilder {
    memory.putting(text).header(KEY, key)
}

fn update(memory: &Memory, key: &str) -> RequestBuilder {
    let body = json!({"task": "x: one, two, learning", "roles": ["learnings"]});
    memory.updating(&body).header(KEY, key)
}

/// Models that count their calls and respond slowly.
fn slow(calls: &Arc<AtomicUsize>) -> Models {
    let calls = calls.clone();
    scripted(move |_| {
        let number = calls.fetch_add(1, Ordering::SeqCst);
        let text = format!("KEY_LEARNINGS:\n  ADD:\n    - because it was asked: learning {number}\n");
        let answer = llm::Answer {
            text,
            ..llm::Answer::default()
        };
        Step::Late(Duration::from_millis(120), answer)
    })
}

/// Models whose first answer cannot be read.
fn failing_once(calls: &Arc<AtomicUsize>) -> Models {
    let calls = calls.clone();
    scripted(move |_| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Step::Fail(ModelError::BadAnswer {
            detail: "no JSON".to_owned(),
        }),
        _ => Step::answer("KEY_LEARNINGS:\n  ADD:\n    - because b: two\n"),
    })
}

#[track_caller]
fn is_replay_of(again: &Answer, first: &Answer) {
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert!(!first.headers.contains_key("idempotency-replayed"));
    assert_ne!(again.header("x-request-id"), first.header("x-request-id"));
    assert_eq!((again.status, again.told()), (first.status, first.told()));
    for name in ["content-type", "etag", "location", "x-context-version"] {
        assert_eq!(again.headers.get(name), first.headers.get(name), "{name}");
    }
}

#[tokio::test]
async fn a_retry_returns_the_first_response_also_when_the_memory_has_changed() {
    let service = Service::start().await;
    let table = r#"
        § a put
        PUT context | Idempotency-Key: k1 | If-None-Match: * < one → 201 | idempotency-replayed: - ⇒ first== tag=etag place=location
        PUT context < two → 201
        PUT context | Idempotency-Key: k1 | If-None-Match: * < one → 201 | idempotency-replayed: true | content-type: application/json | etag: $tag | location: $place | x-context-version: 1 | x-content-type-options: nosniff | =$first
        GET context → 200 =two
        ROWS memory_contexts 2
        § operations
        POST operations | Idempotency-Key: k2 < KEY_LEARNINGS:\n  ADD:\n    - because a: one\n → 200 ⇒ first==
        POST operations | Idempotency-Key: k2 < KEY_LEARNINGS:\n  ADD:\n    - because a: one\n → 200 | idempotency-replayed: true | =$first
        ROWS records 1
        ROWS updates 1"#;
    service.requests(table).await;
}

#[tokio::test]
async fn a_key_belongs_to_one_request() {
    // A retry may ask for another form: that is no other request.
    let table = r#"
        § one request
        PUT context | Idempotency-Key: k < one → 201
        PUT context | Idempotency-Key: k < two → 422 key-reused Idempotency-Key {"detail!": ["Accept", "Prefer"]}
        PUT /v1/vaults/acme/memories/other/context | Idempotency-Key: k < one → 422 key-reused Idempotency-Key
        PUT context | Idempotency-Key: k | X-Actor-Id: ann < one → 422 key-reused Idempotency-Key
        PUT context | Idempotency-Key: k | If-Match: * < one → 422 key-reused Idempotency-Key
        POST operations | Idempotency-Key: k < one → 422 key-reused Idempotency-Key
        POST operations?dry_run=true | Idempotency-Key: k < one → 422 key-reused Idempotency-Key
        ROWS memory_contexts 1
        PUT /v1/vaults/globex/memories/agent/context | Idempotency-Key: k < two → 201
        GET context | Idempotency-Key: k → 200"#;
    Service::start().await.requests(table).await;
}

#[tokio::test]
async fn concurrent_equal_requests_are_executed_once_also_on_two_instances() {
    let calls = Arc::new(AtomicUsize::new(0));
    let service = Service::with_models(slow(&calls)).await;
    let second = service.beside(Some(slow(&calls))).await;
    let memories = [service.memory("agent"), second.memory("agent")];

    let requests = (0..8).map(|number| Answer::to(update(&memories[number % 2], "k")));
    let answers = futures::future::join_all(requests).await;

    assert_eq!(calls.load(Ordering::SeqCst), 1);
    let replayed = answers
        .iter()
        .filter(|answer| answer.headers.contains_key("idempotency-replayed"));
    assert_eq!(replayed.count(), 7);
    for answer in &answers {
        assert_eq!((answer.status, &answer.body), (200, &answers[0].body));
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_request_finishes_after_its_client_disconnects() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    let body = dictate(json!({"learnings": learning("one")}));
    let update = || memory.updating(&body).header(KEY, "k");

    let impatient = tokio::spawn(update().send());
    gate.asked().await;
    impatient.abort();
    assert!(impatient.await.unwrap_err().is_cancelled());
    gate.open();
    let answer = Answer::to(update()).await.is(200);

    assert_eq!(answer.json()["version"], 1);
    assert_eq!(answer.header("idempotency-replayed"), "true");
    assert_eq!(service.count("updates").await, 1);
}

#[tokio::test]
async fn a_request_whose_client_disconnects_while_its_key_is_claimed_finishes_too() {
    let (service, memory) = Service::start().await.with_memory("agent");
    let mut lock = service.rows().begin().await.unwrap();
    sqlx::query("LOCK TABLE idempotency_keys IN EXCLUSIVE MODE")
        .execute(&mut *lock)
        .await
        .unwrap();
    let impatient = tokio::spawn(put(&memory, "k", "one").send());
    let waiting = "pg_locks WHERE NOT granted AND relation = 'idempotency_keys'::regclass";
    while service.count(waiting).await == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    impatient.abort();
    assert!(impatient.await.unwrap_err().is_cancelled());
    // The service notices that the connection is closed.
    tokio::time::sleep(Duration::from_millis(100)).await;
    lock.rollback().await.unwrap();

    let answered = "idempotency_keys WHERE status = 'done'";
    while service.count(answered).await == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

/// Leaves the keys as a process leaves them that dies before it has saved anything: claimed, and not renewed.
async fn abandon(service: &Service, lease_until: &str) {
    let statement = format!(
        "UPDATE idempotency_keys
         SET status = 'running', lease_until = {lease_until}, answer_status = NULL, answer_headers = NULL,
             answer_body = NULL"
    );
    service.execute(statement).await;
}

#[tokio::test]
async fn a_retry_waits_for_an_abandoned_claim_and_then_runs_itself() {
    let service = Service::configured(|config| config.http.request_timeout_seconds = 1).await;
    let memory = service.memory("agent");
    Answer::to(put(&memory, "k", "one")).await.is(201);
    abandon(&service, "now() + interval '30 seconds'").await;

    let table = "PUT context | Idempotency-Key: k < one → 409 still-running Idempotency-Key";
    let waited = memory.requests(table).await;
    assert_eq!(waited.header("retry-after"), "1");
    service
        .execute("UPDATE idempotency_keys SET lease_until = now()")
        .await;
    let table = r#"
        PUT context | Idempotency-Key: k < two → 422 key-reused Idempotency-Key
        PUT context | Idempotency-Key: k < one → 200 {"version": 1, "unchanged": true}"#;
    let taken_over = memory.requests(table).await;
    is_replay_of(&Answer::to(put(&memory, "k", "one")).await, &taken_over);
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn temporary_failures_are_executed_again_and_permanent_ones_replayed() {
    let tries = Arc::new(AtomicUsize::new(0));
    let (service, memory) = Service::with_models(failing_once(&tries)).await.agent();

    Answer::to(update(&memory, "k1")).await.is(502);
    assert_eq!(service.count("idempotency_keys").await, 0);
    Answer::to(update(&memory, "k1")).await.is(200);
    // What a route does not know, a method or a parameter, does not take the key.
    let table = r#"
        § large
        PUT context | Idempotency-Key: k2 < (x×102401) → 413 too-large body
        PUT context | Idempotency-Key: k2 < (x×1048577) → 413 too-large body {"limit": 102400}
        PUT context | Idempotency-Key: k2 < small → 201
        § mistaken
        POST context | Idempotency-Key: k5 → 405 method-not-allowed
        POST operations?dryrun=true | Idempotency-Key: k5 < KEY_LEARNINGS:\n → 422 invalid dryrun
        PUT context | Idempotency-Key: k5 < corrected → 201"#;
    service.requests(table).await;

    let conditional = || put(&memory, "k3", "new").header("If-None-Match", "*");
    let refused = Answer::to(conditional()).await;
    assert_eq!(refused.status, 412);
    is_replay_of(&Answer::to(conditional()).await, &refused);
    let invalid = Answer::to(put(&memory, "k4", " ")).await;
    assert_eq!(invalid.status, 422);
    is_replay_of(&Answer::to(put(&memory, "k4", " ")).await, &invalid);
}

#[tokio::test]
async fn a_failed_stream_is_executed_again_and_a_complete_one_is_replayed_in_any_response_mode() {
    let tries = Arc::new(AtomicUsize::new(0));
    let (service, memory) = Service::with_models(failing_once(&tries)).await.agent();
    let streaming = || update(&memory, "k").header("Accept", "text/event-stream");

    Answer::to(streaming()).await.problem(502, "model-failed", None);
    let first = Answer::to(streaming()).await.is(200);
    assert_eq!(first.header("content-type"), "text/event-stream");
    let first_text = first.text();
    assert!(first_text.starts_with("event: done\ndata: {"), "{first_text}");
    assert_eq!(first_text.matches("event: ").count(), 1, "{first_text}");

    is_replay_of(&Answer::to(streaming()).await, &first);
    is_replay_of(&Answer::to(update(&memory, "k")).await, &first);
    let later = update(&memory, "k").header("Prefer", "respond-async");
    is_replay_of(&Answer::to(later).await, &first);
    assert_eq!(tries.load(Ordering::SeqCst), 2);
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn an_invalid_key_is_rejected_before_anything_is_executed() {
    let (service, memory) = Service::start().await.agent();
    let table = "
        PUT context | Idempotency-Key:  < x → 422 invalid Idempotency-Key
        PUT context | Idempotency-Key:   < x → 422 invalid Idempotency-Key
        PUT context | Idempotency-Key: a b < x → 422 invalid Idempotency-Key
        PUT context | Idempotency-Key: (x×256) < x → 422 invalid Idempotency-Key
        PUT context | Idempotency-Key: a | Idempotency-Key: b < x → 400 malformed Idempotency-Key
        ROWS memories 0
        ROWS idempotency_keys 0";
    memory.requests(table).await;
    let binary = memory.putting("x").header(KEY, &b"\xff"[..]);
    Answer::to(binary).await.malformed(KEY);
    assert_eq!(service.count("idempotency_keys").await, 0);
}

#[tokio::test]
async fn a_key_expires_after_a_day() {
    let (service, memory) = Service::start().await.agent();
    for number in 0..5 {
        Answer::to(put(&memory, &format!("k{number}"), "one")).await;
    }
    let table = "
        +86399
        PUT context | Idempotency-Key: k0 < two → 422 key-reused";
    memory.requests(table).await;
    assert_eq!(service.storage().purge_keys(3).await.unwrap(), 0);

    let table = "
        +1
        PUT context | Idempotency-Key: k0 < two → 201";
    memory.requests(table).await;
    let (one, two) = tokio::join!(service.storage().purge_keys(3), service.storage().purge_keys(3));
    let left = service.storage().purge_keys(3).await.unwrap();

    assert_eq!(one.unwrap() + two.unwrap() + left, 4);
    assert_eq!(service.count("idempotency_keys").await, 1);
}

#[tokio::test]
async fn a_claim_that_is_not_renewed_is_taken_over_long_before_its_lease_ends() {
    let (service, memory) = Service::start().await.agent();
    Answer::to(put(&memory, "k", "one")).await.is(201);
    abandon(&service, "'2026-11-21T02:00:30Z'").await;

    let began = std::time::Instant::now();
    let again = Answer::to(put(&memory, "k", "one")).await.is(200);

    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(again.json()["unchanged"], true);
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_request_whose_claim_was_taken_over_saves_nothing() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    let task = dictate(json!({ "learnings": learning("insight") }));
    let running = tokio::spawn(Answer::to(memory.updating(&task).header(KEY, "k")));
    gate.asked().await;
    service
        .execute("UPDATE idempotency_keys SET claim_id = 'another'")
        .await;
    gate.open();

    let answer = running.await.unwrap();

    answer.problem(409, "still-running", Some(KEY));
    assert_eq!(service.count("memory_contexts").await, 0);
    assert_eq!(service.count("idempotency_keys").await, 1);
}

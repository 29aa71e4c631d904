//! Updates that are accepted before they are executed: `Prefer: respond-async`.

use crate::harness::{Answer, Memory, Service, eventually, has};
use crate::pipeline::dictated::{Dictated, Gate, dictate, learning};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use std::time::Duration;
use working_memory::config::Config;
use working_memory::domain::operation::Role;

const GRACE: Duration = Duration::from_secs(30);

/// An update to be executed later.
async fn send(memory: &Memory, body: &Value) -> Answer {
    Answer::to(memory.updating(body).header("Prefer", "respond-async")).await
}

/// The same, with another header.
async fn send_with(memory: &Memory, body: &Value, name: &str, value: &str) -> Answer {
    let request = memory.updating(body).header("Prefer", "respond-async");
    Answer::to(request.header(name, value)).await
}

/// Where the run of an answer is.
fn path_of(queued: Answer) -> String {
    format!("updates/{}", queued.is(202).part("/update_id"))
}

async fn running(service: &Service) -> i64 {
    service.count("updates WHERE status = 'running'").await
}

/// The run once it has this status.
async fn becomes(memory: &Memory, path: &str, status: &str) -> Value {
    let wanted = async || memory.read(path).await["status"] == status;
    eventually(&format!("{path} is {status}"), wanted).await;
    memory.read(path).await
}

fn insight(number: usize) -> Value {
    dictate(json!({ "learnings": learning(&format!("insight {number}")) }))
}

#[tokio::test]
async fn an_accepted_update_survives_the_redaction_of_the_version_that_was_the_newest_then() {
    let (service, memory) = Dictated::new().service().await.agent();
    memory.write("the key is sk-live-4711").await;
    let path = path_of(send(&memory, &insight(1)).await);
    memory.write("clean").await;
    memory.redact("1").await.is(200);

    let _workers = service.work(GRACE);
    let done = becomes(&memory, &path, "applied").await;

    has(&done, json!({"base_version": 2, "version": 3}));
}

#[tokio::test]
async fn an_accepted_update_is_stored_before_the_response_and_executed_later() {
    let (service, memory) = Dictated::new().service().await.agent();

    let answer = send(&memory, &insight(1)).await.is(202);

    let queued = answer.json();
    let id = path_of(answer.clone());
    assert_eq!(answer.header("location"), memory.path(&id));
    assert_eq!(answer.header("preference-applied"), "respond-async");
    has(
        &queued,
        json!({"status": "queued", "attempts": 0, "finished_at": null, "version": null}),
    );
    assert_eq!(memory.read(&id).await, queued);
    let table = r#"
        GET updates → 200 {"/items/*/status": ["queued"]}
        ROWS memory_contexts 0"#;
    memory.requests(table).await;

    let _workers = service.work(GRACE);
    let done = becomes(&memory, &id, "applied").await;

    has(
        &done,
        json!({"attempts": 1, "version": 1, "/outcome/operations/0/id": "KL-1"}),
    );
    assert!(done["finished_at"].is_string() && done["exchanges"].is_array());
    let table = r#"
        GET contexts/1 | Accept: application/json → 200 {"source": "update", "context~": "insight 1"}
        ROWS updates 1"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn a_failing_model_is_retried_later_until_the_update_fails() {
    let service = Service::start_with(
        |config| {
            config.pipeline.queue.max_attempts = 2;
            config.pipeline.queue.backoff_seconds = 60;
            config.pipeline.queue.poll_seconds = 1;
        },
        Some(Dictated::new().models()),
    )
    .await;
    let memory = service.memory("agent");
    let _workers = service.work(GRACE);
    let id = memory.queued(&dictate(json!({"fails": "learnings"}))).await;
    let later_update = memory.queued(&insight(2)).await;

    eventually("it waits for its second attempt", async || {
        let run = memory.read(&id).await;
        run["attempts"] == 1 && run["status"] == "queued"
    })
    .await;
    let waiting = memory.read(&id).await;
    has(&waiting, json!({"/outcome/problem~": "learnings"}));
    // No later update of the memory overtakes it.
    assert_eq!(memory.read(&later_update).await["attempts"], 0);

    service
        .execute(
            "UPDATE updates SET not_before = not_before - interval '80 seconds' WHERE not_before > now()",
        )
        .await;
    let failed = becomes(&memory, &id, "failed").await;
    has(
        &failed,
        json!({"attempts": 2, "/outcome/problem~": "learnings model failed"}),
    );
    assert_eq!(becomes(&memory, &later_update, "applied").await["version"], 1);
}

#[tokio::test]
async fn an_update_over_the_quota_of_its_vault_fails_at_once_and_names_the_quota() {
    let one = |config: &mut Config| config.limits.vault_memories = Some(1);
    let service = Service::start_with(one, Some(Dictated::new().models())).await;
    service.memory("other").write("the one memory").await;
    let memory = service.memory("agent");
    let id = memory.queued(&insight(1)).await;

    let _workers = service.work(GRACE);

    let failed = becomes(&memory, &id, "failed").await;
    has(
        &failed,
        json!({"attempts": 1, "/outcome/problem~": "limits.vault_memories"}),
    );
}

#[tokio::test]
async fn a_queued_update_is_cancelled_at_once_and_a_finished_one_cannot_be() {
    let (service, memory) = Dictated::new().service().await.agent();
    let (first, second) = (memory.queued(&insight(1)).await, memory.queued(&insight(2)).await);

    let cancelled = memory.delete_at(&first).await.is(200).json();

    assert_eq!(cancelled["status"], "cancelled");
    assert!(cancelled["finished_at"].is_string());
    let _workers = service.work(GRACE);
    assert_eq!(becomes(&memory, &second, "applied").await["version"], 1);
    let table = r#"
        DELETE FIRST → 409 conflict update_id {"run_status": "cancelled"}
        DELETE SECOND → 409 conflict update_id {"run_status": "applied"}
        DELETE updates/no-such-run → 404 not-found update_id
        ROWS memory_contexts 1"#;
    let table = table.replace("FIRST", &first).replace("SECOND", &second);
    memory.requests(&table).await;
}

#[tokio::test]
async fn a_cancelled_running_update_saves_nothing_and_counts_neither_as_a_lost_claim_nor_as_a_failure() {
    // The worker notices while it waits for its model, or when it is about to save.
    for opens_before_the_worker_learns in [false, true] {
        let (gate, service, memory) = Gate::agent(Role::Learnings).await;
        let workers = service.work(GRACE);
        let id = memory.queued(&insight(1)).await;
        gate.asked().await;
        // Of the two roles that have answered.
        eventually("tokens that were used count", async || {
            service.read("/v1/vaults/acme/usage").await["tokens_today"] == 220
        })
        .await;

        if opens_before_the_worker_learns {
            service.execute("UPDATE updates SET status = 'cancelled', claim_id = NULL, lease_until = NULL, queue_place = NULL, finished_at = now()").await;
            gate.open();
        } else {
            memory.delete_at(&id).await.is(200);
            eventually("the call that is cut off counts", async || {
                let totals = &service.read("/v1/vaults/acme/usage").await["totals"];
                (&totals["runs"], &totals["calls"], &totals["failures"]) == (&json!(3), &json!(3), &json!(1))
            })
            .await;
            // So does what it read: otherwise whoever cancels in time has no limit.
            let today = service.read("/v1/vaults/acme/usage").await["tokens_today"].as_u64();
            assert!(today > Some(220), "{today:?}");
        }
        service.stop();
        workers.stopped().await;

        assert_eq!(memory.read(&id).await["status"], "cancelled");
        assert_eq!(service.count("memory_contexts").await, 0);
        let metrics = service.get("/metrics").await.is(200).text().to_owned();
        assert!(metrics.contains("\nupdate_claims_total "), "{metrics}");
        let counted = metrics.lines().filter(|line| {
            let (name, count) = line.rsplit_once(' ').unwrap_or_default();
            let is_failure = name.starts_with("updates_total") && name.contains("\"failed\"");
            (is_failure || ["update_lease_losses_total", "update_retries_total"].contains(&name))
                && count != "0"
        });
        assert_eq!(counted.collect::<Vec<_>>(), [""; 0]);
    }
}

#[tokio::test]
async fn a_shutdown_requeues_the_updates_that_it_cannot_finish() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    let workers = service.work(Duration::ZERO);
    let id = memory.queued(&insight(1)).await;
    gate.asked().await;

    service.stop();
    workers.stopped().await;

    let back = memory.read(&id).await;
    has(&back, json!({"status": "queued", "attempts": 0}));
    let other = service.beside(Some(Dictated::new().models())).await;
    let _workers = other.work(GRACE);
    assert_eq!(becomes(&memory, &id, "applied").await["attempts"], 1);
}

#[tokio::test]
async fn if_match_is_checked_on_acceptance_and_when_the_update_is_applied() {
    let (service, memory) = Dictated::new().service().await.agent();
    let head = memory.put("# Notes\n").await.is(201).header("etag").to_owned();
    let conditional = async |tag: &str| send_with(&memory, &insight(1), "If-Match", tag).await;

    conditional("\"other\"").await.stale();
    assert_eq!(service.count("updates").await, 0);
    let path = path_of(conditional(&head).await);
    memory.write("# Notes\nmoved\n").await;
    let _workers = service.work(GRACE);

    let refused = becomes(&memory, &path, "conflict").await;
    has(&refused, json!({"/outcome/problem~": "precondition"}));
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn a_queued_update_that_cannot_be_parsed_fails_and_applies_nothing() {
    let (service, memory) = Dictated::new().service().await.agent();
    let head = memory.put("# Notes\n").await.is(201).header("etag").to_owned();
    let mut broken = Vec::new();
    for (change, problem) in [
        (
            "preconditions = jsonb_set(preconditions, '{if_match}', '7')",
            "the stored preconditions cannot be read: if_match: ",
        ),
        (
            "preconditions = jsonb_set(preconditions, '{if_match}', '1e400')",
            "the stored preconditions cannot be read: ",
        ),
        (
            "preconditions = NULL",
            "the stored preconditions cannot be read: ",
        ),
        (
            "request = request || '{\"mode\": \"later\"}'",
            "the stored request cannot be read: unknown variant `later`",
        ),
        (
            "request = jsonb_set(request, '{roles}', '[\"other\"]')",
            "the stored request cannot be read: roles",
        ),
    ] {
        let path = path_of(send_with(&memory, &insight(1), "If-Match", &head).await);
        let id = path.trim_start_matches("updates/");
        let statement = format!("UPDATE updates SET {change} WHERE update_id = '{id}'");
        let changed = sqlx::raw_sql(AssertSqlSafe(statement))
            .execute(service.rows())
            .await;
        assert_eq!(changed.unwrap().rows_affected(), 1);
        broken.push((path, problem));
    }
    let complete = memory.queued(&insight(2)).await;

    let _workers = service.work(GRACE);

    assert_eq!(becomes(&memory, &complete, "applied").await["version"], 2);
    for (id, problem) in broken {
        let failed = becomes(&memory, &id, "failed").await;
        has(
            &failed,
            json!({"version": null, "attempts": 1, "/outcome/problem^": problem}),
        );
    }
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn a_retry_with_the_same_key_returns_the_same_run() {
    let (service, memory) = Dictated::new().service().await.agent();
    let send = async || send_with(&memory, &insight(1), "Idempotency-Key", "k").await;

    let (first, second) = (send().await.is(202), send().await.is(202));

    assert_eq!(first.body, second.body);
    assert_eq!(first.header("location"), second.header("location"));
    assert_eq!(second.header("idempotency-replayed"), "true");
    assert_eq!(service.count("updates").await, 1);
}

#[tokio::test]
async fn a_full_queue_rejects_updates() {
    let service = Service::configured(|config| {
        config.pipeline.queue.max_per_memory = 2;
        config.pipeline.queue.max_per_vault = 3;
    })
    .await;
    let table = r#"
        § one
        POST update | Prefer: respond-async < {"task": "a"} → 202
        POST update | Prefer: respond-async < {"task": "b"} → 202
        POST update | Prefer: respond-async < {"task": "c"} → 429 too-many-requests {"limit": 2, "limit_name": "pipeline.queue.max_per_memory"}
        § two
        POST update | Prefer: respond-async < {"task": "a"} → 202
        § three
        POST update | Prefer: respond-async < {"task": "a"} → 429 too-many-requests {"limit": 3, "limit_name": "pipeline.queue.max_per_vault"}"#;
    let refused = service.requests(table).await;
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
}

#[tokio::test]
async fn beyond_the_vaults_limit_a_synchronous_update_is_rejected_with_retry_after() {
    let gate = Gate::new();
    let service = Service::start_with(
        |config| {
            config.pipeline.concurrent_updates = 2;
        },
        Some(gate.before(Role::Learnings)),
    )
    .await;
    let (one, two) = (service.memory("one"), service.memory("two"));

    let (answer, ()) = tokio::join!(one.update(insight(1)), async {
        gate.asked().await;
        let refused = two.update(insight(2)).await;
        assert!(refused.headers.contains_key("retry-after"));
        refused.problem(429, "too-many-requests", None);
        gate.open();
    });
    answer.is(200);
}

/// Six queued updates, one a memory.
async fn six_queued(service: &Service) -> Vec<(String, String)> {
    let mut queued = Vec::new();
    for number in 0..6 {
        let name = format!("m{number}");
        let id = service.memory(&name).queued(&insight(number)).await;
        queued.push((name, id));
    }
    queued
}

async fn all_become_applied(service: &Service, queued: &[(String, String)]) {
    for (name, id) in queued {
        let run = becomes(&service.memory(name), id, "applied").await;
        assert_eq!(run["version"], 1, "{run}");
    }
}

#[tokio::test]
async fn updates_run_although_the_clock_of_an_instance_was_set_back() {
    let service = Dictated::new().service().await;
    let before = six_queued(&service).await;

    service.clock.set_back(Duration::from_secs(3_600));
    let later = service.memory("m0").queued(&insight(7)).await;
    let _workers = service.work(GRACE);

    all_become_applied(&service, &before).await;
    becomes(&service.memory("m0"), &later, "applied").await;
}

#[tokio::test]
async fn updates_run_although_the_clock_of_the_database_was_set_back() {
    let service = Dictated::new().service().await;
    let queued = six_queued(&service).await;
    // As rows look that were written before it was set back: three are due in an hour, one has a claim until then.
    service
        .execute(
            "UPDATE updates SET not_before = now() + interval '1 hour' WHERE memory_id <= 'm2';
             UPDATE updates SET status = 'running', claim_id = 'gone', attempts = 1, not_before = NULL,
                    lease_until = now() + interval '1 hour' WHERE memory_id = 'm3'",
        )
        .await;
    assert_eq!(running(&service).await, 1);

    let _workers = service.work(GRACE);

    all_become_applied(&service, &queued).await;
}

#[tokio::test]
async fn an_update_of_another_vault_starts_while_one_vault_has_many_slow_ones() {
    let slow = dictate(json!({ "learnings": learning("slow"), "millis": 60_000 }));
    let service = Dictated::new().service().await;
    for number in 0..64 {
        service.memory(&format!("m{number}")).queued(&slow).await;
    }
    let _workers = service.work(Duration::ZERO);
    // Until this vault holds all that it gets.
    let mut count = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let now = running(&service).await;
        if now > 0 && now == count {
            break;
        }
        count = now;
    }
    assert!(count < 64, "{count} of 64 run at once");

    for vault in ["bcme", "ccme", "dcme"] {
        let other = Memory::new(&service, vault, "agent");
        let id = other.queued(&insight(1)).await;
        becomes(&other, &id, "applied").await;
    }
    // None of the slow ones has ended meanwhile, so none has left its worker to the others.
    let ended = service.count("updates WHERE vault_id = 'acme' AND finished_at IS NOT NULL");
    assert_eq!((ended.await, running(&service).await), (0, count));
    service.stop();
}

//! Updates that are accepted before they are executed: `Prefer: respond-async`.

use crate::harness::{Answer, Memory, Service, eventually, has, holds};
use crate::pipeline::dictated::{Dictated, Gate, dictate, learning};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;
use working_memory::domain::operation::Role;

const GRACE: Duration = Duration::from_secs(30);

/// An update to be executed later.
async fn send(memory: &Memory, body: &Value) -> Answer {
    let request = memory.request(Method::POST, "update").json(body);
    Answer::to(request.header("Prefer", "respond-async")).await
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
async fn an_accepted_update_is_stored_before_the_response_and_executed_later() {
    let (service, memory) = Dictated::new().service().await.agent();

    let answer = send(&memory, &insight(1)).await.is(202);

    let queued = answer.json();
    let id = format!("updates/{}", queued["update_id"].as_str().unwrap());
    assert_eq!(answer.header("location"), memory.path(&id));
    assert_eq!(answer.header("preference-applied"), "respond-async");
    has(
        &queued,
        json!({"status": "queued", "attempts": 0, "finished_at": null, "version": null}),
    );
    assert_eq!(memory.read(&id).await, queued);
    let listed = memory.read("updates").await;
    assert_eq!(listed["items"][0]["status"], "queued");
    assert_eq!(service.count("memory_contexts").await, 0);

    let _workers = service.work(GRACE);
    let done = becomes(&memory, &id, "applied").await;

    has(&done, json!({"attempts": 1, "version": 1}));
    assert!(done["finished_at"].is_string() && done["exchanges"].is_array());
    assert_eq!(done["outcome"]["operations"][0]["id"], "KL-1");
    assert!(memory.text().await.contains("insight 1"));
    let version = memory.get_json("contexts/1").await.is(200).json();
    assert_eq!(version["source"], "update");
    assert_eq!(service.count("updates").await, 1);
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
    assert!(
        memory.read(&id).await["outcome"]["problem"]
            .as_str()
            .unwrap()
            .contains("learnings")
    );
    // No later update of the memory overtakes it.
    assert_eq!(memory.read(&later_update).await["attempts"], 0);

    service
        .execute(
            "UPDATE updates SET not_before = not_before - interval '80 seconds' WHERE not_before > now()",
        )
        .await;
    let failed = becomes(&memory, &id, "failed").await;
    assert_eq!(failed["attempts"], 2);
    holds(
        failed["outcome"]["problem"].as_str().unwrap(),
        &["learnings model failed"],
    );
    assert_eq!(becomes(&memory, &later_update, "applied").await["version"], 1);
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
    for (id, status) in [(&first, "cancelled"), (&second, "applied")] {
        let problem = memory
            .delete_at(id)
            .await
            .problem(409, "conflict", Some("update_id"));
        assert_eq!(problem["run_status"], status);
    }
    memory
        .delete_at("updates/no-such-run")
        .await
        .problem(404, "not-found", Some("update_id"));
    assert_eq!(service.count("memory_contexts").await, 1);
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
    let conditional = |tag: &str| {
        let request = memory.updating(&insight(1));
        Answer::to(request.header("Prefer", "respond-async").header("If-Match", tag))
    };

    conditional("\"other\"").await.stale();
    assert_eq!(service.count("updates").await, 0);
    let run = conditional(&head).await.is(202).json();
    memory.write("# Notes\nmoved\n").await;
    let _workers = service.work(GRACE);

    let path = format!("updates/{}", run["update_id"].as_str().unwrap());
    let refused = becomes(&memory, &path, "conflict").await;
    holds(refused["outcome"]["problem"].as_str().unwrap(), &["precondition"]);
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn a_queued_update_that_cannot_be_parsed_fails_and_applies_nothing() {
    let (service, memory) = Dictated::new().service().await.agent();
    let head = memory.put("# Notes\n").await.is(201).header("etag").to_owned();
    let conditional = || {
        let request = memory.updating(&insight(1));
        Answer::to(
            request
                .header("Prefer", "respond-async")
                .header("If-Match", &head),
        )
    };
    let mut broken = Vec::new();
    for (statement, problem) in [
        (
            "UPDATE updates SET preconditions = jsonb_set(preconditions, '{if_match}', '7') WHERE update_id = $1",
            "the stored preconditions cannot be read: if_match: ",
        ),
        (
            "UPDATE updates SET preconditions = NULL WHERE update_id = $1",
            "the stored preconditions cannot be read: ",
        ),
        (
            "UPDATE updates SET request = request || '{\"mode\": \"later\"}' WHERE update_id = $1",
            "the stored request cannot be read: unknown variant `later`",
        ),
        (
            "UPDATE updates SET request = jsonb_set(request, '{roles}', '[\"other\"]') WHERE update_id = $1",
            "the stored request cannot be read: roles",
        ),
    ] {
        let run = conditional().await.is(202).json();
        let id = run["update_id"].as_str().unwrap();
        let changed = sqlx::query(statement).bind(id).execute(service.rows()).await;
        assert_eq!(changed.unwrap().rows_affected(), 1);
        broken.push((format!("updates/{id}"), problem));
    }
    let complete = memory.queued(&insight(2)).await;

    let _workers = service.work(GRACE);

    assert_eq!(becomes(&memory, &complete, "applied").await["version"], 2);
    for (id, problem) in broken {
        let failed = becomes(&memory, &id, "failed").await;
        let problem_type = failed["outcome"]["problem"].as_str().unwrap();
        assert!(problem_type.starts_with(problem), "{problem_type}");
        has(&failed, json!({"version": null, "attempts": 1}));
    }
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn a_retry_with_the_same_key_returns_the_same_run() {
    let (service, memory) = Dictated::new().service().await.agent();
    let send = || {
        let request = memory.updating(&insight(1));
        Answer::to(
            request
                .header("Prefer", "respond-async")
                .header("Idempotency-Key", "k"),
        )
    };

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
    let memory = service.memory("agent");
    for _ in 0..2 {
        memory.queued(&insight(1)).await;
    }

    for (other, limit, name) in [
        ("agent", 2, "pipeline.queue.max_per_memory"),
        ("third", 3, "pipeline.queue.max_per_vault"),
    ] {
        if other == "third" {
            service.memory("second").queued(&insight(1)).await;
        }
        let refused = send(&service.memory(other), &insight(1)).await;
        assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
        let problem = refused.problem(429, "too-many-requests", None);
        has(&problem, json!({"limit": limit, "limit_name": name}));
    }
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
    let models = Dictated::new();
    let service = models.service().await;
    let before = six_queued(&service).await;

    service.clock.set_back(Duration::from_secs(3_600));
    let later = service.memory("m0").queued(&insight(7)).await;
    let _workers = service.work(GRACE);

    all_become_applied(&service, &before).await;
    becomes(&service.memory("m0"), &later, "applied").await;
}

#[tokio::test]
async fn updates_run_although_the_clock_of_the_database_was_set_back() {
    let models = Dictated::new();
    let service = models.service().await;
    let queued = six_queued(&service).await;
    // As rows look that were written before it was set back: three are due in an hour, one has a claim until then.
    for statement in [
        "UPDATE updates SET not_before = now() + interval '1 hour' WHERE memory_id <= 'm2'",
        "UPDATE updates SET status = 'running', claim_id = 'gone', attempts = 1, not_before = NULL,
                lease_until = now() + interval '1 hour' WHERE memory_id = 'm3'",
    ] {
        let changed = sqlx::query(statement).execute(service.rows()).await.unwrap();
        assert!(changed.rows_affected() >= 1);
    }

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
    let running = || async {
        let count = sqlx::query_scalar("SELECT count(*) FROM updates WHERE status = 'running'");
        let count: i64 = count.fetch_one(service.rows()).await.unwrap();
        count
    };
    let mut count = running().await;
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let now = running().await;
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
    let ended = sqlx::query_scalar(
        "SELECT count(*) FROM updates WHERE vault_id = 'acme' AND finished_at IS NOT NULL",
    );
    let ended: i64 = ended.fetch_one(service.rows()).await.unwrap();
    assert_eq!((ended, running().await), (0, count));
    service.stop();
}

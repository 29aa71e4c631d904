//! A blocked vault does not affect the others.

use super::answers::asks_and_does_not_read;
use super::{get, of, put};
use crate::harness::{Answer, Service};
use crate::pipeline::dictated::{Gate, dictate, learning};
use futures::future::join_all;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;
use working_memory::config::Config;
use working_memory::domain::operation::Role;

fn eight_at_once(config: &mut Config) {
    config.http.max_requests = 8;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_one_vault_leave_permits_for_others() {
    let service = Service::configured(eight_at_once).await;
    let text = "# D\n".to_owned() + &"a\n".repeat(30_000);
    put(&service, "evil", "m", text).await.is(201);
    put(&service, "other", "m", "# A\n").await.is(201);

    let mut unread = Vec::new();
    for _ in 0..2 {
        unread.push(asks_and_does_not_read(&service).await);
    }
    let refused = get(&service, "evil", "m").await;
    let refused = refused.problem(429, "too-many-requests", None);
    assert_eq!(refused["limit_name"], "http.max_requests");

    let others = (0..2).map(|_| get(&service, "other", "m"));
    for answer in join_all(others).await {
        answer.is(200);
    }
    put(&service, "other", "m", "# B\n").await.is(201);
    drop(unread);
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_that_wait_for_the_first_request_hold_no_permits() {
    let gate = Gate::new();
    let service = Service::start_with(eight_at_once, Some(gate.before(Role::Learnings))).await;
    let update = || {
        let task = dictate(json!({ "learnings": learning("insight") }));
        let request = of(&service, Method::POST, "evil", "m/update");
        tokio::spawn(Answer::to(request.header("Idempotency-Key", "one").json(&task)))
    };
    let mut running = vec![update()];
    gate.asked().await;
    for _ in 0..12 {
        running.push(update());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    get(&service, "other", "m").await.is(404);
    get(&service, "evil", "other").await.is(404);

    gate.open();
    for answer in join_all(running).await {
        answer.unwrap().is(200);
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_whose_requests_all_wait_for_the_database_does_not_block_others() {
    let service = Service::start().await;
    put(&service, "evil", "m", "# A\n").await.is(201);
    put(&service, "evil", "n", "# A\n").await.is(201);
    put(&service, "other", "m", "# A\n").await.is(201);
    // Every writer of the memory waits for this lock, with a connection.
    let mut lock = service.rows().begin().await.unwrap();
    let row = "SELECT FROM memories WHERE vault_id = 'evil' AND memory_id = 'm' FOR UPDATE";
    sqlx::query(row).execute(&mut *lock).await.unwrap();
    let status = |n: usize| {
        let request = of(&service, Method::PUT, "evil", "m/status");
        Answer::to(request.json(&serde_json::json!({"goal": format!("g{n}")})))
    };
    let stuck = join_all((0..24).map(status));
    let others = async {
        // Long enough to take all connections of a pool.
        tokio::time::sleep(Duration::from_millis(300)).await;
        // A batch waits for no permit of the vault that it began with: those of all vaults would wait with it.
        put(&service, "evil", "n", "# A\n\nB\n").await.is(201);
        for n in 0..10 {
            put(&service, "other", "m", format!("# A\n\n{n}\n")).await.is(201);
            get(&service, "other", "m").await.is(200);
            let past_caches = of(&service, Method::GET, "other", "m/context");
            Answer::to(past_caches.header("Cache-Control", "no-cache"))
                .await
                .is(200);
            service.get("/readyz").await.is(200);
        }
        lock.rollback().await.unwrap();
    };
    let (answers, ()) = futures::join!(stuck, others);
    let saved = answers.iter().filter(|answer| answer.status < 300).count();
    assert!(saved > 0, "those that waited in time went on: {answers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_that_wait_for_a_model_hold_no_permits() {
    let gate = Gate::new();
    let service = Service::start_with(eight_at_once, Some(gate.before(Role::Learnings))).await;
    let update = |number: usize| {
        let task = dictate(json!({ "learnings": learning("insight") }));
        let request = of(&service, Method::POST, "evil", &format!("m{number}/update"));
        let accept = ["text/event-stream", "application/json"][number % 2];
        tokio::spawn(Answer::to(request.header("Accept", accept).json(&task)))
    };
    // More than a quarter of all permits, which one vault may not exceed.
    let mut running = Vec::new();
    for number in 0..6 {
        running.push(update(number));
        gate.asked().await;
    }

    get(&service, "evil", "other").await.is(404);
    put(&service, "evil", "other", "# A\n").await.is(201);

    for _ in &running {
        gate.open();
    }
    for answer in join_all(running).await {
        let answer = answer.unwrap().is(200);
        assert!(answer.text().contains("KL-1"), "{}", answer.text());
    }
}

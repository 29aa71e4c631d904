//! Many concurrent updates: of one memory, of many, by two services, with one connection, with a full queue.

use super::dictated::{Dictated, Gate, dictate, learning, progress};
use super::stored::{is_sound, records, versions};
use super::stub::{Reply, Stub};
use crate::harness::{Service, has};
use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Barrier;
use working_memory::config::llm::Provider;
use working_memory::domain::operation::Role;

fn update(number: usize) -> Value {
    dictate(json!({"learnings": learning(&format!("insight {number}")), "millis": 5}))
}

/// One update each of so many memories at once, which all succeed.
async fn work_together(service: &Service, count: usize) {
    let work = |number| async move {
        let memory = service.memory(&format!("agent-{number}"));
        memory.updated(json!({"task": "Work together"})).await;
    };
    join_all((0..count).map(work)).await;
}

async fn every_learning_is_there_once(service: &Service, count: usize) {
    let versions = versions(service, "agent").await;
    assert_eq!(versions.len(), count);
    let records = records(service, "agent").await;
    let contents: BTreeSet<_> = records.values().map(|row| row.content.clone()).collect();
    let expected: BTreeSet<_> = (0..count).map(|number| format!("insight {number}")).collect();
    assert_eq!((contents, records.len()), (expected, count));
    is_sound(service, "agent").await;
}

#[tokio::test]
async fn twenty_concurrent_updates_of_one_memory_each_add_their_record() {
    let models = Dictated::new();
    let (service, memory) = models.service().await.agent();

    let answers = join_all((0..20).map(|number| memory.update(update(number)))).await;

    let answers: Vec<Value> = answers.into_iter().map(|answer| answer.is(200).json()).collect();
    let versions = answers.iter().map(|answer| answer["version"].as_i64().unwrap());
    assert_eq!(versions.collect::<BTreeSet<_>>(), (1..=20).collect());
    // One after another: each read the version of the one before, so nothing was merged and no model was called twice.
    assert!(answers.iter().all(|answer| answer["rebased"] == false));
    assert_eq!(models.asked(Role::Learnings).len(), 20);
    every_learning_is_there_once(&service, 20).await;
}

#[tokio::test]
async fn two_services_that_rewrite_progress_end_with_one_of_the_two_or_a_conflict() {
    let models = Dictated::new();
    let one = models.service().await;
    let two = one.beside(Some(models.models())).await;
    let (first, second) = (one.memory("agent"), two.memory("agent"));

    let answers = join_all((0..12).map(|number| {
        let memory = if number % 2 == 0 { &first } else { &second };
        let answers = json!({"progress": progress(&format!("Step {number}")), "learnings": learning(&format!("insight {number}"))});
        memory.update(dictate(answers))
    }))
    .await;

    let applied = answers.iter().filter(|answer| answer.status == 200).count();
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 409)));
    assert!(applied >= 6, "{applied}");
    assert_eq!(records(&one, "agent").await.len(), applied);
    is_sound(&one, "agent").await;
}

#[tokio::test]
async fn operations_of_many_agents_each_replace_progress() {
    let (service, memory) = Dictated::new().service().await.agent();
    let text = |number| progress(&format!("Step {number}")) + &learning(&format!("insight {number}"));
    let texts: Vec<String> = (0..24).map(text).collect();
    join_all(texts.iter().map(|text| memory.applied(text))).await;
    every_learning_is_there_once(&service, 24).await;
}

#[tokio::test]
async fn no_connection_is_held_while_models_think() {
    // Every model of every update is called before any responds, with one database connection for all of them.
    let all = Arc::new(Barrier::new(60));
    let stub = Stub::start(move |request| {
        let text = match request.role() {
            Role::Learnings => learning("together"),
            role => format!("{}: NO CHANGE", role.header()),
        };
        Reply::Together(all.clone(), Box::new(Reply::Text(text)))
    })
    .await;
    let configure = stub.configure(Provider::Openai, 0);
    let service = Service::configured(|config| {
        configure(config);
        config.llm.timeout_seconds = 20.0;
        config.database.max_connections = 1;
    })
    .await;

    work_together(&service, 20).await;

    assert_eq!(service.count("memory_contexts").await, 20);
}

/// The steps are written every 250 ms, over the connection that the update's own statements use.
#[tokio::test]
async fn an_update_goes_on_while_its_steps_are_written() {
    let stub = Stub::start(|request| {
        let text = format!("{}: NO CHANGE", request.role().header());
        Reply::After(Duration::from_millis(245), Box::new(Reply::Text(text)))
    })
    .await;
    let configure = stub.configure(Provider::Openai, 0);
    let service = Service::configured(|config| {
        configure(config);
        config.database.max_connections = 1;
    })
    .await;
    let begun = Instant::now();

    work_together(&service, 30).await;

    // None waited for the connection until it gave up, after ten seconds.
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    // The calls that ended together were counted together.
    let usage = service.read("/v1/vaults/acme/usage").await;
    let days = usage["items"].as_array().unwrap().iter();
    let calls: i64 = days.map(|day| day["calls"].as_i64().unwrap()).sum();
    assert_eq!(calls, 3 * 30, "{usage}");
}

#[tokio::test]
async fn an_update_beyond_the_queue_limit_is_rejected_with_retry_after() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    let mut running: FuturesUnordered<_> = (0..66).map(|number| memory.update(update(number))).collect();

    // No model responds yet, so a request that gets a response now was rejected.
    for _ in 0..2 {
        let refused = running.next().await.unwrap();
        let seconds: u64 = refused.header("retry-after").parse().unwrap();
        assert!(seconds >= 1);
        let problem = refused.problem(429, "too-many-requests", None);
        let limit = json!({"limit": 64, "limit_name": "pipeline.queue_per_memory"});
        has(&problem, limit);
    }
    for _ in 0..64 {
        gate.open();
    }
    while let Some(answer) = running.next().await {
        answer.is(200);
    }
    assert_eq!(service.counts(["memory_contexts", "updates"]).await, [64, 64]);
}

//! Retention: which versions are pruned, and the responses for them afterwards.

use crate::harness::{Service, Step, has, scripted};
use chrono::TimeDelta;
use serde_json::{Value, json};
use std::time::Duration;
use working_memory::clock::Clock;
use working_memory::config::retention::RetentionConfig;
use working_memory::domain::operation::Role;

async fn versions(service: &Service, memory: &str) -> Vec<i64> {
    let list = service.memory(memory).get("contexts").await.is(200).json();
    let items = list["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item["version"].as_i64().unwrap())
        .collect()
}

#[tokio::test]
async fn the_newest_versions_and_those_that_introduced_active_records_stay() {
    let (service, memory) = Service::start().await.agent();
    memory.write("one").await;
    memory
        .write("# Key Learnings\n- KL-1 because a: b\n- KL-2 because a: c\n")
        .await;
    memory
        .write("# Key Learnings\n- KL-1 because a: b\n- KL-3 because a: d\n")
        .await;
    for number in 4..=6 {
        let text = format!("{number}\n# Key Learnings\n- KL-1 because a: b\n");
        memory.write(text).await;
    }
    service.memory("small").write("x").await;

    assert_eq!(service.prune(2, true).await, 3);

    assert_eq!(versions(&service, "agent").await, [6, 5, 2]);
    assert_eq!(versions(&service, "small").await, [1]);
    assert_eq!(service.prune(2, true).await, 0);
    memory.refuses("contexts/1", 404, "not-found", Some("ref")).await;
    memory.get("contexts/2").await.is(200);
    memory.restore("3").await.problem(404, "not-found", Some("ref"));
    let archived = memory.read("records/KL-3").await;
    has(&archived, json!({"created_version": 3, "content": "d"}));
    assert_eq!(service.prune(2, false).await, 1);
    assert_eq!(memory.write("next").await["version"], 7);
    assert_eq!(memory.learns("e: f").await["operations"][0]["id"], "KL-4");
}

#[tokio::test]
async fn a_version_stays_as_long_as_its_time_can_be_requested() {
    let (service, memory) = Service::start().await.agent();
    for text in ["one", "two", "three"] {
        memory.write(text).await;
        service.clock.advance(Duration::from_secs(60));
    }
    let retention = RetentionConfig {
        max_age: Some(TimeDelta::seconds(90)),
        ..RetentionConfig::default()
    };

    let prune = async || {
        let pruned = service.storage().prune_versions(&retention, service.clock.now());
        pruned.await.unwrap()
    };
    // It is 02:03; at 02:01:30 the second version was the newest.
    assert_eq!(prune().await, 1);

    assert_eq!(versions(&service, "agent").await, [3, 2]);
    assert_eq!(
        memory
            .get("context?as_of=2026-11-21T02:01:30Z")
            .await
            .is(200)
            .text(),
        "two"
    );
    memory
        .refuses(
            "context?as_of=2026-11-21T02:00:30Z",
            404,
            "not-found",
            Some("as_of"),
        )
        .await;
    service.clock.advance(Duration::from_secs(86_400));
    assert_eq!(prune().await, 1);
    assert_eq!(memory.text().await, "three");
}

#[tokio::test]
async fn a_version_retained_for_its_records_is_not_returned_for_a_later_time() {
    let (service, memory) = Service::start().await.agent();
    for number in 1..=5 {
        let text = format!("# Key Learnings\n- KL-1 because a: b\n\n# Notes\n{number}\n");
        memory.write(text).await;
        service.clock.advance(Duration::from_secs(60));
    }

    assert_eq!(service.prune(2, true).await, 2);

    assert_eq!(versions(&service, "agent").await, [5, 4, 1]);
    memory
        .refuses(
            "context?as_of=2026-11-21T02:02:30Z",
            404,
            "not-found",
            Some("as_of"),
        )
        .await;
    memory.get("context?as_of=2026-11-21T02:03:30Z").await.is(200);
    memory.get("context?as_of=2026-11-21T02:04:30Z").await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_instances_prune_each_version_once() {
    let service = Service::start().await;
    sqlx::query(
        "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, created_at, changed_at)
         VALUES ('v', 'm', 1203, 'c-1203', '2026-11-21T02:00:00Z', '2026-11-21T02:00:00Z')",
    )
    .execute(service.rows())
    .await
    .unwrap();
    sqlx::query(
        "INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                      source, bytes, log)
         SELECT 'v', 'm', 'c-' || n, 'a', 'x', '2026-11-21T02:00:00Z', n, 'put', 1, '' FROM generate_series(1, 1203) AS n",
    )
    .execute(service.rows())
    .await
    .unwrap();

    let rounds = futures::future::join_all((0..4).map(|_| service.prune(2, true))).await;
    let again = service.prune(2, true).await;

    assert_eq!(rounds.iter().sum::<u64>() + again, 1201);
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn old_runs_are_deleted_and_their_versions_stay() {
    let (service, memory) = Service::with_models(scripted(|role| match role {
        Role::Learnings => {
            Step::answer("KEY_LEARNINGS:\n  ADD:\n    - because it bit us: pin the tool chain\n")
        }
        _ => Step::answer(&format!("{}: NO CHANGE", role.header())),
    }))
    .await
    .agent();
    let task = json!({"task": "Next time pin the tool chain."});
    let old = memory.updated(task).await;
    let proposal = json!({"task": "Next time pin the tool chain.", "mode": "propose"});
    let waiting = service.memory("other").update(proposal).await.json();
    service.clock.advance(Duration::from_secs(3600));
    let new = memory.apply("KEY_LEARNINGS:\n  ADD:\n    - because e: f\n").await;
    let new = new.is(200).json();
    let before = service.clock.now() - TimeDelta::minutes(30);

    assert_eq!(service.storage().prune_runs(before).await.unwrap(), 1);

    let run = |answer: &Value| format!("updates/{}", answer["update_id"].as_str().unwrap());
    memory.get(&run(&old)).await.missing();
    memory.get(&run(&new)).await.is(200);
    let waiting = service.memory("other").read(&run(&waiting)).await;
    assert_eq!(waiting["status"], "proposed");
    let version = memory.get("contexts/1").await.is(200);
    assert!(version.text().contains("pin the tool chain"));
    assert_eq!(versions(&service, "agent").await, [2, 1]);
    memory.get("log").await.is(200);
    assert_eq!(service.storage().prune_runs(before).await.unwrap(), 0);
}

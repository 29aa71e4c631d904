//! The service on several Citus nodes. `TEST_CITUS_NODES_URL` names a database with the extension and its worker nodes, for
//! this test alone: the test creates and distributes the tables, and leaves its rows behind. The test is ignored by default;
//! `make test-citus` runs it.

use crate::harness::{Answer, Database, Memory, Service, eventually};
use crate::pipeline::dictated::{Dictated, dictate, learning};
use reqwest::Method;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use working_memory::clock::Clock;
use working_memory::storage::Distribution;

/// Enough vaults to be placed on several nodes, whatever the number of shards.
const VAULTS: usize = 8;

#[tokio::test]
#[ignore = "needs a distributed database: TEST_CITUS_NODES_URL"]
async fn on_citus_every_operation_on_a_memory_works_in_every_vault() {
    let url = std::env::var("TEST_CITUS_NODES_URL")
        .expect("TEST_CITUS_NODES_URL names a database with the extension");
    // The harness creates a database for every service; this one stays empty.
    let second_database = Arc::new(Database::create().await);
    let models = Dictated::new();
    let service = Service::start_at(
        second_database,
        |config| config.database.url = Some(url.into()),
        Some(models.models()),
    )
    .await;
    let storage = service.storage();
    storage.migrate().await.unwrap();
    assert!(
        storage.can_distribute().await.unwrap(),
        "the extension is not there"
    );
    storage.distribute().await.unwrap();
    assert_eq!(storage.distribution().await.unwrap(), Distribution::ByVault);

    let run = fastrand::u64(..);
    let vaults: Vec<String> = (0..VAULTS).map(|number| format!("t{run:x}-{number}")).collect();
    for vault in &vaults {
        exercise_memory(&service, vault).await;
    }
    let listed = service.read("/v1/vaults?limit=100").await;
    assert!(
        listed["items"]
            .as_array()
            .is_some_and(|items| items.len() >= VAULTS)
    );

    let workers = service.work(Duration::from_secs(30));
    for vault in &vaults {
        run_queued_update(&Memory::new(&service, vault, "queued")).await;
    }
    service.stop();
    workers.stopped().await;

    service.prune(1, false).await;
    storage.prune_runs(service.clock.now()).await.unwrap();
    for vault in &vaults {
        let memory = Memory::new(&service, vault, "agent");
        let left = memory.read("contexts").await;
        assert_eq!(left["items"].as_array().unwrap().len(), 1, "{left}");
        memory.delete().await.is(204);
    }
}

async fn exercise_memory(service: &Service, vault: &str) {
    let memory = Memory::new(service, vault, "agent");
    memory.write("# Notes\nthe parser\n").await;
    memory.write("# Notes\nthe parser keeps tokens\n").await;
    let operation = json!({"op": "add", "section": "learnings", "reason": "seen", "content": "an insight"});
    let operations = json!({ "operations": [operation] });
    let request = memory.request(Method::POST, "operations").json(&operations);
    Answer::to(request).await.is(200);
    let update = memory.updating(&dictate(json!({ "learnings": learning("another insight") })));
    Answer::to(update).await.is(200);
    assert!(memory.text().await.contains("another insight"));
    for (rest, count) in [("contexts", 4), ("log", 4), ("records", 2), ("updates", 2)] {
        let list = memory.get_json(rest).await.is(200).json();
        assert_eq!(list["items"].as_array().unwrap().len(), count, "{rest}: {list}");
    }
    let search = format!("/v1/vaults/{vault}/search?q=tokens&consistent=true");
    let found = service.read(&search).await;
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found}");
    memory.redact("1").await.is(200);
    memory.get("contexts/1").await.is(410);
    let events = format!("/v1/vaults/{vault}/events");
    let events = service
        .request(Method::GET, &events)
        .header("Accept", "application/json")
        .header("Last-Event-ID", "0");
    let events = Answer::to(events).await.is(200).json();
    assert!(events["items"].as_array().unwrap().len() >= 5, "{events}");
}

async fn run_queued_update(memory: &Memory) {
    let body = dictate(json!({ "learnings": learning("a late insight") }));
    let run = memory.queued(&body).await;
    eventually("it is run", async || {
        memory.read(&run).await["status"] == "applied"
    })
    .await;
}

//! Events of a memory are in the order in which things happened, whatever the clocks of the instances say.

use crate::harness::{Memory, Service, eventually};
use crate::pipeline::dictated::{Dictated, dictate, learning};
use serde_json::{Value, json};
use std::time::Duration;
use working_memory::domain::operation::Role;

const HOUR: Duration = Duration::from_secs(3_600);

async fn events(service: &Service) -> Vec<Value> {
    let all = "GET /v1/vaults/acme/events?limit=200 | Accept: application/json | Last-Event-ID: 0 → 200";
    let page = service.requests(all).await.json();
    page["items"].as_array().unwrap().clone()
}

/// Kinds, versions, and steps.
fn told(events: &[Value]) -> Vec<String> {
    let one = |event: &Value| {
        let kind = event["kind"].as_str().unwrap();
        match (&event["version"], &event["details"]["step"]) {
            (Value::Number(version), _) => format!("{kind} {version}"),
            (_, Value::String(step)) => step.clone(),
            _ => kind.to_owned(),
        }
    };
    events.iter().map(one).collect()
}

#[tokio::test]
async fn instances_whose_clocks_are_an_hour_apart_tell_one_order() {
    let ahead = Service::start().await;
    let behind = ahead.beside_with_clock(None, |clock| clock.set_back(HOUR)).await;
    let (first, second) = (ahead.memory("agent"), behind.memory("agent"));
    let mut expected = Vec::new();
    for round in 0..4 {
        let (one, other) = [(&first, &second), (&second, &first)][round % 2];
        one.put(format!("one {round}")).await.is(201);
        other.write(format!("two {round}")).await;
        one.put(format!("three {round}")).await.is(201);
        other.delete().await.is(204);
        expected.extend(["version 1", "version 2", "version 3", "memory_deleted"]);
    }

    assert_eq!(told(&events(&behind).await), expected);
    assert_eq!(events(&ahead).await, events(&behind).await);
}

#[tokio::test]
async fn an_update_queued_by_a_clock_that_is_ahead_is_told_before_it_runs() {
    let models = Dictated::new();
    let ahead = Service::start().await;
    let behind = ahead
        .beside_with_clock(Some(models.models()), |clock| clock.set_back(HOUR))
        .await;
    let memory: Memory = ahead.memory("agent");
    let body = dictate(json!({ "learnings": learning("one") }));
    let run = memory.queued(&body).await;

    let _workers = behind.work(Duration::from_secs(30));
    eventually("it is applied", async || {
        memory.read(&run).await["status"] == "applied"
    })
    .await;

    let told = told(&events(&ahead).await);
    assert_eq!(told[..3], ["queued", "started", "captured"], "{told:?}");
    let mut last = told[told.len() - 2..].to_vec();
    last.sort();
    assert_eq!(last, ["finished", "version 1"], "{told:?}");
    assert_eq!(models.asked(Role::Learnings).len(), 1);
}

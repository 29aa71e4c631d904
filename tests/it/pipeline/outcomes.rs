//! The outcome of a run is stored once, with its version or with the run, and every reader gets it as one run.

use super::dictated::{Dictated, dictate, learning, progress};
use crate::harness::{Memory, Service, has, lacks};
use serde_json::{Value, json};

/// The members that a response and its run share.
const PARTS: &str = "diff document log models operations rebased rejected warnings";

async fn update(memory: &Memory, content: &str) -> Value {
    let body = dictate(json!({ "learnings": learning(content), "progress": progress("Wire it") }));
    memory.updated(body).await
}

async fn outcome_of(memory: &Memory, answer: &Value) -> Value {
    let mut run = memory.run_of(answer).await;
    run["outcome"].take()
}

fn is_as_answered(outcome: &Value, answer: &Value) {
    for part in PARTS.split(' ') {
        assert_eq!(outcome[part], answer[part], "{part}");
    }
    assert!(outcome.get("in_version").is_none(), "{outcome}");
}

async fn listed(service: &Service, path: &str) -> Vec<Value> {
    let list = service.read(path).await;
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["outcome"].clone()).collect()
}

#[tokio::test]
async fn every_reader_of_a_run_gets_the_outcome_of_the_response() {
    let (service, memory) = Dictated::new().service().await.agent();
    let first = update(&memory, "pin the tool chain").await;
    let second = update(&memory, "keep the lock file").await;
    assert_eq!((&first["version"], &second["version"]), (&json!(1), &json!(2)));

    let stored: Vec<String> = service.values("SELECT outcome::text FROM updates").await;
    lacks(stored.concat(), &["pin the tool", "lock file"]);
    for answer in [&first, &second] {
        is_as_answered(&outcome_of(&memory, answer).await, answer);
    }
    for below in ["memories/agent/updates", "updates"] {
        let outcomes = listed(&service, &format!("/v1/vaults/acme/{below}")).await;
        for (outcome, answer) in outcomes.iter().zip([&second, &first]) {
            is_as_answered(outcome, answer);
        }
    }

    // A deleted version contains no outcome any more.
    assert_eq!(service.prune(1, false).await, 1);
    let outcome = outcome_of(&memory, &first).await;
    has(&outcome, json!({"diff": "", "log": "", "operations": []}));
    assert_eq!(outcome["models"], first["models"]);
    let outcome = outcome_of(&memory, &second).await;
    has(&outcome, json!({"diff": "", "log": second["log"]}));
}

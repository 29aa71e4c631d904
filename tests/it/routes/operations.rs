//! `POST M/operations`

use crate::harness::{Answer, Service};
use reqwest::Method;
use serde_json::{Value, json};

const ADD: &str = "KEY_LEARNINGS:\n  ADD:\n    - because CI has no database: commit the query data\n";
const FAULTY: &str = "KEY_LEARNINGS:\n  ADD:\n    - no reason at all\n    - because good: kept\n";

#[tokio::test]
async fn operations_are_applied_without_a_model_and_make_the_memory() {
    let service = Service::start().await;
    let memory = service.memory("agent");

    let answer = memory.apply(ADD).await.is(200).json();

    assert_eq!(answer["status"], "applied");
    assert_eq!(
        (&answer["base_version"], &answer["version"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(answer["operations"][0]["id"], "KL-1");
    assert_eq!(answer["rejected"], json!([]));
    assert_eq!(answer["models"], json!({}));
    let line = "- KL-1 [2026-11-21T02:00:00Z] because CI has no database: commit the query data\n";
    assert_eq!(
        memory.get("context").await.is(200).text(),
        format!("# Key Learnings\n{line}")
    );
    assert_eq!(
        (service.count("records").await, service.count("updates").await),
        (1, 1)
    );
}

#[tokio::test]
async fn a_dry_run_shows_everything_and_saves_nothing() {
    let service = Service::start().await;
    let memory = service.memory("agent");

    let answer = Answer::to(memory.applying("?dry_run=true", ADD))
        .await
        .is(200)
        .json();

    assert_eq!(answer["status"], "dry_run");
    assert_eq!(answer["version"], 0);
    assert_eq!(answer["operations"][0]["id"], "KL-1");
    assert!(answer["diff"].as_str().unwrap().contains("+- KL-1"), "{answer}");
    memory.get("context").await.problem(404, "not-found", None);
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn a_run_that_failed_on_faults_is_finished_by_hand() {
    let service = Service::start().await;
    let memory = service.memory("agent");

    let failed = Answer::to(memory.applying("?on_invalid=fail", FAULTY))
        .await
        .problem(422, "invalid", None);
    let id = failed["update_id"].as_str().unwrap();
    assert_eq!(failed["rejected"][0]["kind"], "missing_reason");
    assert_eq!(service.count("memory_contexts").await, 0);
    assert_eq!(
        memory.get(&format!("updates/{id}")).await.is(200).json()["status"],
        "invalid"
    );

    Answer::to(memory.applying(&format!("?update_id={id}"), ADD))
        .await
        .is(200);
    assert_eq!(
        memory.get(&format!("updates/{id}")).await.is(200).json()["status"],
        "resolved"
    );
    Answer::to(memory.applying(&format!("?update_id={id}"), ADD))
        .await
        .problem(409, "conflict", Some("update_id"));
    Answer::to(memory.applying("?update_id=none", ADD))
        .await
        .problem(404, "not-found", Some("update_id"));
}

#[tokio::test]
async fn faulty_items_are_dropped_and_reported() {
    let service = Service::start().await;

    let answer = service.memory("agent").apply(FAULTY).await.is(200).json();

    assert_eq!(answer["rejected"][0]["kind"], "missing_reason");
    assert_eq!(answer["rejected"][0]["section"], "learnings");
    assert_eq!(answer["operations"][0]["content"], "kept");
}

#[tokio::test]
async fn the_number_of_additions_is_bounded_as_the_caller_says() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let items: String = (0..5)
        .map(|number| format!("    - because x: insight {number}\n"))
        .collect();
    let text = format!("KEY_LEARNINGS:\n  ADD:\n{items}");

    let few = Answer::to(memory.applying("?dry_run=true", &text))
        .await
        .is(200)
        .json();
    let many = Answer::to(memory.applying("?dry_run=true&max_additions=100", &text))
        .await
        .is(200)
        .json();

    let count = |answer: &Value| answer["operations"].as_array().unwrap().len();
    assert_eq!((count(&few), count(&many)), (3, 5));
    for bad in ["0", "101", "x"] {
        let refused = Answer::to(memory.applying(&format!("?max_additions={bad}"), &text)).await;
        refused.problem(422, "invalid", Some("max_additions"));
    }
}

#[tokio::test]
async fn a_document_over_its_cap_is_refused_with_both_sizes() {
    let service = Service::start_with(|config| config.limits.context_bytes = 200, None).await;
    let memory = service.memory("agent");
    memory.put("x".repeat(190)).await.is(201);

    let problem = memory.apply(ADD).await.problem(422, "invalid", Some("context"));

    assert_eq!(
        (&problem["before"], &problem["limit"]),
        (&json!(190), &json!(200))
    );
    assert!(problem["actual"].as_u64().unwrap() > 200);
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_stale_precondition_and_an_empty_body_are_refused() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let stale = memory.applying("", ADD).header("If-Match", "\"x\"");
    Answer::to(stale).await.problem(412, "precondition-failed", None);
    memory.apply("").await.problem(422, "invalid", Some("body"));
    memory
        .apply("KEY_LEARNINGS:\n\0")
        .await
        .problem(422, "invalid", Some("body"));
    let json = memory
        .request(Method::POST, "operations")
        .header("Content-Type", "application/json")
        .body("{}");
    Answer::to(json)
        .await
        .problem(415, "unsupported-media-type", Some("Content-Type"));
    assert_eq!(service.count("memories").await, 0);
}

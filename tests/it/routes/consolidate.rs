//! `POST M/consolidate`: what can go without losing anything is proposed or archived, and checked again when it is saved.

use crate::harness::{Answer, Memory, Service};
use reqwest::Method;
use serde_json::{Value, json};

const DOCUMENT: &str = "# Key Learnings\n\
    - KL-1 because it failed: CI needs SQLX_OFFLINE=true\n\
    - KL-2 because it failed again: the CI needs `SQLX_OFFLINE=true`.\n\
    - KL-3 CI needs SQLX_OFFLINE=false\n\
    - KL-4 [until 2026-11-01] the certificate is in the safe\n\
    - KL-5 tests are slow\n\
    - KL-6 a\n- KL-7 b\n- KL-8 c\n- KL-9 d\n- KL-10 e\n\n\
    # Decisions\n- D-2 because D-1 is superseded: we use Redis\n- D-1 we use Postgres\n";

async fn consolidate(memory: &Memory<'_>, body: Value) -> Answer {
    Answer::to(memory.request(Method::POST, "consolidate").json(&body)).await
}

fn archived(answer: &Value) -> Vec<(String, Value)> {
    let operations = answer["operations"].as_array().unwrap().iter();
    let pair = |operation: &Value| {
        assert_eq!(operation["op"], "archive");
        (
            operation["id"].as_str().unwrap().to_owned(),
            operation["superseded_by"].clone(),
        )
    };
    operations.map(pair).collect()
}

async fn document(memory: &Memory<'_>) -> String {
    memory.get("context").await.is(200).text().to_owned()
}

#[tokio::test]
async fn what_can_go_is_proposed_and_archived_when_it_is_approved() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.put(DOCUMENT).await.is(201);

    let answer = Answer::to(memory.request(Method::POST, "consolidate"))
        .await
        .is(200)
        .json();

    assert_eq!(answer["status"], "proposed");
    let expected = [
        ("KL-2".to_owned(), json!("KL-1")),
        ("KL-4".to_owned(), Value::Null),
        ("D-1".to_owned(), json!("D-2")),
    ];
    let mut found = archived(&answer);
    found.sort_by_key(|(id, _)| expected.iter().position(|(expected, _)| expected == id));
    assert_eq!(found, expected);
    assert_eq!(document(&memory).await, DOCUMENT);
    let id = answer["update_id"].as_str().unwrap();
    let run = memory.get(&format!("updates/{id}")).await.is(200).json();
    assert_eq!(
        (&run["kind"], &run["status"]),
        (&json!("consolidation"), &json!("proposed"))
    );

    Answer::to(memory.request(Method::POST, &format!("updates/{id}/approve")))
        .await
        .is(200);
    let left = DOCUMENT.lines().filter(|line| {
        !["- KL-2 ", "- KL-4 ", "- D-1 "]
            .iter()
            .any(|id| line.starts_with(id))
    });
    assert_eq!(
        document(&memory).await.lines().collect::<Vec<_>>(),
        left.collect::<Vec<_>>()
    );
    let record = memory.get("records/KL-2").await.is(200).json();
    assert_eq!(
        (&record["archive_reason"], &record["superseded_by"]),
        (&json!("duplicate of KL-1"), &json!("KL-1"))
    );
    // Restored, everything is there again.
    memory.restore("1").await.is(201);
    assert_eq!(document(&memory).await, DOCUMENT);
}

#[tokio::test]
async fn a_step_that_no_longer_holds_is_refused_when_it_is_approved() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.put(DOCUMENT).await.is(201);
    let answer = consolidate(&memory, json!({"mode": "propose"}))
        .await
        .is(200)
        .json();
    let id = answer["update_id"].as_str().unwrap();

    // KL-1 says something else meanwhile, so KL-2 is no duplicate of it any more; D-2 is gone.
    let moved = DOCUMENT
        .replace("CI needs SQLX_OFFLINE=true", "CI needs nothing")
        .replace("- D-2 ", "- D-3 ");
    memory.put(moved).await.is(201);
    let approved = Answer::to(memory.request(Method::POST, &format!("updates/{id}/approve")))
        .await
        .is(200)
        .json();

    let rejected = approved["rejected"].as_array().unwrap();
    let details: Vec<_> = rejected
        .iter()
        .map(|fault| (fault["kind"].as_str().unwrap(), fault["detail"].as_str().unwrap()))
        .collect();
    assert!(
        details.iter().all(|(kind, _)| *kind == "uncovered"),
        "{details:?}"
    );
    assert!(
        details.iter().any(|(_, detail)| detail
            .contains("KL-1 does not say all that KL-2 says: `sqlx_offline=true` is missing")),
        "{details:?}"
    );
    assert!(
        details
            .iter()
            .any(|(_, detail)| detail.contains("D-2 is no active record")),
        "{details:?}"
    );
    assert_eq!(archived(&approved), [("KL-4".to_owned(), Value::Null)]);
}

#[tokio::test]
async fn applied_it_ends_when_nothing_is_left_and_answers_a_retry_the_same() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.put(DOCUMENT).await.is(201);
    let apply = || {
        let request = memory
            .request(Method::POST, "consolidate")
            .header("Idempotency-Key", "once");
        Answer::to(request.json(&json!({"mode": "apply"})))
    };

    let first = apply().await.is(200).json();
    assert_eq!(
        (&first["status"], &first["version"]),
        (&json!("applied"), &json!(2))
    );
    assert_eq!(apply().await.is(200).json()["update_id"], first["update_id"]);
    let again = consolidate(&memory, json!({"mode": "apply"}))
        .await
        .is(200)
        .json();
    assert_eq!(
        (&again["status"], &again["version"]),
        (&json!("unchanged"), &json!(2))
    );
}

#[tokio::test]
async fn bad_requests_say_what_is_wrong() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    consolidate(&memory, json!({}))
        .await
        .problem(404, "not-found", None);
    memory.put(DOCUMENT).await.is(201);
    consolidate(&memory, json!({"mode": "now"}))
        .await
        .problem(422, "invalid", Some("mode"));
    consolidate(&memory, json!({"modes": 1}))
        .await
        .problem(422, "invalid", Some("modes"));
}

//! Documents at their size limit, records of the other kinds, and exhausted ids.

use super::dictated::{Dictated, LEARNING, dictate, progress};
use super::stored::is_sound;
use crate::harness::{Service, has, holds};
use serde_json::json;

#[tokio::test]
async fn a_document_over_its_limit_is_rejected_with_both_sizes_and_the_run_is_stored() {
    let models = Dictated::new();
    let service =
        Service::start_with(|config| config.limits.context_bytes = 200, Some(models.models())).await;
    let memory = service.memory("agent");
    memory.write("x".repeat(150)).await;

    let problem = memory
        .update(dictate(json!({"learnings": LEARNING})))
        .await
        .invalid("context");

    has(&problem, json!({"before": 150, "limit": 200}));
    let bytes = problem["actual"].as_u64().unwrap();
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        bytes > 200 && detail.contains("150") && detail.contains(&bytes.to_string()),
        "{detail}"
    );
    let run = memory.run_of(&problem).await;
    has(&run, json!({"status": "failed", "version": null}));
    assert!(run["exchanges"].to_string().contains("pin the tool chain"));
    assert_eq!(service.counts(["memory_contexts", "records"]).await, [1, 0]);
}

#[tokio::test]
async fn a_document_of_exactly_the_limit_is_accepted() {
    let models = Dictated::new();
    let probe = models.service().await;
    let update = dictate(json!({"learnings": LEARNING}));
    let answer = probe.memory("agent").updated(update.clone()).await;
    let bytes = answer["document"]["bytes"].as_u64().unwrap() as usize;
    for (cap, status) in [(bytes, 200), (bytes - 1, 422)] {
        let service =
            Service::start_with(|config| config.limits.context_bytes = cap, Some(models.models())).await;
        let answer = service.memory("agent").update(update.clone()).await.is(status);
        if status == 200 {
            assert_eq!(answer.json()["document"]["percent_of_cap"], 100.0);
        }
    }
}

#[tokio::test]
async fn exhausted_ids_fail_the_request_and_other_sections_are_unaffected() {
    let (service, memory) = Dictated::new().service().await.agent();
    memory
        .write("# Key Learnings\n- KL-9223372036854775807 because x: the last\n")
        .await;

    let problem = memory
        .update(dictate(json!({"learnings": LEARNING})))
        .await
        .problem(422, "invalid", None);
    holds(problem["detail"].as_str().unwrap(), &["KL-9223372036854775807"]);
    assert_eq!(memory.run_of(&problem).await["status"], "failed");

    let archive = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-9223372036854775807 because it is the last\n";
    let update = dictate(json!({"learnings": archive, "progress": progress("Go on")}));
    memory.updated(update).await;
    let used_up = memory.update(dictate(json!({"learnings": LEARNING}))).await;
    used_up.problem(422, "invalid", None);
    is_sound(&service, "agent").await;
}

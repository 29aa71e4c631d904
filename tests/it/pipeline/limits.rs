//! Documents at their size limit, records of the other kinds, and exhausted ids.

use super::dictated::{Dictated, LEARNING, dictate, progress};
use super::stored::is_sound;
use crate::harness::{Service, has, holds};
use serde_json::json;
use working_memory::config::Config;

#[tokio::test]
async fn a_document_of_exactly_the_limit_is_accepted_and_of_one_over_it_the_run_is_stored() {
    let models = Dictated::new();
    let probe = models.service().await;
    let update = dictate(json!({"learnings": LEARNING}));
    let answer = probe.memory("agent").updated(update.clone()).await;
    let bytes = answer["document"]["bytes"].as_u64().unwrap() as usize;
    let limited = async |limit: usize| {
        let configure = |config: &mut Config| config.limits.context_bytes = limit;
        Service::start_with(configure, Some(models.models()))
            .await
            .agent()
    };
    let accepted = limited(bytes).await.1.updated(update.clone()).await;
    assert_eq!(accepted["document"]["percent_of_cap"], 100.0);

    let (service, memory) = limited(bytes - 1).await;
    memory.write("# A").await;
    let problem = memory.update(update).await.invalid("context");
    let actual = problem["actual"].as_u64().unwrap();
    has(
        &problem,
        json!({"before": 3, "limit": bytes - 1, "detail~": [3, actual]}),
    );
    assert!(actual > bytes as u64, "{problem}");
    let run = memory.run_of(&problem).await;
    has(
        &run,
        json!({"status": "failed", "version": null, "exchanges~": "pin the tool chain"}),
    );
    assert_eq!(service.counts(["memory_contexts", "records"]).await, [1, 0]);
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

//! Documents at their size limit, records of the other kinds, and exhausted ids.

use super::dictated::{Dictated, LEARNING, dictate, learning, progress};
use super::stored::is_sound;
use crate::harness::Service;
use serde_json::{Value, json};

#[tokio::test]
async fn a_document_over_its_limit_is_rejected_with_both_sizes_and_the_run_is_stored() {
    let models = Dictated::new();
    let service =
        Service::start_with(|config| config.limits.context_bytes = 200, Some(models.models())).await;
    let memory = service.memory("agent");
    memory.put("x".repeat(150)).await.is(201);

    let problem = memory
        .update(dictate(json!({"learnings": LEARNING})))
        .await
        .problem(422, "invalid", Some("context"));

    assert_eq!(
        (&problem["before"], &problem["limit"]),
        (&json!(150), &json!(200))
    );
    let bytes = problem["actual"].as_u64().unwrap();
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        bytes > 200 && detail.contains("150") && detail.contains(&bytes.to_string()),
        "{detail}"
    );
    let id = problem["update_id"].as_str().unwrap();
    let run = memory.get(&format!("updates/{id}")).await.is(200).json();
    assert_eq!(
        (&run["status"], &run["version"]),
        (&json!("failed"), &Value::Null)
    );
    assert!(run["exchanges"].to_string().contains("pin the tool chain"));
    assert_eq!(
        (
            service.count("memory_contexts").await,
            service.count("records").await
        ),
        (1, 0)
    );
}

#[tokio::test]
async fn a_document_of_exactly_the_limit_is_accepted() {
    let models = Dictated::new();
    let probe = models.service().await;
    let update = dictate(json!({"learnings": LEARNING}));
    let answer = probe.memory("agent").update(update.clone()).await.is(200).json();
    let bytes = answer["document"]["bytes"].as_u64().unwrap() as usize;
    for (cap, status) in [(bytes, 200), (bytes - 1, 422)] {
        let configure = |config: &mut working_memory::config::Config| config.limits.context_bytes = cap;
        let service = Service::start_with(configure, Some(models.models())).await;
        let answer = service.memory("agent").update(update.clone()).await.is(status);
        if status == 200 {
            assert_eq!(answer.json()["document"]["percent_of_cap"], 100.0);
        }
    }
}

#[tokio::test]
async fn exhausted_ids_fail_the_request_and_other_sections_are_unaffected() {
    let service = Dictated::new().service().await;
    let memory = service.memory("agent");
    memory
        .put("# Key Learnings\n- KL-9223372036854775807 because x: the last\n")
        .await
        .is(201);

    let problem = memory
        .update(dictate(json!({"learnings": LEARNING})))
        .await
        .problem(422, "invalid", None);
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("KL-9223372036854775807"),
        "{problem}"
    );
    let id = problem["update_id"].as_str().unwrap();
    assert_eq!(
        memory.get(&format!("updates/{id}")).await.is(200).json()["status"],
        "failed"
    );

    let archive = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-9223372036854775807 because it is the last\n";
    let update = dictate(json!({"learnings": archive, "progress": progress("Go on")}));
    memory.update(update).await.is(200);
    let used_up = memory.update(dictate(json!({"learnings": LEARNING}))).await;
    used_up.problem(422, "invalid", None);
    is_sound(&service, "agent").await;
}

#[tokio::test]
async fn tasks_and_decisions_are_records_that_updates_do_not_change() {
    let service = Dictated::new().service().await;
    let memory = service.memory("agent");
    let free =
        "# Recent Tasks\n- T-7 because x: y\n- z\n\n# Decisions\n- D-3 because a: b\n- T-1 because c: d\n";
    memory.put(free).await.is(201);

    let update = dictate(json!({
        "learnings": "KEY_LEARNINGS:\n  ADD:\n    - because a: T-9 and D-12 are only named\n  ARCHIVE:\n    - T-7 because done\n    - D-3 because undone\n",
    }));
    let answer = memory.update(update).await.is(200).json();

    let kinds: Vec<_> = answer["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["kind"])
        .collect();
    assert!(
        kinds
            .iter()
            .all(|kind| *kind == "wrong_section_id" || *kind == "malformed_id"),
        "{kinds:?}"
    );
    assert_eq!(kinds.len(), 2);
    let text = memory.get("context").await.is(200).text().to_owned();
    assert!(text.starts_with(free), "{text}");
    is_sound(&service, "agent").await;
}

#[tokio::test]
async fn ids_are_not_reused_after_an_archive_or_a_put() {
    let service = Dictated::new().service().await;
    let memory = service.memory("agent");
    let add = |content: &str| memory.update(dictate(json!({"learnings": learning(content)})));
    add("one").await.is(200);
    memory
        .put("# Key Learnings\n- KL-40 because x: imported\n- without an id\n")
        .await
        .is(201);
    memory.put("nothing left").await.is(201);
    let answer = add("two").await.is(200).json();
    assert_eq!(answer["operations"][0]["id"], "KL-41");
    is_sound(&service, "agent").await;
}

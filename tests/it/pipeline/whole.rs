//! One update from the request to the version, its records and its run.

use super::dictated::{Dictated, LEARNING, PROGRESS, VERBATIM, dictate};
use super::stored::is_sound;
use super::stub::{Reply, Stub};
use crate::harness::Service;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Barrier;
use working_memory::config::llm::Provider;
use working_memory::domain::operation::Role;

fn answer_of(role: Role) -> &'static str {
    match role {
        Role::Progress => PROGRESS,
        Role::Learnings => LEARNING,
        Role::Verbatim => VERBATIM,
    }
}

#[tokio::test]
async fn three_concurrent_model_calls_create_one_version_with_a_complete_report() {
    for provider in [Provider::Openai, Provider::Anthropic] {
        // No server responds before all three were called: sequential calls would time out.
        let all = Arc::new(Barrier::new(3));
        let stub = Stub::start(move |request| {
            Reply::Together(all.clone(), Box::new(Reply::text(answer_of(request.role()))))
        })
        .await;
        let service = Service::start_with(stub.configure(provider, 0), None).await;
        let memory = service.memory("agent");
        memory
            .put("# Notes\nmine\n\n# Key Learnings\n- KL-4 because old: stays\n")
            .await
            .is(201);

        let answer = memory
            .update(json!({"task": "wire it, pin the tool chain, wrote the parser, then cargo test"}))
            .await
            .is(200)
            .json();

        assert_eq!(answer["status"], "applied");
        assert_eq!(
            (&answer["base_version"], &answer["version"], &answer["rebased"]),
            (&json!(1), &json!(2), &json!(false))
        );
        let time = "[2026-11-21T02:00:00Z]";
        let progress = "## Completed\n- Wrote the parser\n## In Progress\n- Wire it\n";
        let mut operations = answer["operations"].clone();
        for operation in operations.as_array_mut().unwrap() {
            let evidence = operation.as_object_mut().unwrap().remove("evidence").unwrap();
            assert_eq!(evidence[0]["from"], "task");
        }
        assert_eq!(
            operations,
            json!([
                { "op": "rewrite_progress", "id": null, "label": null, "reason": null, "content": progress },
                { "op": "add", "id": "KL-5", "label": null, "reason": "it bit us", "content": "pin the tool chain" },
                { "op": "add", "id": "VC-1", "label": "run", "reason": "next", "content": "cargo test" },
            ])
        );
        assert_eq!(
            (&answer["rejected"], &answer["warnings"]),
            (&json!([]), &json!([]))
        );
        for role in ["progress", "learnings", "verbatim"] {
            let report = &answer["models"][role];
            assert!(report["millis"].is_u64(), "{report}");
            assert_eq!(
                (&report["model"], &report["attempts"], &report["reprompts"]),
                (&json!("stub"), &json!(1), &json!(0))
            );
            assert_eq!(
                (&report["input_tokens"], &report["output_tokens"]),
                (&json!(1200), &json!(34))
            );
        }
        let text = memory.get("context").await.is(200).text().to_owned();
        assert_eq!(
            text,
            format!(
                "# Notes\nmine\n\n# Key Learnings\n- KL-4 because old: stays\n- KL-5 {time} because it bit us: pin the \
                 tool chain\n\n# Current Progress\n{progress}\n# Verbatim Context\n- VC-1 {time} because next: run => \
                 cargo test\n"
            )
        );
        assert_eq!(answer["document"]["bytes"], text.len());
        let diff = answer["diff"].as_str().unwrap();
        assert!(
            diff.contains("--- version 1\n+++ version 2\n") && diff.contains("\n+- Wire it\n"),
            "{diff}"
        );
        let log = answer["log"].as_str().unwrap();
        assert!(
            log.starts_with("update: wire it, pin") && log.contains("KL-5"),
            "{log}"
        );
        let id = answer["update_id"].as_str().unwrap();
        let run = memory.get(&format!("updates/{id}")).await.is(200).json();
        assert_eq!((&run["status"], &run["version"]), (&json!("applied"), &json!(2)));
        for (exchange, role) in run["exchanges"].as_array().unwrap().iter().zip(Role::ALL) {
            assert_eq!(exchange["section"], role.name());
            assert_eq!(exchange["system"], stub.asked(role)[0].system());
            assert_eq!(exchange["answer"], answer_of(role));
            let input = exchange["messages"][0]["content"].as_str().unwrap();
            assert!(input.contains("wire it, pin") && exchange["millis"].is_u64());
        }
        assert!(!run.to_string().contains("sk-secret"));
        is_sound(&service, "agent").await;
    }
}

#[tokio::test]
async fn answers_that_change_nothing_create_no_version_and_no_memory() {
    let models = Dictated::new();
    let service = models.service().await;
    let memory = service.memory("agent");

    let answer = memory.update(dictate(json!({}))).await.is(200).json();

    assert_eq!(answer["status"], "unchanged");
    assert_eq!(
        (&answer["base_version"], &answer["version"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(
        (&answer["context_id"], &answer["diff"]),
        (&json!(null), &json!(""))
    );
    memory.get("context").await.problem(404, "not-found", None);
    assert_eq!(
        (service.count("memories").await, service.count("updates").await),
        (0, 1)
    );

    let head = memory
        .update(dictate(json!({"progress": PROGRESS})))
        .await
        .is(200)
        .json();
    let again = memory
        .update(dictate(json!({"progress": PROGRESS})))
        .await
        .is(200)
        .json();
    assert_eq!(
        (&again["status"], &again["version"]),
        (&json!("unchanged"), &json!(1))
    );
    assert_eq!(again["context_id"], head["context_id"]);
    assert_eq!(again["operations"], json!([]));
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn an_update_that_archives_and_replaces_records_links_the_replacements() {
    let models = Dictated::new();
    let service = models.service().await;
    let memory = service.memory("agent");
    memory
        .update(dictate(json!({"learnings": LEARNING, "verbatim": VERBATIM})))
        .await
        .is(200);

    let correction = "KEY_LEARNINGS:\n  ADD:\n    - because it moved: pin it in rust-toolchain.toml\n  ARCHIVE:\n    - KL-1 because it is said better now\n";
    let archive_text = "VERBATIM_CONTEXT:\n  ARCHIVE:\n    - VC-1 because the command changed\n";
    let answer = memory
        .update(dictate(
            json!({"learnings": correction, "verbatim": archive_text}),
        ))
        .await
        .is(200)
        .json();

    let ops: Vec<_> = answer["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|op| (op["op"].as_str().unwrap(), op["id"].as_str().unwrap()))
        .collect();
    assert_eq!(ops, [("archive", "KL-1"), ("add", "KL-2"), ("archive", "VC-1")]);
    let record = memory.get("records/KL-1").await.is(200).json();
    assert_eq!(
        (
            &record["status"],
            &record["archive_reason"],
            &record["ended_version"]
        ),
        (&json!("archived"), &json!("it is said better now"), &json!(2))
    );
    is_sound(&service, "agent").await;
}

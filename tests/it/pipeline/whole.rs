//! One update from the request to the version, its records and its run.

use super::dictated::{Dictated, LEARNING, PROGRESS, VERBATIM, dictate};
use super::stored::is_sound;
use super::stub::{Reply, Stub};
use crate::harness::{Service, has};
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
        let (service, memory) = Service::configured(stub.configure(provider, 0)).await.agent();
        memory
            .write("# Notes\nmine\n\n# Key Learnings\n- KL-4 because old: stays\n")
            .await;

        let answer = memory
            .updated(json!({"task": "wire it, pin the tool chain, wrote the parser, then cargo test"}))
            .await;

        has(
            &answer,
            json!({"status": "applied", "base_version": 1, "version": 2, "rebased": false, "rejected": [], "warnings": [],
                   "diff~": ["--- version 1\n+++ version 2\n", "\n+- Wire it\n"],
                   "log^": "update: wire it, pin", "log~": "KL-5"}),
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
        for role in ["progress", "learnings", "verbatim"] {
            let report = &answer["models"][role];
            assert!(report["millis"].is_u64(), "{report}");
            let counted = json!({"model": "stub", "attempts": 1, "reprompts": 0, "input_tokens": 1200, "output_tokens": 34});
            has(report, counted);
        }
        let text = memory.text().await;
        let expected = format!(
            "# Notes\nmine\n\n# Key Learnings\n- KL-4 because old: stays\n- KL-5 {time} because it bit us: pin the \
                 tool chain\n\n# Current Progress\n{progress}\n# Verbatim Context\n- VC-1 {time} because next: run => \
                 cargo test\n"
        );
        assert_eq!(text, expected);
        assert_eq!(answer["document"]["bytes"], text.len());
        let run = memory.run_of(&answer).await;
        has(&run, json!({"status": "applied", "version": 2}));
        for (exchange, role) in run["exchanges"].as_array().unwrap().iter().zip(Role::ALL) {
            let asked = json!({"section": role.name(), "system": stub.asked(role)[0].system(), "answer": answer_of(role),
                               "/messages/0/content~": "wire it, pin"});
            has(exchange, asked);
            assert!(exchange["millis"].is_u64());
        }
        assert!(!run.to_string().contains("sk-secret"));
        is_sound(&service, "agent").await;
    }
}

#[tokio::test]
async fn answers_that_change_nothing_create_no_version_and_no_memory() {
    let (service, memory) = Dictated::new().service().await.agent();

    let answer = memory.updated(dictate(json!({}))).await;

    let unchanged =
        json!({"status": "unchanged", "base_version": 0, "version": 0, "context_id": null, "diff": ""});
    has(&answer, unchanged);
    memory.get("context").await.missing();
    assert_eq!(service.counts(["memories", "updates"]).await, [0, 1]);

    let head = memory.updated(dictate(json!({"progress": PROGRESS}))).await;
    let again = memory.updated(dictate(json!({"progress": PROGRESS}))).await;
    has(
        &again,
        json!({"status": "unchanged", "version": 1, "context_id": head["context_id"], "operations": []}),
    );
    assert_eq!(service.count("memory_contexts").await, 1);
}

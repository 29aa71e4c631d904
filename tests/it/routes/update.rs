//! `POST M/update`; the pipeline itself is tested in `pipeline`.

use crate::harness::{Answer, Service, scripted};
use reqwest::Method;
use serde_json::json;
use working_memory::domain::operation::Role;
use working_memory::llm::ModelError;
use working_memory::llm::scripted::Step;

/// Messages that support everything that the models return.
const TASK: &str = "wire it, pin the tool chain, then cargo test";

fn answer_of(role: Role) -> Step {
    Step::answer(match role {
        Role::Progress => "CURRENT_PROGRESS:\n  In Progress:\n    - Wire it\n",
        Role::Learnings => "KEY_LEARNINGS:\n  ADD:\n    - because it bit us: pin the tool chain\n",
        Role::Verbatim => "VERBATIM_CONTEXT:\n  ADD:\n    - because next: run =>\n      cargo test\n",
    })
}

#[tokio::test]
async fn three_model_responses_create_one_version() {
    let service = Service::with_models(scripted(answer_of)).await;
    let memory = service.memory("agent");

    let answer = memory
        .update(json!({"task": TASK, "messages": [{"role": "user", "content": "go on"}]}))
        .await
        .is(200)
        .json();

    assert_eq!(answer["status"], "applied");
    assert_eq!(
        (&answer["base_version"], &answer["version"], &answer["rebased"]),
        (&json!(0), &json!(1), &json!(false))
    );
    let ops: Vec<_> = answer["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|op| op["op"].as_str().unwrap())
        .collect();
    assert_eq!(ops, ["rewrite_progress", "add", "add"]);
    for role in ["progress", "learnings", "verbatim"] {
        assert_eq!(answer["models"][role]["model"], format!("scripted-{role}"));
        assert_eq!(answer["models"][role]["attempts"], 1);
    }
    for member in [
        "update_id",
        "vault_id",
        "memory_id",
        "context_id",
        "rejected",
        "warnings",
        "diff",
        "log",
    ] {
        assert!(!answer[member].is_null(), "{member}");
    }
    assert!(answer["document"]["percent_of_cap"].is_number());
    let context = memory.get_json("context").await.is(200).json();
    assert_eq!(context["source"], "update");
    assert_eq!(context["context_id"], answer["context_id"]);
    assert_eq!(
        (
            service.count("memory_contexts").await,
            service.count("records").await
        ),
        (1, 2)
    );
}

#[tokio::test]
async fn failing_and_hanging_models_are_different_errors_and_nothing_is_saved() {
    for (step, status, name) in [
        (
            Step::Fail(ModelError::BadAnswer {
                detail: "not JSON".to_owned(),
            }),
            502,
            "model-failed",
        ),
        (Step::Hang, 504, "model-timeout"),
    ] {
        let service = Service::with_models(scripted(move |role| match role {
            Role::Learnings => step.clone(),
            other => answer_of(other),
        }))
        .await;
        let memory = service.memory("agent");

        let problem = memory
            .update(json!({"task": TASK}))
            .await
            .problem(status, name, None);

        assert_eq!(problem["role"], "learnings");
        let run = memory
            .get(&format!("updates/{}", problem["update_id"].as_str().unwrap()))
            .await
            .is(200)
            .json();
        assert_eq!(run["status"], "failed");
        assert_eq!(service.count("memory_contexts").await, 0);

        let partial = memory
            .update(json!({"task": TASK, "allow_partial": true}))
            .await
            .is(200)
            .json();
        assert_eq!(partial["rejected"][0]["kind"], "model_failed");
        assert_eq!(service.count("memory_contexts").await, 1);
    }
}

#[tokio::test]
async fn an_invalid_body_is_rejected_and_the_field_is_named() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    for (body, field) in [
        (json!({}), "task"),
        (json!({"task": 1}), "task"),
        (json!({"task": null}), "task"),
        (json!({"task": " \n\t\u{a0}"}), "task"),
        (json!({"task": "a\0b"}), "task"),
        (json!({"task": "x", "more": 1}), "more"),
        (json!({"task": "x", "messages": {}}), "messages"),
        (json!({"task": "x", "messages": [["user", "hi"]]}), "messages[0]"),
        (
            json!({"task": "x", "messages": [{"role": "user"}]}),
            "messages[0]: missing field `content`",
        ),
        (
            json!({"task": "x", "messages": [{"role": "user", "content": 1}]}),
            "messages[0].content",
        ),
        (
            json!({"task": "x", "messages": [{"role": "", "content": ""}]}),
            "messages[0].role",
        ),
        (
            json!({"task": "x", "messages": [{"role": "user", "content": "\0"}]}),
            "messages[0].content",
        ),
        (
            json!({"task": "x", "messages": [{"role": "user", "content": [{"type": "hologram"}]}]}),
            "messages[0].content[0].type",
        ),
        (json!({"task": "x", "roles": ["all"]}), "roles[0]"),
        (json!({"task": "x", "roles": []}), "roles"),
        (json!({"task": "x", "on_invalid": "maybe"}), "on_invalid"),
        (json!({"task": "x", "dry_run": "yes"}), "dry_run"),
        (json!([]), "body"),
        (json!("x"), "body"),
    ] {
        let problem = memory.update(body.clone()).await.problem(422, "invalid", None);
        assert!(
            problem["detail"].as_str().unwrap().contains(field),
            "{body}: {problem}"
        );
    }
    for body in ["", "{", "{\"task\":\"x\"}}", "\u{feff}{}"] {
        let request = memory
            .request(Method::POST, "update")
            .header("Content-Type", "application/json")
            .body(body);
        Answer::to(request).await.problem(400, "malformed", Some("body"));
    }
    assert_eq!(
        (service.count("memories").await, service.count("updates").await),
        (0, 0)
    );
}

#[tokio::test]
async fn a_stale_if_match_is_rejected_before_any_model_is_called() {
    let service = Service::with_models(scripted(|_| Step::Hang)).await;
    let memory = service.memory("agent");
    memory.put("one").await.is(201);

    let request = memory
        .request(Method::POST, "update")
        .header("If-Match", "\"x\"")
        .json(&json!({"task": "x"}));
    Answer::to(request)
        .await
        .problem(412, "precondition-failed", None);

    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn without_a_model_the_built_in_updater_is_used() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    let answer = memory
        .update(json!({"task": "Wrote the parser. Next: wire it to the route."}))
        .await
        .is(200)
        .json();
    assert_eq!(answer["status"], "applied");
    assert_eq!(answer["models"]["progress"]["model"], "extractive");
    let warning = &answer["warnings"][0];
    assert_eq!(
        (&warning["kind"], &warning["section"]),
        (&json!("no_model"), &json!(null))
    );
    assert!(
        warning["detail"]
            .as_str()
            .unwrap()
            .starts_with("no model is configured")
    );
}

#[tokio::test]
async fn a_task_without_messages_is_work_in_progress_with_a_record_too() {
    let service = Service::start().await;
    for (name, body, expected) in [
        (
            "plan",
            json!({"task": "Add refresh tokens to the login flow"}),
            "## In Progress\n- Add refresh tokens to the login flow\n",
        ),
        (
            "recorded",
            json!({"task": "Measure the login flow", "record": {"task_id": "t-1", "intent": "Login", "summary": "Built"}}),
            "## In Progress\n- Measure the login flow\n",
        ),
    ] {
        let memory = service.memory(name);
        memory
            .put("# Current Progress\n## Completed\n- Wrote the form\n")
            .await
            .is(201);
        memory.update(body).await.is(200);
        let text = memory.get("context").await.is(200).text().to_owned();
        assert!(
            text.contains(expected) && text.contains("- Wrote the form\n"),
            "{text}"
        );
        assert_eq!(text.contains("t-1"), name == "recorded", "{text}");
        // The same task again reports nothing new.
        memory
            .update(json!({"task": expected.rsplit("- ").next().unwrap().trim()}))
            .await
            .is(200);
        let again = memory.get("context").await.is(200).text().to_owned();
        assert_eq!(again.matches(expected).count(), 1, "{again}");
    }
}

//! `GET M/updates/{update_id}`

use crate::harness::{Service, scripted};
use serde_json::json;
use working_memory::llm::scripted::Step;

#[tokio::test]
async fn a_run_is_stored_with_the_prompts_and_responses_of_its_models() {
    let answer = "KEY_LEARNINGS:\n  ADD:\n    - because it is certain: one\n";
    let service = Service::with_models(scripted(move |_| Step::answer(answer))).await;
    let memory = service.memory("agent");
    let update = memory
        .update(json!({"task": "wrote one", "roles": ["learnings"]}))
        .await
        .is(200)
        .json();
    let id = update["update_id"].as_str().unwrap();

    let run = memory.get(&format!("updates/{id}")).await.is(200).json();

    assert_eq!(run["update_id"], id);
    assert_eq!(
        (&run["kind"], &run["status"]),
        (&json!("update"), &json!("applied"))
    );
    assert_eq!((&run["base_version"], &run["version"]), (&json!(0), &json!(1)));
    assert_eq!(run["context_id"], update["context_id"]);
    assert_eq!(run["request"]["task"], "wrote one");
    assert!(
        run["exchanges"].to_string().contains("because it is certain"),
        "{run}"
    );
    memory
        .get("updates/no-such-run")
        .await
        .problem(404, "not-found", Some("update_id"));
    service
        .memory("other")
        .get(&format!("updates/{id}"))
        .await
        .problem(404, "not-found", Some("update_id"));
}

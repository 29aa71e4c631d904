//! Options of a request: roles, dry runs, preconditions.

use super::dictated::{Dictated, LEARNING, PROGRESS, VERBATIM, dictate, learning};
use crate::harness::has;
use serde_json::{Value, json};
use working_memory::domain::operation::Role;

fn all() -> Value {
    dictate(json!({"progress": PROGRESS, "learnings": LEARNING, "verbatim": VERBATIM}))
}

#[tokio::test]
async fn only_the_requested_roles_are_called() {
    let models = Dictated::new();
    let service = models.service().await;
    let mut update = all();
    update["roles"] = json!(["verbatim", "progress", "verbatim"]);

    let answer = service.memory("agent").updated(update).await;

    assert!(models.asked(Role::Learnings).is_empty());
    let called_roles: Vec<_> = answer["models"].as_object().unwrap().keys().collect();
    assert_eq!(called_roles, ["progress", "verbatim"]);
    assert_eq!(service.count("records").await, 1);
}

#[tokio::test]
async fn a_dry_run_returns_ids_and_assigns_none() {
    let models = Dictated::new();
    let (service, memory) = models.service().await.agent();
    let mut dry = all();
    dry["dry_run"] = json!(true);

    for (puts, version) in [(false, 0), (true, 1)] {
        if puts {
            memory.write("# Key Learnings\n- KL-6 because x: y\n").await;
        }
        for _ in 0..2 {
            let answer = memory.updated(dry.clone()).await;
            let id = if puts { "KL-7" } else { "KL-1" };
            let dry = json!({"status": "dry_run", "base_version": version, "version": version, "/operations/1/id": id,
                             "diff~": format!("+- {id} [")});
            has(&answer, dry);
            assert_eq!(memory.run_of(&answer).await["status"], "dry_run");
        }
        assert_eq!(service.count("memory_contexts").await, version);
    }

    let applied = json!({"version": 2, "/operations/1/id": "KL-7"});
    has(&memory.updated(all()).await, applied);
}

#[tokio::test]
async fn a_failed_precondition_is_rejected_before_any_model_is_called() {
    let models = Dictated::new();
    let (_, memory) = models.service().await.agent();
    let table = r#"
        POST update | If-Match: * < BODY → 412 precondition-failed
        PUT context < one → 201
        POST update | If-Match: "x" < BODY → 412 precondition-failed
        POST update | If-None-Match: * < BODY → 412 precondition-failed"#;
    memory.requests(&table.replace("BODY", &all().to_string())).await;
    assert!(Role::ALL.iter().all(|role| models.asked(*role).is_empty()));
    let table = r#"
        GET context → 200 ⇒ tag=etag
        POST update | If-Match: $tag < BODY → 200 {"version": 2}
        POST /v1/vaults/acme/memories/fresh/update | If-None-Match: * < BODY → 200 {"version": 1}"#;
    memory.requests(&table.replace("BODY", &all().to_string())).await;
}

#[tokio::test]
async fn the_actor_of_an_update_is_the_actor_of_its_version_and_its_records() {
    let memory = Dictated::new().service().await.memory("agent");
    let body = dictate(json!({"learnings": learning("x")}));
    let table = r#"
        POST update | X-Actor-Id: ada < BODY → 200
        GET records/KL-1 → 200 {"created_by": "ada"}
        GET context | Accept: application/json → 200 {"actor_id": "ada"}"#;
    memory.requests(&table.replace("BODY", &body.to_string())).await;
}

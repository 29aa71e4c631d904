//! Options of a request: roles, dry runs, preconditions.

use super::dictated::{Dictated, LEARNING, PROGRESS, VERBATIM, dictate, learning};
use crate::harness::{Answer, Memory, Service, has};
use reqwest::Method;
use serde_json::{Value, json};
use working_memory::domain::operation::Role;

fn all() -> Value {
    dictate(json!({"progress": PROGRESS, "learnings": LEARNING, "verbatim": VERBATIM}))
}

async fn update_if(memory: &Memory, header: &str, value: &str) -> Answer {
    let request = memory.request(Method::POST, "update").header(header, value);
    Answer::to(request.json(&all())).await
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
            assert_eq!(answer["status"], "dry_run");
            has(&answer, json!({"base_version": version, "version": version}));
            let id = if puts { "KL-7" } else { "KL-1" };
            assert_eq!(answer["operations"][1]["id"], id);
            assert!(answer["diff"].as_str().unwrap().contains(&format!("+- {id} [")));
            let run = memory
                .get(&format!("updates/{}", answer["update_id"].as_str().unwrap()))
                .await;
            assert_eq!(run.is(200).json()["status"], "dry_run");
        }
        assert_eq!(service.count("memory_contexts").await, version);
    }

    let applied = memory.updated(all()).await;
    assert_eq!(
        (&applied["version"], &applied["operations"][1]["id"]),
        (&json!(2), &json!("KL-7"))
    );
}

#[tokio::test]
async fn a_failed_precondition_is_rejected_before_any_model_is_called() {
    let models = Dictated::new();
    let (service, memory) = models.service().await.agent();
    let missing = update_if(&memory, "If-Match", "*").await;
    missing.stale();
    memory.write("one").await;
    for (header, value) in [("If-Match", "\"x\""), ("If-None-Match", "*")] {
        let stale = update_if(&memory, header, value).await;
        stale.stale();
    }
    assert!(Role::ALL.iter().all(|role| models.asked(*role).is_empty()));

    let tag = memory.get("context").await.is(200).header("etag").to_owned();
    let answer = update_if(&memory, "If-Match", &tag).await.is(200).json();
    assert_eq!(answer["version"], 2);
    let fresh = update_if(&service.memory("fresh"), "If-None-Match", "*").await;
    assert_eq!(fresh.is(200).json()["version"], 1);
}

#[tokio::test]
async fn the_actor_of_an_update_is_the_actor_of_its_version_and_its_records() {
    let service: Service = Dictated::new().service().await;
    let memory = service.memory("agent");
    let request = memory.request(Method::POST, "update").header("X-Actor-Id", "ada");
    Answer::to(request.json(&dictate(json!({"learnings": learning("x")}))))
        .await
        .is(200);
    assert_eq!(memory.read("records/KL-1").await["created_by"], "ada");
    assert_eq!(memory.get_json("context").await.is(200).json()["actor_id"], "ada");
}

//! Consolidation with a model, whose steps are checked like those that are found without one.

use super::{applied, asked};
use crate::harness::{Scripted, Service, Step, each, eventually, has, holds};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use working_memory::config::llm::Constrain;
use working_memory::domain::operation::Role;
use working_memory::llm::{Answer as ModelAnswer, Model, ModelError, Models, Request, Retry, RoleModel};

const DOCUMENT: &str = "# Key Learnings\n\
    - KL-1 because it failed: CI needs 8 GB of memory\n\
    - KL-2 because it failed: CI needs Docker 27 on the runner\n\
    - KL-3 because ops said so: the staging database runs on host blue\n\
    - KL-4 because ops said so: the staging database moved to host green\n\
    - KL-5 because it is a contract: the licence is valid until 2026-01-31\n\
    - KL-6 port 8080 is for the API\n\
    - KL-7 port 8081 is for the dashboard\n\
    - KL-8 [pinned] never deploy on Fridays\n\
    - KL-9 a\n- KL-10 b\n- KL-11 c\n- KL-12 d\n- KL-13 e\n- KL-14 f\n- KL-15 g\n- KL-16 h\n- KL-17 i\n- KL-18 j\n\
    - KL-19 k\n- KL-20 l\n\n\
    # Decisions\n- D-2 Redis keeps the sessions now, with a time to live\n- D-1 Memcached keeps the sessions, with a time to live\n";

const CAREFUL: &str = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-3 superseded by KL-4 because the host changed\n    \
    - KL-5 expired because its day is over\n    - D-1 superseded by D-2 because of the decision\n  MERGE:\n    \
    - KL-1, KL-2 because both are about the runner: CI needs 8 GB of memory, and CI needs Docker 27 on the runner\n";

const DESTROYING: &str = "CURRENT_PROGRESS:\n  In Progress:\n    - Nothing\nKEY_LEARNINGS:\n  ADD:\n    \
    - because it is shorter: all is well\n  ARCHIVE:\n    - KL-1 because it is old\n    \
    - KL-6 duplicate of KL-7 because both are ports\n    - KL-7 superseded by KL-6 because it is newer\n    \
    - KL-8 duplicate of KL-1 because of nothing\n    - KL-9 expired because it is old\n    \
    - KL-99 expired because it never was\n  MERGE:\n    - KL-6, KL-7 because they are ports: ports are for the API\n    \
    - KL-6, KL-8 because of nothing: deploy on Fridays to port 8080 for the API\n";

/// A service with this model for every role.
async fn with_model(model: Arc<impl Model + 'static>) -> Service {
    let models = Models::new(move |_| RoleModel::new(model.clone(), Retry::new(Duration::from_secs(1), 0)));
    Service::with_models(models).await
}

/// A service whose model of learnings gives these answers, one after the other, and what it was asked.
async fn answering(answers: &[&str]) -> (Service, Arc<Scripted>) {
    let steps: Vec<Step> = answers.iter().map(|answer| Step::answer(answer)).collect();
    let model = Arc::new(Scripted::new("careful", steps));
    (with_model(model.clone()).await, model)
}

#[tokio::test]
async fn the_steps_of_a_careful_model_are_proposed_and_keep_what_they_archive() {
    let (service, model) = answering(&[CAREFUL]).await;
    let memory = service.memory("agent");
    let table = r#"
        PUT context < DOCUMENT → 201
        POST consolidate < {"instructions": "Look at CI first."} → 200 {"rejected": []}"#;
    let answer = asked(&memory, DOCUMENT, table).await.json();
    let asked_of_it = model.asked();
    assert_eq!(asked_of_it.len(), 1);
    let question = &asked_of_it[0].messages[0].text;
    holds(
        question,
        &[
            "Look at CI first.",
            "- KL-4 because ops said so:",
            "4 of KL-, 1 of D-",
        ],
    );
    let operations = answer["operations"].as_array().unwrap();
    let of = |id: &str| operations.iter().find(|operation| operation["id"] == id).unwrap();
    assert_eq!(of("KL-21")["op"], "add");
    // A merge and what it archives are one change.
    let number = &of("KL-21")["number"];
    for part in ["KL-1", "KL-2"] {
        has(of(part), json!({"number": number, "superseded_by": "KL-21"}));
    }
    let table = r#"
        GET context → 200 =DOCUMENT
        POST updates/ID/approve < {} → 200 {"rejected": []}
        GET context | Accept: application/json → 200 {"context~": "because both are about the runner: CI needs 8 GB of memory, and CI needs Docker 27 on the runner\n", "context!": ["- KL-1 ", "- KL-2 ", "- KL-3 ", "- KL-5 ", "- D-1 "]}
        GET records/KL-21 → 200 {"supersedes": ["KL-1", "KL-2"]}
        GET records/KL-1 → 200 {"status": "archived", "superseded_by": "KL-21"}
        POST contexts/1/restore → 201
        GET context → 200 =DOCUMENT"#;
    let id = answer["update_id"].as_str().unwrap();
    asked(&memory, DOCUMENT, &table.replace("ID", id)).await;
}

#[tokio::test]
async fn a_model_that_wants_to_destroy_that_talks_nonsense_or_that_fails_changes_nothing() {
    let unchanged = r#"POST consolidate < {"mode": "apply"} → 200 {"status": "unchanged", "version": 1"#;
    for (answers, asked_for) in [
        (
            &[DESTROYING, DESTROYING][..],
            format!(r#"{unchanged}, "/rejected/*/kind~": ["uncovered", "unknown_id", "protected"]}}"#),
        ),
        (
            &["I have tidied up your memory!", "{\"archive\": \"all\"}"],
            format!(r#"{unchanged}, "/warnings/0/kind": "no_section"}}"#),
        ),
        (
            &[],
            r#"POST consolidate < {"mode": "apply"} → 502 model-failed"#.to_owned(),
        ),
    ] {
        let (service, model) = answering(answers).await;
        let table = format!("PUT context < DOCUMENT → 201\n{asked_for}\nGET context → 200 =DOCUMENT");
        asked(&service.memory("agent"), DOCUMENT, &table).await;
        if answers.first() == Some(&DESTROYING) {
            let requests = model.asked();
            assert_eq!(requests.len(), 2, "it is asked again once");
            let again = &requests[1].messages.last().unwrap().text;
            let why = "KL-7 is no active record of the same kind, or goes too, so KL-6 stays.";
            holds(again, &[why]);
        }
    }
}

#[tokio::test]
async fn what_is_repaired_is_taken_and_no_more_than_a_share_goes() {
    let all: String = (9..=20)
        .map(|number| format!("    - KL-{number} duplicate of KL-6 because it is short\n"))
        .collect();
    let repaired = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-3 superseded by KL-4 because the host changed\n";
    let (service, _) = answering(&[&format!("KEY_LEARNINGS:\n  ARCHIVE:\n{all}"), repaired]).await;
    let table = r#"
        PUT context < DOCUMENT → 201
        POST consolidate < {"mode": "apply"} → 200 {"/operations/*/id": ["KL-3"], "/operations/*/superseded_by": ["KL-4"]}"#;
    asked(&service.memory("agent"), DOCUMENT, table).await;

    let same: String = (1..=20)
        .map(|number| format!("- KL-{number} the tests number {number} are slow now\n"))
        .collect();
    let same = same.replace("20 are slow now", "20 moved, they are slow");
    let more: String = (1..=9)
        .map(|number| format!("    - KL-{number} superseded by KL-20 because it says the same\n"))
        .collect();
    let (service, _) = answering(&[&format!("KEY_LEARNINGS:\n  ARCHIVE:\n{more}")]).await;
    let memory = service.memory("agent");
    memory.write(format!("# Key Learnings\n{same}")).await;
    let answer = applied(&memory).await;
    let taken = answer["operations"].as_array().unwrap().len();
    let kinds = each(&answer["rejected"], "kind");
    let refused = kinds.iter().filter(|kind| **kind == "too_many_archives");
    assert!(
        taken <= 4 && (taken == 0 || refused.count() == 9 - taken),
        "{answer}"
    );
}

#[tokio::test]
async fn an_accepted_step_whose_ground_goes_with_the_second_answer_is_reported() {
    let others: String = (4..=20)
        .map(|number| format!("- KL-{number} {number}\n"))
        .collect();
    let hosts = "- KL-1 the staging database runs on host blue\n- KL-2 the staging database moved to host green\n\
        - KL-3 the staging database left host green and is on host red now\n";
    let document = format!("# Key Learnings\n{hosts}{others}");
    let faulty = "    - KL-9 expired because it is old\n";
    let archive =
        |step: &str, more: &str| format!("KEY_LEARNINGS:\n  ARCHIVE:\n    - {step} because it moved\n{more}");
    let first = archive("KL-1 superseded by KL-2", faulty);
    let second = archive("KL-2 superseded by KL-3", "");
    let (service, _) = answering(&[&first, &second]).await;
    let table = r#"
        PUT context < DOCUMENT → 201
        POST consolidate < {"mode": "apply"} → 200 {"/operations/*/id": ["KL-2"], "/rejected/*/kind": ["uncovered"], "/rejected/0/text~": "KL-1 superseded by KL-2"}"#;
    asked(&service.memory("agent"), &document, table).await;

    // A merge that is written again is no loss.
    let (_, merge) = CAREFUL.split_once("  MERGE:\n").unwrap();
    let merge = format!("KEY_LEARNINGS:\n  MERGE:\n{merge}");
    let (service, _) = answering(&[&format!("{merge}  ARCHIVE:\n{faulty}"), &merge]).await;
    let memory = service.memory("agent");
    memory.write(DOCUMENT).await;
    has(&applied(&memory).await, json!({"rejected": [], "operations#": 3}));
}

#[tokio::test]
async fn an_answer_of_a_schema_is_taken_too() {
    let said = json!({
        "archive": [{"id": "KL-3", "ground": "superseded_by", "kept": "KL-4", "reason": "the host changed"},
                    {"id": "KL-5", "ground": "expired", "kept": null, "reason": "its day is over"}],
        "merge": [{"ids": ["KL-1", "KL-2"], "reason": "one runner",
                   "content": "CI needs 8 GB of memory, and CI needs Docker 27 on the runner"}],
    });
    let steps = [Step::answer(&said.to_string())];
    let model = Arc::new(Constrained(Scripted::new("json", steps)));
    let (_, memory) = with_model(model.clone()).await.agent();
    memory.write(DOCUMENT).await;
    has(&applied(&memory).await, json!({"rejected": [], "operations#": 5}));
    let schema = model.0.asked()[0].schema.clone().expect("a schema");
    assert_eq!(schema["required"], json!(["archive", "merge"]));
}

/// A model whose server takes a schema.
struct Constrained(Scripted);

#[async_trait::async_trait]
impl Model for Constrained {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn constrains(&self) -> Constrain {
        Constrain::JsonSchema
    }

    async fn complete(&self, request: &Request) -> Result<ModelAnswer, ModelError> {
        self.0.complete(request).await
    }
}

#[tokio::test]
async fn queued_it_is_run_by_a_worker() {
    let (service, _) = answering(&[CAREFUL]).await;
    let memory = service.memory("agent");
    let table = r#"
        PUT context < DOCUMENT → 201
        POST consolidate | Prefer: respond-async < {} → 202 {"kind": "consolidation", "status": "queued"}"#;
    let run = asked(&memory, DOCUMENT, table).await.json();
    let workers = service.work(Duration::from_secs(1));
    eventually("it has ended", async || {
        !memory.run_of(&run).await["finished_at"].is_null()
    })
    .await;
    let ended = memory.run_of(&run).await;
    has(&ended, json!({"kind": "consolidation", "status": "proposed"}));
    service.stop();
    workers.stopped().await;
}

#[tokio::test]
async fn a_merged_record_keeps_the_evidence_of_its_parts() {
    let said = "KEY_LEARNINGS:\n  ADD:\n    - because it failed: CI needs 8 GB of memory\n    \
        - because it failed: CI needs Docker 27 on the runner\n";
    let merge = "KEY_LEARNINGS:\n  MERGE:\n    - KL-1, KL-2 because both are about CI: CI needs 8 GB of memory, and CI \
        needs Docker 27 on the runner\n";
    let padding: String = (3..=12)
        .map(|number| format!("- KL-{number} {}\n", "x".repeat(number)))
        .collect();
    let model = Arc::new(Scripted::by_rule("m", move |request| {
        let text = &request.messages[0].text;
        Step::answer(match (request.role, text.contains("records that may go")) {
            (_, true) => merge,
            (Some(Role::Learnings), _) => said,
            _ => "NO CHANGE",
        })
    }));
    let (_, memory) = with_model(model).await.agent();
    let update =
        json!({"task": "CI needs 8 GB of memory. CI needs Docker 27 on the runner.", "roles": ["learnings"]});
    memory.updated(update).await;
    let text = memory.text().await;
    memory
        .write(format!("{}\n{padding}", text.trim_end_matches('\n')))
        .await;

    has(&applied(&memory).await, json!({"status": "applied"}));
    let evidence = json!({"/evidence/*/record~": ["KL-1", "KL-2"], "/evidence/*/quote~": "8 GB"});
    has(&memory.read("records/KL-13").await, evidence.clone());
    let part = memory.read("records/KL-2").await;
    assert_eq!(part["superseded_by"], "KL-13");
    assert!(part["evidence"][0].get("record").is_none(), "{part}");

    // So does one that an agent merges.
    memory.restore("1").await;
    memory.applied(merge).await;
    has(&memory.read("records/KL-14").await, evidence);
}

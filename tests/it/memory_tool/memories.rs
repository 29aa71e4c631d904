//! A file is a memory: its versions, its history, and how other routes show and change it.

use super::{Files, text_of};
use crate::harness::{Answer, Service};
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn every_edit_is_a_version_with_its_actor_and_its_history() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    let id = files
        .create("/memories/a.md", "# Key Learnings\n- KL-1 because x: y\n")
        .await;
    assert!(id.starts_with("a.md-"), "{id}");
    let edit =
        json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "x: y", "new_str": "x: z"});
    let answer = Answer::to(files.asking(&edit).header("X-Actor-Id", "ann"))
        .await
        .is(200)
        .json();
    assert_eq!(
        (&answer["memory_id"], &answer["version"]),
        (&json!(id), &json!(2))
    );
    let insert =
        json!({"command": "insert", "path": "/memories/a.md", "insert_line": 2, "insert_text": "more"});
    assert_eq!(files.run(insert).await["version"], 3);

    let memory = service.memory(&id);
    assert_eq!(
        text_of(&memory).await,
        "# Key Learnings\n- KL-1 because x: z\nmore\n"
    );
    let versions = memory.get("contexts").await.is(200).json();
    let made: Vec<_> = versions["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| &version["source"])
        .collect();
    assert_eq!(made, ["tool", "tool", "tool"]);
    assert_eq!(versions["items"][1]["actor_id"], "ann");
    assert_eq!(memory.get("records/KL-1").await.is(200).json()["content"], "z");
    let blame = memory.get_json("blame").await.is(200).json();
    assert_eq!(blame["lines"][1]["version"], 2, "{blame}");
    memory.get("log").await.is(200);
    assert!(
        memory
            .get("contexts/2/diff?base=1")
            .await
            .is(200)
            .text()
            .contains("+- KL-1 because x: z")
    );
    assert_eq!(
        service.memory(&id).get_json("context").await.is(200).json()["source"],
        "tool"
    );
}

#[tokio::test]
async fn changes_by_other_routes_are_visible_in_the_file() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    let id = files.create("/memories/a", "one").await;
    let memory = service.memory(&id);
    memory.put("two\nlines").await.is(201);
    assert!(
        files
            .view("/memories/a")
            .await
            .ends_with("     1\ttwo\n     2\tlines")
    );
    memory.restore("1").await.is(201);
    let view = files.run(json!({"command": "view", "path": "/memories/a"})).await;
    assert_eq!((&view["memory_id"], &view["version"]), (&json!(id), &json!(3)));
    assert!(view["content"].as_str().unwrap().ends_with("     1\tone"));
}

#[tokio::test]
async fn only_a_file_may_be_empty_or_blank() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    let id = files.create("/memories/a", "").await;
    let memory = service.memory(&id);
    assert_eq!(text_of(&memory).await, "");
    assert_eq!(memory.get_json("context").await.is(200).json()["bytes"], 0);
    assert!(files.view("/memories/a").await.ends_with(":\n     1\t"));
    for path in [
        "sections",
        "blame",
        "log",
        "prompt",
        "records",
        "window",
        "contexts/1",
    ] {
        memory.get(path).await.is(200);
    }
    memory.put("").await.problem(422, "invalid", None);
    memory.put(" \n").await.problem(422, "invalid", None);
    let insert = json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": " "});
    assert_eq!(files.run(insert).await["version"], 2);
    assert_eq!(text_of(&memory).await, " \n");
    memory
        .apply("KEY_LEARNINGS:\n  ADD:\n    - because a: b\n")
        .await
        .is(200);
    let all = text_of(&memory).await;
    assert!(all.contains("# Key Learnings\n- KL-1"), "{all}");
    let replaced = json!({"command": "str_replace", "path": "/memories/a", "old_str": all});
    assert_eq!(files.run(replaced).await["version"], 4);
    let archived = memory.get("records/KL-1").await.is(200).json();
    assert_eq!(archived["status"], "archived");
    memory.restore("1").await.is(200);
    memory.restore("2").await.problem(422, "invalid", None);
    // Redaction and blame distinguish an empty file from a redacted text.
    assert_eq!(memory.get_json("blame").await.is(200).json()["lines"], json!([]));
    memory.redact("3").await.is(200);
    memory.get("contexts/3").await.problem(410, "gone", None);
    assert_eq!(memory.get("contexts/1").await.is(200).text(), "");
    memory.put("x").await.is(201);
    assert_eq!(
        memory.get_json("blame").await.is(200).json()["lines"][0]["version"],
        5
    );
}

#[tokio::test]
async fn an_edit_that_changes_nothing_creates_no_version() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    files.create("/memories/a", "x").await;
    let same = json!({"command": "str_replace", "path": "/memories/a", "old_str": "x", "new_str": "x"});
    let answer = files.run(same).await;
    assert_eq!(
        (&answer["is_error"], &answer["version"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_deleted_file_stays_a_memory_and_a_new_file_at_its_path_is_another() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    let old = files.create("/memories/d/a", "old").await;
    let other = files.create("/memories/d/b", "other").await;
    let deleted = files
        .run(json!({"command": "delete", "path": "/memories/d/a"}))
        .await;
    assert_eq!(
        (&deleted["memory_id"], &deleted["version"]),
        (&json!(old), &json!(1))
    );
    files
        .refused(json!({"command": "view", "path": "/memories/d/a"}))
        .await;
    assert_eq!(text_of(&service.memory(&old)).await, "old");
    let new = files.create("/memories/d/a", "new").await;
    assert_ne!(new, old);
    let directory = files
        .run(json!({"command": "delete", "path": "/memories/d"}))
        .await;
    assert_eq!(
        (&directory["is_error"], directory.get("memory_id")),
        (&json!(false), None)
    );
    for (id, text) in [(&old, "old"), (&other, "other"), (&new, "new")] {
        assert_eq!(text_of(&service.memory(id)).await, text);
    }
    files
        .refused(json!({"command": "view", "path": "/memories/d"}))
        .await;
}

#[tokio::test]
async fn renaming_preserves_id_and_history_and_creates_no_version() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    let a = files.create("/memories/d/a", "a").await;
    let b = files.create("/memories/d/e/b", "b").await;
    let apart = files.create("/memories/d-e", "c").await;
    let renamed = files
        .run(json!({"command": "rename", "old_path": "/memories/d/a", "new_path": "/memories/d/e/a"}))
        .await;
    assert_eq!(
        (&renamed["memory_id"], &renamed["version"]),
        (&json!(a), &json!(1))
    );
    files
        .told(json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/x/y"}))
        .await;
    for (path, id) in [
        ("/memories/x/y/e/a", &a),
        ("/memories/x/y/e/b", &b),
        ("/memories/d-e", &apart),
    ] {
        let view = files.run(json!({"command": "view", "path": path})).await;
        assert_eq!(
            (&view["memory_id"], &view["version"]),
            (&json!(id), &json!(1)),
            "{view}"
        );
    }
    files
        .refused(json!({"command": "view", "path": "/memories/d"}))
        .await;
    assert_eq!(service.count("memory_contexts").await, 3);
}

#[tokio::test]
async fn deleting_the_memory_removes_its_path_and_its_stored_responses() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    let id = files.create("/memories/a", "a secret\n").await;
    let view = json!({"command": "view", "path": "/memories/a"});
    Answer::to(files.asking(&view).header("Idempotency-Key", "toolu_1"))
        .await
        .is(200);
    service.memory(&id).delete().await.is(204);
    files.refused(view.clone()).await;
    let again = Answer::to(files.asking(&view).header("Idempotency-Key", "toolu_1")).await;
    assert!(!again.text().contains("a secret"), "{}", again.text());
    again.problem(410, "gone", Some("Idempotency-Key"));
    assert!(files.view("/memories").await.ends_with("items:\n0B\t/memories"));
    files.create("/memories/a", "new").await;
}

#[tokio::test]
async fn a_redacted_text_is_removed_from_stored_responses_too() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    let id = files.create("/memories/a", "the password\n").await;
    let view = json!({"command": "view", "path": "/memories/a"});
    Answer::to(files.asking(&view).header("Idempotency-Key", "toolu_1"))
        .await
        .is(200);
    service.memory(&id).put("clean").await.is(201);
    service.memory(&id).redact("1").await.is(200);
    assert!(
        !service
            .tables_that_hold("the password")
            .await
            .contains(&"idempotency_keys".to_owned())
    );
}

#[tokio::test]
async fn a_command_retried_with_its_key_is_executed_once() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    files.create("/memories/a", "x\n").await;
    let insert = json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "y"});
    let mut answers = Vec::new();
    for _ in 0..2 {
        let request = files.asking(&insert).header("Idempotency-Key", "toolu_01A");
        answers.push(Answer::to(request).await.is(200));
    }
    assert_eq!(answers[0].body, answers[1].body);
    assert_eq!(answers[1].header("idempotency-replayed"), "true");
    assert_eq!(service.count("memory_contexts").await, 2);
    let other = json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "z"});
    let reused = files.asking(&other).header("Idempotency-Key", "toolu_01A");
    Answer::to(reused).await.problem(422, "key-reused", None);
}

#[tokio::test]
async fn versions_of_files_are_events() {
    let service = Service::start().await;
    let files = Files::of(&service, "agent");
    let id = files.create("/memories/a", "x").await;
    let told: Vec<(String, String, Value)> =
        sqlx::query_as("SELECT memory_id, kind, to_jsonb(source) FROM events ORDER BY created_at, event_id")
            .fetch_all(service.rows())
            .await
            .unwrap();
    assert_eq!(told, [(id, "version".to_owned(), json!("tool"))]);
    let listed = service.request(Method::GET, "/v1/vaults/acme/memories");
    assert_eq!(Answer::to(listed).await.is(200).json()["items"][0]["bytes"], 1);
}

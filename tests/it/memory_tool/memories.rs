//! A file is a memory: its versions, its history, and how other routes show and change it.

use super::Files;
use crate::harness::{Answer, has};
use serde_json::json;
use working_memory::storage::idempotency::{Claim, ClaimedAnswer, IdempotencyClaim, KeptAnswer};

#[tokio::test]
async fn every_edit_is_a_version_with_its_actor_and_its_history() {
    let (service, files) = Files::start("agent").await;
    let text = "# Key Learnings\n- KL-1 because x: y\n";
    let id = files.create("/memories/a.md", text).await;
    assert!(id.starts_with("a.md-"), "{id}");
    let edit =
        json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "x: y", "new_str": "x: z"});
    let answer = Answer::to(files.asking(&edit).header("X-Actor-Id", "ann")).await;
    has(&answer.is(200).json(), json!({"memory_id": id, "version": 2}));
    let insert =
        json!({"command": "insert", "path": "/memories/a.md", "insert_line": 2, "insert_text": "more"});
    assert_eq!(files.run(insert).await["version"], 3);

    let memory = service.memory(&id);
    let text = "# Key Learnings\n- KL-1 because x: z\nmore\n";
    assert_eq!(memory.text().await, text);
    let table = r#"
        GET contexts → 200 {"/items/*/source": ["tool", "tool", "tool"], "/items/1/actor_id": "ann"}
        GET records/KL-1 → 200 {"content": "z"}
        GET blame | Accept: application/json → 200 {"/lines/1/version": 2}
        GET log → 200
        GET contexts/2/diff?base=1 → 200 ~+- KL-1 because x: z
        GET context | Accept: application/json → 200 {"source": "tool"}"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn changes_by_other_routes_are_visible_in_the_file() {
    let (service, files) = Files::start("agent").await;
    let id = files.create("/memories/a", "one").await;
    let memory = service.memory(&id);
    memory.write("two\nlines").await;
    let view = files.view("/memories/a").await;
    assert!(view.ends_with("     1\ttwo\n     2\tlines"), "{view}");
    memory.restore("1").await.is(201);
    let view = files.run(json!({"command": "view", "path": "/memories/a"})).await;
    has(&view, json!({"memory_id": id, "version": 3}));
    assert!(view["content"].as_str().unwrap().ends_with("     1\tone"));
}

#[tokio::test]
async fn what_was_viewed_or_refused_is_not_kept_beyond_the_redaction_of_the_file() {
    let (service, files) = Files::start("agent").await;
    let line = "the porter opens it with sesame";
    let id = files.create("/memories/a", &format!("{line}\n{line}\n")).await;
    let view = json!({"command": "view", "path": "/memories/a"});
    let refused = json!({"command": "str_replace", "path": "/memories/a", "old_str": line, "new_str": "x"});
    for (command, key) in [(&view, "v"), (&refused, "r")] {
        let answer = Answer::to(files.asking(command).header("Idempotency-Key", key)).await;
        assert!(answer.is(200).text().contains(line));
    }
    let memory = service.memory(&id);
    memory.write("other\n").await;
    memory.redact("1").await.is(200);

    assert_eq!(service.tables_that_hold(line).await, [""; 0]);
    for (command, key) in [(&view, "v"), (&refused, "r")] {
        let again = files.asking(command).header("Idempotency-Key", key);
        Answer::to(again).await.is(410);
    }
}

#[tokio::test]
async fn an_answer_that_ends_after_its_file_is_gone_is_not_kept() {
    let (service, files) = Files::start("agent").await;
    for is_deleted in [true, false] {
        let id = files.create("/memories/a", "the porter opens it").await;
        let memory = service.memory(&id);
        // A view that was claimed and has read the file; what follows is the end of its request.
        let key = format!("k-{is_deleted}");
        let claim = IdempotencyClaim {
            vault: "acme".parse().unwrap(),
            memory: None,
            caller: "anonymous".to_owned(),
            key: key.clone(),
            token: key,
        };
        service.storage().claim_key(&claim, &[7; 32]).await.unwrap();
        if is_deleted {
            memory.delete().await.is(204);
        } else {
            memory.write("other\n").await;
            memory.redact("1").await.is(200);
        }
        let answer = KeptAnswer {
            status: 200,
            headers: Vec::new(),
            body: b"the porter opens it".to_vec(),
        };
        let answer = ClaimedAnswer { claim, answer };
        let about = id.parse().unwrap();
        service
            .storage()
            .answer_key(&answer, Some((&about, 1)))
            .await
            .unwrap();
        assert_eq!(service.tables_that_hold("porter").await, [""; 0]);
        let kept = service
            .storage()
            .claim_key(&answer.claim, &[7; 32])
            .await
            .unwrap();
        assert!(matches!(kept, Claim::Gone(_)), "{kept:?}");
    }
}

#[tokio::test]
async fn only_a_file_may_be_empty_or_blank() {
    let (service, files) = Files::start("agent").await;
    let id = files.create("/memories/a", "").await;
    let memory = service.memory(&id);
    assert_eq!(memory.text().await, "");
    assert_eq!(memory.get_json("context").await.is(200).json()["bytes"], 0);
    assert!(files.view("/memories/a").await.ends_with(":\n     1\t"));
    for path in "sections blame log prompt records window contexts/1".split(' ') {
        memory.get(path).await.is(200);
    }
    for blank in ["", " \n"] {
        memory.put(blank).await.problem(422, "invalid", None);
    }
    let insert = json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": " "});
    assert_eq!(files.run(insert).await["version"], 2);
    assert_eq!(memory.text().await, " \n");
    memory.learns("a: b").await;
    let all = memory.text().await;
    assert!(all.contains("# Key Learnings\n- KL-1"), "{all}");
    let replaced = json!({"command": "str_replace", "path": "/memories/a", "old_str": all});
    assert_eq!(files.run(replaced).await["version"], 4);
    let archived = memory.read("records/KL-1").await;
    assert_eq!(archived["status"], "archived");
    memory.restore("1").await.is(200);
    memory.restore("2").await.problem(422, "invalid", None);
    // Redaction and blame distinguish an empty file from a redacted text.
    let table = r#"
        GET blame | Accept: application/json → 200 {"lines": []}
        POST contexts/3/redact < {"reason": "it held a key"} → 200
        GET contexts/3 → 410 gone
        GET contexts/1 → 200 =
        PUT context < x → 201
        GET blame | Accept: application/json → 200 {"/lines/0/version": 5}"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn an_edit_that_changes_nothing_creates_no_version() {
    let (service, files) = Files::start("agent").await;
    files.create("/memories/a", "x").await;
    let same = json!({"command": "str_replace", "path": "/memories/a", "old_str": "x", "new_str": "x"});
    let answer = files.run(same).await;
    has(&answer, json!({"is_error": false, "version": 1}));
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_deleted_file_stays_a_memory_and_a_new_file_at_its_path_is_another() {
    let (service, files) = Files::start("agent").await;
    let on = |command: &str, path: &str| json!({"command": command, "path": path});
    let old = files.create("/memories/d/a", "old").await;
    let other = files.create("/memories/d/b", "other").await;
    let deleted = files.run(on("delete", "/memories/d/a")).await;
    has(&deleted, json!({"memory_id": old, "version": 1}));
    files.refused(on("view", "/memories/d/a")).await;
    assert_eq!(service.memory(&old).text().await, "old");
    let new = files.create("/memories/d/a", "new").await;
    assert_ne!(new, old);
    let directory = files.run(on("delete", "/memories/d")).await;
    has(&directory, json!({"is_error": false}));
    assert_eq!(directory.get("memory_id"), None);
    for (id, text) in [(&old, "old"), (&other, "other"), (&new, "new")] {
        assert_eq!(service.memory(id).text().await, text);
    }
    files.refused(on("view", "/memories/d")).await;
}

#[tokio::test]
async fn renaming_preserves_id_and_history_and_creates_no_version() {
    let (service, files) = Files::start("agent").await;
    let rename = |old: &str, new: &str| json!({"command": "rename", "old_path": old, "new_path": new});
    let a = files.create("/memories/d/a", "a").await;
    let b = files.create("/memories/d/e/b", "b").await;
    let apart = files.create("/memories/d-e", "c").await;
    let renamed = files.run(rename("/memories/d/a", "/memories/d/e/a")).await;
    has(&renamed, json!({"memory_id": a, "version": 1}));
    files.told(rename("/memories/d", "/memories/x/y")).await;
    for (path, id) in [("/x/y/e/a", &a), ("/x/y/e/b", &b), ("/d-e", &apart)] {
        let view = json!({"command": "view", "path": format!("/memories{path}")});
        has(&files.run(view).await, json!({"memory_id": id, "version": 1}));
    }
    let gone = json!({"command": "view", "path": "/memories/d"});
    files.refused(gone).await;
    assert_eq!(service.count("memory_contexts").await, 3);
}

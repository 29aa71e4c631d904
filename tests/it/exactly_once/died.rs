//! Processes that die between the commit and the response, and claims that are taken over.

use super::{ADD, Again, KEY, OPERATIONS, Saving, savings};
use crate::harness::{Answer, Service, Step, scripted};
use reqwest::Method;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// All stored rows except the keys.
async fn stored(service: &Service) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for table in service.tables().await {
        if table == "idempotency_keys" {
            continue;
        }
        let statement = format!(
            r#"SELECT count(*) || ' ' || COALESCE(md5(string_agg(t::text, '|' ORDER BY t::text)), '') FROM "{table}" AS t"#
        );
        let rows: String = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .fetch_one(service.rows())
            .await
            .unwrap();
        all.insert(table, rows);
    }
    all
}

/// Makes every process die after it has committed: it fails before it stores a response in a separate transaction.
pub(crate) async fn die_before_keeping_answers(service: &Service) {
    service
        .execute(
            "CREATE OR REPLACE FUNCTION note_whether_alone() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
             PERFORM set_config('test.is_alone', (pg_current_xact_id_if_assigned() IS NULL)::text, true);
             RETURN NULL;
         END $$;
         CREATE OR REPLACE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
             IF NEW.status = 'done' AND current_setting('test.is_alone')::boolean THEN
                 RAISE EXCEPTION 'the process has died';
             END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER note_whether_alone BEFORE UPDATE ON idempotency_keys
         FOR EACH STATEMENT EXECUTE FUNCTION note_whether_alone();
         CREATE TRIGGER die BEFORE UPDATE ON idempotency_keys
         FOR EACH ROW EXECUTE FUNCTION die();",
        )
        .await;
}

pub(crate) async fn live_again(service: &Service) {
    service
        .execute(
            "DROP TRIGGER die ON idempotency_keys;
         DROP TRIGGER note_whether_alone ON idempotency_keys",
        )
        .await;
}

#[tokio::test]
async fn a_retry_after_a_crash_after_the_commit_is_answered_and_not_executed_again() {
    let service = Service::with_models(scripted(|_| Step::answer("(none)"))).await;
    let savings = savings(&service).await;
    let tried: BTreeSet<&str> = savings.iter().map(|saving| saving.operation).collect();
    for (operation, again) in OPERATIONS {
        assert_eq!(tried.contains(operation), *again != Again::NoKey, "{operation}");
    }

    for (number, saving) in savings.iter().enumerate() {
        let key = format!("k{number}");
        let what = format!("{number} {} {} {:?}", saving.operation, saving.path, saving.body);
        let before = stored(&service).await;
        die_before_keeping_answers(&service).await;
        let first = saving.ask(&service, &key).await;
        live_again(&service).await;
        // A request that saved nothing under its claim released the claim.
        let left = match saving.again() {
            Again::Kept => Some("done"),
            Again::Harmless | Again::NoKey => None,
        };
        let status: Option<String> =
            sqlx::query_scalar("SELECT status FROM idempotency_keys WHERE idempotency_key = $1")
                .bind(&key)
                .fetch_optional(service.rows())
                .await
                .unwrap();
        assert_eq!(status.as_deref(), left, "{what}");
        assert!((200..300).contains(&first.status), "{what}: {}", first.text());
        let first_response = first.json();
        assert_ne!(first_response["is_error"], true, "{what}: {first_response}");
        let saved = stored(&service).await;
        assert_ne!(saved, before, "{what} saved nothing");

        let again = saving.ask(&service, &key).await;

        let told_again = again.json();
        assert_eq!(stored(&service).await, saved, "{what} was saved again");
        if saving.again() == Again::Harmless {
            assert_eq!(again.status / 100, 2, "{what}");
            continue;
        }
        assert_eq!(again.header("idempotency-replayed"), "true", "{what}");
        assert_eq!(again.status, first.status, "{what}");
        for name in ["content-type", "etag", "location", "x-context-version"] {
            assert_eq!(again.headers.get(name), first.headers.get(name), "{what}: {name}");
        }
        assert_eq!(told_again, first_response, "{what}");
        if saving.again() == Again::Kept {
            assert_eq!(again.body, first.body, "{what}");
        }
        // Only the same request is answered like this.
        let other = saving
            .asking(&service)
            .header(KEY, &key)
            .header("X-Actor-Id", "eve");
        Answer::to(other).await.problem(422, "key-reused", Some(KEY));
    }
}

#[tokio::test]
async fn a_request_whose_claim_was_taken_over_while_it_waited_saves_nothing() {
    let service = Service::with_models(scripted(|_| Step::answer("(none)"))).await;
    let mut savings = savings(&service).await;
    // Each has something to change, whatever the others did.
    let is_tried =
        |operation: &str| !["RunMemoryTool", "UpdateContext", "ConsolidateMemory"].contains(&operation);
    // An update, as a consolidation, has written its steps and what its models cost by then.
    savings.retain(|saving| saving.again() == Again::Kept && is_tried(saving.operation));
    let create = json!({"command": "create", "path": "/memories/there", "file_text": "x\n"});
    Answer::to(Saving::tool(create).asking(&service)).await.is(200);
    let commands = [
        json!({"command": "create", "path": "/memories/new", "file_text": "x\n"}),
        json!({"command": "insert", "path": "/memories/there", "insert_line": 0, "insert_text": "zero"}),
        json!({"command": "str_replace", "path": "/memories/there", "old_str": "x", "new_str": "y"}),
        json!({"command": "rename", "old_path": "/memories/there", "new_path": "/memories/then"}),
        json!({"command": "delete", "path": "/memories/there"}),
    ];
    savings.extend(commands.map(Saving::tool));
    let before = stored(&service).await;

    for (number, saving) in savings.iter().enumerate() {
        let what = format!("{} {} {:?}", saving.operation, saving.path, saving.body);
        // The tables that writers lock first, and those of writers that lock none of a memory's rows.
        let mut locks = service.rows().begin().await.unwrap();
        sqlx::query("LOCK TABLE memory_roots, memories, prompt_items, updates IN EXCLUSIVE MODE")
            .execute(&mut *locks)
            .await
            .unwrap();
        let request = saving.asking(&service).header(KEY, format!("k{number}"));
        let request_task = tokio::spawn(Answer::to(request));
        let claims = async || {
            let claims =
                sqlx::query("UPDATE idempotency_keys SET claim_id = 'another' WHERE claim_id <> 'another' AND status = 'running'")
                    .execute(service.rows())
                    .await
                    .unwrap();
            claims.rows_affected() == 1
        };
        while !claims().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        locks.rollback().await.unwrap();

        let answer = request_task.await.unwrap();

        assert_eq!(answer.status, 409, "{what}: {}", answer.text());
        answer.problem(409, "still-running", Some(KEY));
        assert_eq!(stored(&service).await, before, "{what}");
    }
}

#[tokio::test]
async fn stored_responses_are_deleted_with_the_data_they_contain() {
    let service = Service::start().await;
    die_before_keeping_answers(&service).await;
    let expect_deleted = async |saving: &Saving, key: &str, why: &str| {
        let problem = saving.ask(&service, key).await.problem(410, "gone", Some(KEY));
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(why), "{key}: {detail}");
    };
    let create =
        Saving::tool(json!({"command": "create", "path": "/memories/a", "file_text": "the password\n"}));
    let id = create.ask(&service, "create").await.is(200).json()["memory_id"].clone();
    let memory = service.memory(id.as_str().unwrap());
    let edit = Saving::tool(
        json!({"command": "str_replace", "path": "/memories/a", "old_str": "the password", "new_str": "none"}),
    );
    edit.ask(&service, "edit").await.is(200);
    let rename =
        Saving::tool(json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"}));
    let renamed = rename.ask(&service, "rename").await.is(200);

    memory.redact("1").await.is(200);
    expect_deleted(&create, "create", "redacted").await;
    assert_eq!(rename.ask(&service, "rename").await.is(200).body, renamed.body);
    memory.delete().await.is(204);
    for (saving, key) in [(&edit, "edit"), (&rename, "rename")] {
        expect_deleted(saving, key, "deleted").await;
    }
    expect_deleted(&create, "create", "deleted").await;
    assert_eq!(service.count("memories").await, 0);

    let window = json!({"history": [{"time": "2026-09-02T00:00:00Z", "intent": "Zero"}], "status": {"goal": "a goal of theirs"}});
    let import = Saving::json("ImportWindow", Method::POST, "memories/m/window/import", window);
    import.ask(&service, "import").await.is(201);
    let memory = service.memory("m");
    let proposed = memory.proposed(ADD).await;
    let path = format!(
        "memories/m/updates/{}/approve",
        proposed["update_id"].as_str().unwrap()
    );
    let approve = Saving::json("ApproveUpdate", Method::POST, &path, json!({}));
    approve.ask(&service, "approve").await.is(200);
    let items = Saving::of("PutItems PUT memories/m/items/notes → a text");
    items.ask(&service, "items").await.is(200);
    memory.write("# Facts\nnothing\n").await;

    memory.redact("1").await.is(200);
    expect_deleted(&import, "import", "redacted").await;
    memory.redact("2").await.is(200);
    expect_deleted(&approve, "approve", "redacted").await;
    memory.delete().await.is(204);
    expect_deleted(&items, "items", "deleted").await;
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn a_retry_returns_a_proposal_as_proposed_after_it_was_decided() {
    let (service, memory) = Service::start().await.with_memory("m");
    memory.write("# Facts\nfirst\n").await;
    let propose = format!("ApplyOperations POST memories/m/operations?mode=propose → {ADD}");
    let propose = Saving::of(&propose);
    die_before_keeping_answers(&service).await;
    let first = propose.ask(&service, "k").await.is(200).json();
    live_again(&service).await;
    let decision = format!("updates/{}/reject", first["update_id"].as_str().unwrap());
    memory.post(&decision, json!({"reason": "no"})).await.is(200);

    let again = propose.ask(&service, "k").await.is(200);

    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.json(), first);
}

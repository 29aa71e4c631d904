//! What began before its memory was deleted is not saved into the memory that was made anew under the same id.

use super::dictated::{Gate, dictate, learning, progress};
use crate::harness::{Answer, Memory, Service, has};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use sqlx::{Postgres, Transaction};
use std::time::Duration;
use working_memory::domain::ids::VaultId;
use working_memory::domain::operation::Role;

/// Only in the memory that is deleted.
const SECRET: &str = "sesame-4711";

/// The document of a memory that is to be deleted, as its third version.
async fn old_memory(memory: &Memory) {
    for text in ["# Notes\none\n", "# Notes\ntwo\n"] {
        memory.write(text).await;
    }
    let text = format!("# Notes\n{SECRET}\n\n# Key Learnings\n- KL-1 because a: b\n");
    memory.write(text).await;
}

/// Deletes the memory, and makes another one under its id with at least as many versions.
async fn made_anew(memory: &Memory) {
    memory.delete().await.is(204);
    for number in 0..4 {
        memory.write(format!("# Notes\nanew {number}\n")).await;
    }
}

/// Nothing of the deleted memory is left, and the new one is as it was put.
async fn is_untouched(service: &Service, memory: &Memory) {
    assert_eq!(service.tables_that_hold(SECRET).await, [""; 0]);
    assert_eq!(memory.text().await, "# Notes\nanew 3\n");
    assert_eq!(memory.read("updates").await["items"], json!([]));
    assert_eq!(service.count("memory_contexts").await, 4);
}

/// A transaction that holds the rows of all memories of the vault.
async fn holder(service: &Service) -> Transaction<'static, Postgres> {
    let mut holder = service.rows().begin().await.unwrap();
    let rows = sqlx::query("SELECT FROM memories WHERE vault_id = 'acme' FOR UPDATE");
    rows.execute(&mut *holder).await.unwrap();
    holder
}

/// The answer to a request whose memory is made anew while its model is asked.
async fn across(gate: &Gate, memory: &Memory, request: RequestBuilder) -> Answer {
    let (answer, ()) = tokio::join!(Answer::to(request), async {
        gate.asked().await;
        made_anew(memory).await;
        gate.open();
    });
    answer
}

fn update() -> Value {
    dictate(json!({ "learnings": learning("late"), "progress": progress("late") }))
}

#[tokio::test]
async fn an_update_that_began_before_the_deletion_is_409_in_every_form() {
    let [mut dry, mut proposed] = [update(), update()];
    dry["dry_run"] = json!(true);
    proposed["mode"] = json!("propose");
    let failing = dictate(json!({"fails": "learnings"}));
    for body in [update(), dry, proposed, failing] {
        let (gate, service, memory) = Gate::agent(Role::Learnings).await;
        old_memory(&memory).await;

        across(&gate, &memory, memory.updating(&body)).await.conflict();
        is_untouched(&service, &memory).await;
    }
}

#[tokio::test]
async fn a_streamed_update_that_began_before_the_deletion_ends_with_409() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    old_memory(&memory).await;
    let request = memory.updating(&update()).header("Accept", "text/event-stream");

    let last = across(&gate, &memory, request).await.is(200);
    let last = last.text().split("event: problem\ndata: ").nth(1).unwrap();
    assert!(last.contains(r#""status":409"#), "{last}");
    is_untouched(&service, &memory).await;
}

#[tokio::test]
async fn a_queued_update_that_ran_before_the_deletion_saves_nothing() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    old_memory(&memory).await;
    let workers = service.work(Duration::from_secs(30));
    memory.queued(&update()).await;
    gate.asked().await;

    made_anew(&memory).await;
    gate.open();
    service.stop();
    workers.stopped().await;

    is_untouched(&service, &memory).await;
}

#[tokio::test]
async fn a_retry_of_what_began_before_the_deletion_does_not_run() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    old_memory(&memory).await;
    let body = update();
    let keyed = || memory.updating(&body).header("Idempotency-Key", "k");

    across(&gate, &memory, keyed()).await.conflict();
    let retried = tokio::time::timeout(Duration::from_secs(10), Answer::to(keyed()));
    let retried = retried.await.expect("the retry asks no model");
    retried.problem(410, "gone", Some("Idempotency-Key"));
    is_untouched(&service, &memory).await;
}

#[tokio::test]
async fn progress_is_not_written_again_on_the_memory_made_anew() {
    let (gate, service, memory) = Gate::agent(Role::Progress).await;
    old_memory(&memory).await;
    let body = dictate(json!({ "progress": progress("late") }));

    let (answer, ()) = tokio::join!(Answer::to(memory.updating(&body)), async {
        gate.asked().await;
        // Asked again, on a newer version of the same memory.
        memory.applied(&progress("sooner")).await;
        gate.open();
        gate.asked().await;
        made_anew(&memory).await;
        gate.open();
    });

    answer.conflict();
    is_untouched(&service, &memory).await;
}

#[tokio::test]
async fn every_acknowledged_proposal_was_stored() {
    let (service, memory) = Service::start().await.agent();
    for round in 0..120 {
        memory.write(format!("# Notes\n{round}\n")).await;
        let text = learning(&format!("insight {round}"));
        let propose = Answer::to(memory.applying("?mode=propose", &text));
        let (answer, deleted) = tokio::join!(propose, memory.delete());
        deleted.is(204);
        match answer.status {
            200 => {
                let id = answer.json()["update_id"].as_str().unwrap().to_owned();
                // The deletion takes the run with it; that it was stored is known by its event.
                let proposed = "SELECT update_id FROM events WHERE kind = 'proposed'";
                let told: Vec<String> = service.values(proposed).await;
                let told = told.iter().filter(|told| **told == id).count();
                assert_eq!(told, 1, "round {round}: acknowledged, and not stored");
            }
            _ => {
                answer.conflict();
            }
        }
        // A proposal for the memory that did not exist any more is one for no memory.
        service.execute("DELETE FROM updates").await;
    }
    memory.write("# Notes\n").await;
    let undisturbed = Answer::to(memory.applying("?mode=propose", &learning("last")));
    assert_eq!(undisturbed.await.is(200).json()["status"], "proposed");
    assert_eq!(service.count("updates").await, 1);
}

#[tokio::test]
async fn operations_replace_progress_that_another_writer_has_just_changed() {
    let (service, memory) = Service::start().await.agent();
    let progress_of = |bullet: &str| format!("# Current Progress\n## In Progress\n- {bullet}\n");
    memory.write(progress_of("first")).await;
    let holder = holder(&service).await;

    let put = memory.put(progress_of("second"));
    let apply = async {
        service.waits_for_locks(1).await;
        memory.apply(&progress("mine")).await
    };
    let release = async {
        service.waits_for_locks(2).await;
        holder.rollback().await.unwrap();
    };
    let (put, answer, ()) = tokio::join!(put, apply, release);

    put.is(201);
    assert_eq!(answer.is(200).json()["version"], 3, "none was lost");
    assert_eq!(memory.text().await, progress_of("mine"));
}

#[tokio::test]
async fn words_of_the_deleted_memory_are_not_indexed_for_the_new_one() {
    let (service, memory) = Service::start().await.agent();
    old_memory(&memory).await;
    let mut deletion = holder(&service).await;
    let (storage, vault) = (service.storage().clone(), "acme".parse::<VaultId>().unwrap());
    // It has read the old memory, and waits for its row.
    let indexing = tokio::spawn(async move { storage.index_vault(&vault).await });
    service.waits_for_locks(1).await;

    for statement in [
        "DELETE FROM memories",
        "INSERT INTO memories (vault_id, memory_id, head_version, created_at, changed_at)
         VALUES ('acme', 'agent', 0, now(), now())",
    ] {
        sqlx::query(statement).execute(&mut *deletion).await.unwrap();
    }
    deletion.commit().await.unwrap();
    indexing.await.unwrap().unwrap();

    assert_eq!(service.count("search_entries").await, 0);
}

#[tokio::test]
async fn an_update_that_began_without_a_memory_does_not_bring_one_back() {
    let recorded = || {
        let mut body = update();
        body["record"] = json!({ "intent": "late", "summary": "late", "task_id": "t-1" });
        body
    };
    for (body, anew) in [(update(), false), (update(), true), (recorded(), false)] {
        let (gate, service, memory) = Gate::agent(Role::Learnings).await;

        let (answer, ()) = tokio::join!(Answer::to(memory.updating(&body)), async {
            gate.asked().await;
            memory.write(format!("# Notes\n{SECRET}\n")).await;
            memory.delete().await.is(204);
            if anew {
                memory.write("# Notes\nanew 3\n").await;
            }
            gate.open();
        });

        answer.conflict();
        let expected = i64::from(anew);
        assert_eq!(service.count("memory_contexts").await, expected);
        assert_eq!(service.count("memories").await, expected);
        assert_eq!(service.count("updates").await, 0);
    }
}

#[tokio::test]
async fn an_update_of_a_memory_that_others_make_meanwhile_is_merged_into_it() {
    let (gate, _, memory) = Gate::agent(Role::Learnings).await;
    // Of an earlier life of the memory, which the update knows of.
    memory.write("# Notes\n").await;
    memory.delete().await.is(204);
    let body = dictate(json!({ "learnings": learning("late") }));

    let (answer, ()) = tokio::join!(Answer::to(memory.updating(&body)), async {
        gate.asked().await;
        memory.write("# Notes\ntheirs\n").await;
        gate.open();
    });

    let answer = answer.is(200).json();
    has(&answer, json!({"rebased": true, "version": 2}));
    let text = memory.text().await;
    assert!(text.contains("theirs") && text.contains("late"), "{text}");
}

/// A service, and its answer to an update with a key whose version is replaced and redacted while a model is asked; the answer is
/// not given again.
async fn redacted_meanwhile(body: &Value) -> (Service, Value) {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    let text = format!("# Key Learnings\n- KL-1 because a: {SECRET}\n");
    memory.write(text).await;
    let keyed = || memory.updating(body).header("Idempotency-Key", "k");
    let (answer, ()) = tokio::join!(Answer::to(keyed()), async {
        gate.asked().await;
        memory.write("# Notes\nwithout it\n").await;
        memory.redact("1").await.is(200);
        gate.open();
    });
    Answer::to(keyed()).await.is(410);
    (service, answer.is(200).json())
}

#[tokio::test]
async fn a_proposal_that_models_made_of_a_version_that_was_redacted_meanwhile_quotes_nothing() {
    let mut body = dictate(json!({ "learnings": learning(&format!("rotate {SECRET}")) }));
    body["mode"] = json!("propose");
    let (service, _) = redacted_meanwhile(&body).await;
    assert_eq!(service.tables_that_hold(SECRET).await, [""; 0]);
    // Nor does it wait for a decision that nobody can make.
    assert_eq!(service.count("updates WHERE status = 'expired'").await, 1);
}

#[tokio::test]
async fn an_update_that_ends_after_its_version_was_redacted_is_stored_without_its_texts() {
    let archive = format!("  ARCHIVE:\n    - KL-1 because {SECRET} was rotated\n");
    for (learnings, status) in [
        (learning("late") + &archive, "applied"),
        (format!("KEY_LEARNINGS:\n{archive}"), "unchanged"),
    ] {
        let (service, answer) = redacted_meanwhile(&dictate(json!({ "learnings": learnings }))).await;
        has(&answer, json!({ "status": status, "base_version": 1 }));
        let holding = service.tables_that_hold(SECRET).await;
        for table in ["updates", "idempotency_keys"] {
            assert!(!holding.iter().any(|name| name == table), "{status}: {holding:?}");
        }
    }
}

#[tokio::test]
async fn a_deletion_beside_the_first_write_comes_before_it_or_after_it() {
    let (service, memory) = Service::start().await.agent();
    // It has looked for the memory, and goes on when the write was to be done in between.
    let mut holder = service.rows().begin().await.unwrap();
    let runs = sqlx::query("LOCK TABLE updates IN SHARE MODE");
    runs.execute(&mut *holder).await.unwrap();
    let (deleted, written, ()) = tokio::join!(
        memory.delete(),
        async {
            service.waits_for_locks(1).await;
            memory.put("acknowledged").await
        },
        async {
            service.waits_for_locks(2).await;
            holder.rollback().await.unwrap();
        }
    );
    deleted.is(404);
    written.is(201);
    assert_eq!(memory.text().await, "acknowledged");
    let usage = service.read("/v1/vaults/acme/usage").await;
    has(&usage, json!({"memories": 1}));
}

#[tokio::test]
async fn the_removal_of_the_last_item_of_a_memory_is_no_deletion_of_it() {
    let (gate, _, memory) = Gate::agent(Role::Learnings).await;
    let item = json!({"content": "be brief", "category": "workflow"});
    memory.post("items", &item).await.is(201);
    let update = dictate(json!({"learnings": learning("kept")}));
    let (answer, ()) = tokio::join!(memory.update(update), async {
        gate.asked().await;
        memory.delete_at("items?category=workflow").await.is(200);
        gate.open();
    });
    has(&answer.is(200).json(), json!({"status": "applied", "version": 1}));
}

//! Concurrent changes by another writer, made while the models run, are neither lost nor overwritten.

use super::dictated::{Gate, dictate, learning, progress};
use super::stored::is_sound;
use crate::harness::{Answer, Memory, has};
use serde_json::{Value, json};
use working_memory::domain::operation::Role;

/// An update, and what another writer does while its model is asked.
async fn meanwhile(gate: &Gate, memory: &Memory, update: Value, other: impl Future<Output = ()>) -> Answer {
    let other = async {
        gate.asked().await;
        other.await;
        gate.open();
    };
    tokio::join!(memory.update(update), other).0
}

#[tokio::test]
async fn free_text_and_records_of_another_writer_survive() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    let mine = "# Notes\nold\n\n# Key Learnings\n- KL-1 because x: mine\n";
    memory.write(mine).await;
    let update = dictate(json!({"learnings": learning("new"), "progress": progress("Go on")}));

    let answer = meanwhile(&gate, &memory, update, async {
        let text = "# Notes\nnew words\n\n# Key Learnings\n- KL-1 because x: mine\n- KL-2 because y: theirs\n\n# Facts\n1\n";
        memory.write(text).await;
    });

    let answer = answer.await.is(200).json();
    let merged =
        json!({"rebased": true, "base_version": 1, "version": 3, "diff^": "--- version 2\n+++ version 3\n"});
    has(&answer, merged);
    assert_eq!(
        memory.text().await,
        "# Notes\nnew words\n\n# Key Learnings\n- KL-1 because x: mine\n- KL-2 because y: theirs\n\
         - KL-3 [2026-11-21T02:00:00Z] because it is certain: new\n\n# Facts\n1\n\n# Current Progress\n\
         ## In Progress\n- Go on\n"
    );
    is_sound(&service, "agent").await;
}

#[tokio::test]
async fn a_learning_that_was_added_concurrently_is_not_added_twice() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    let text = "KEY_LEARNINGS:\n  ADD:\n    - because a: Pin the  tool chain\n    - because b: another\n";
    let answer = meanwhile(&gate, &memory, dictate(json!({"learnings": text})), async {
        memory.applied(&learning("pin the tool chain")).await;
    });
    let expected = json!({"/rejected/*/kind": ["duplicate"], "/rejected/0/text~": "Pin the  tool chain",
                          "/operations/0/id": "KL-2", "base_version": 0});
    has(&answer.await.is(200).json(), expected);
    is_sound(&service, "agent").await;
}

#[tokio::test]
async fn a_record_that_was_archived_concurrently_is_not_archived_twice() {
    for by_operation in [true, false] {
        let (gate, service, memory) = Gate::agent(Role::Learnings).await;
        let both = "# Key Learnings\n- KL-1 because x: y\n- KL-2 because x: z\n";
        memory.write(both).await;
        let text = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because the model says so\n";

        let answer = meanwhile(&gate, &memory, dictate(json!({"learnings": text})), async {
            if by_operation {
                memory.archives("KL-1 because first").await;
            } else {
                memory.write("# Key Learnings\n- KL-2 because x: z\n").await;
            }
        });

        let unchanged = json!({"/rejected/*/kind": ["already_archived"], "status": "unchanged", "rebased": true,
                               "base_version": 1, "version": 2});
        has(&answer.await.is(200).json(), unchanged);
        let expected = ["left out by version 2", "first"][usize::from(by_operation)];
        assert_eq!(memory.read("records/KL-1").await["archive_reason"], expected);
        is_sound(&service, "agent").await;
    }
}

#[tokio::test]
async fn a_run_under_which_a_version_was_redacted_does_not_tell_its_faults() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    memory.write("the key is yak-8822-quill\n").await;
    let faulty = "KEY_LEARNINGS:\n  ADD:\n    - the key is yak-8822-quill\n";
    let mut update = dictate(json!({"learnings": faulty}));
    update["on_invalid"] = json!("fail");

    let answer = meanwhile(&gate, &memory, update, async {
        memory.write("clean").await;
        memory.redact("1").await.is(200);
        // It is asked again, too.
        gate.open();
    });

    let problem = answer.await.problem(409, "conflict", None);
    has(&problem, json!({"detail~": "redacted while it ran"}));
    assert_eq!(service.tables_that_hold("yak-8822").await, [""; 0]);
}

#[tokio::test]
async fn a_record_that_is_active_again_meanwhile_has_existed() {
    let (gate, _, memory) = Gate::agent(Role::Learnings).await;
    memory.write("# Key Learnings\n- KL-1 because x: y\n").await;
    memory.archives("KL-1 because first").await;
    let text = "KEY_LEARNINGS:\n  ARCHIVE:\n    - KL-1 because the model says so\n";

    let answer = meanwhile(&gate, &memory, dictate(json!({"learnings": text})), async {
        memory.restore("1").await;
    });

    let expected = json!({"/rejected/*/kind": ["already_archived"], "/models/learnings/reprompts": 0});
    has(&answer.await.is(200).json(), expected);
    assert_eq!(memory.read("records/KL-1").await["status"], "active");
}

#[tokio::test]
async fn a_record_whose_text_was_changed_concurrently_is_neither_archived_nor_replaced() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    let mine = "# Key Learnings\n- KL-1 because x: the port is 8080\n- KL-2 because y: as it was\n";
    memory.write(mine).await;
    let text = "KEY_LEARNINGS:\n  ADD:\n    - because it moved: the port is now 9090\n  ARCHIVE:\n    - KL-1 because the port is 9090\n    - KL-2 because the model says so\n";

    let answer = meanwhile(&gate, &memory, dictate(json!({"learnings": text})), async {
        memory.write(mine.replace("8080", "7070")).await;
    });

    let merged =
        json!({"/rejected/*/kind": ["record_changed"], "/rejected/0/text~": "KL-1", "status": "applied"});
    has(&answer.await.is(200).json(), merged);
    let text = memory.text().await;
    assert!(
        text.contains("7070") && text.contains("9090") && !text.contains("KL-2"),
        "{text}"
    );
    is_sound(&service, "agent").await;
}

#[tokio::test]
async fn concurrently_changed_progress_is_retried_on_the_new_head() {
    let (gate, _, memory) = Gate::agent(Role::Progress).await;
    memory.write("# Current Progress\n## In Progress\n- Mine\n").await;
    let theirs = "# Current Progress\n## In Progress\n- Theirs\n";
    let update = dictate(json!({"progress": progress("The model's"), "learnings": learning("kept")}));

    let (answer, ()) = tokio::join!(memory.update(update), async {
        gate.asked().await;
        memory.write(theirs).await;
        gate.open();
        gate.asked().await;
        gate.open();
    });

    let answer = answer.is(200).json();
    let merged = json!({"rebased": true, "base_version": 1, "version": 3, "/models/progress/attempts": 2,
                        "/models/learnings/attempts": 1});
    has(&answer, merged);
    let run = memory.run_of(&answer).await;
    let exchanges = run["exchanges"].as_array().unwrap().iter();
    let shown = exchanges.filter(|exchange| exchange["section"] == "progress");
    let shown: Vec<_> = shown.collect();
    for (exchange, bullet) in shown.iter().zip(["- Mine", "- Theirs"]) {
        has(exchange, json!({"/messages/0/content~": bullet}));
    }
    assert_eq!(shown.len(), 2);
    let text = memory.text().await;
    assert!(text.contains("- The model's") && text.contains("kept") && !text.contains("Theirs"));
}

#[tokio::test]
async fn progress_is_not_retried_when_only_other_sections_changed() {
    for theirs in [
        "# Current Progress\n## In Progress\n- Mine\n\n# Facts\nappended behind it\n",
        "# Facts\nbefore it\n\n# Current Progress\n## In Progress\n- Mine\n",
    ] {
        let (gate, _, memory) = Gate::agent(Role::Progress).await;
        memory.write("# Current Progress\n## In Progress\n- Mine\n").await;

        let (answer, ()) = tokio::join!(
            memory.update(dictate(json!({"progress": progress("New")}))),
            async {
                gate.asked().await;
                memory.write(theirs).await;
                gate.open();
                // Enough responses for a retry, which must not happen.
                gate.open();
            }
        );

        let answer = answer.is(200).json();
        assert_eq!(answer["models"]["progress"]["attempts"], 1, "{theirs}");
        assert_eq!(answer["rebased"], true);
        let text = memory.text().await;
        assert_eq!(text, theirs.replace("- Mine", "- New"));
    }
}

#[tokio::test]
async fn progress_that_changes_on_every_retry_is_a_conflict() {
    let (gate, service, memory) = Gate::agent(Role::Progress).await;
    let update = dictate(json!({"progress": progress("The model's"), "learnings": learning("lost")}));

    let (answer, ()) = tokio::join!(memory.update(update), async {
        for round in 0..4 {
            gate.asked().await;
            memory
                .write(format!("# Current Progress\n## In Progress\n- {round}\n"))
                .await;
            gate.open();
        }
    });

    let problem = answer.conflict();
    assert_eq!(problem["limit"], 3);
    let run = memory.run_of(&problem).await;
    assert_eq!(run["status"], "conflict");
    assert_eq!(service.counts(["memory_contexts", "records"]).await, [4, 0]);
}

#[tokio::test]
async fn with_a_precondition_any_concurrent_change_is_412() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    memory.write("one").await;
    let tag = memory.get("context").await.is(200).header("etag").to_owned();
    for (name, header, value) in [("agent", "If-Match", tag.as_str()), ("new", "If-None-Match", "*")] {
        let memory = service.memory(name);
        let update = dictate(json!({"learnings": learning("lost")}));
        let request = memory.updating(&update).header(header, value);

        let (answer, ()) = tokio::join!(Answer::to(request), async {
            gate.asked().await;
            memory.write("two").await;
            gate.open();
        });

        answer.stale();
        assert_eq!(memory.text().await, "two");
    }
}

#[tokio::test]
async fn a_dry_run_is_applied_to_the_head_at_its_end() {
    let (gate, service, memory) = Gate::agent(Role::Learnings).await;
    memory.write("# Key Learnings\n- KL-1 because x: y\n").await;
    let mut update = dictate(json!({"learnings": learning("new")}));
    update["dry_run"] = json!(true);

    let answer = meanwhile(&gate, &memory, update, async {
        memory.applied(&learning("theirs")).await;
    });

    let answer = answer.await.is(200).json();
    assert_eq!(answer["operations"][0]["id"], "KL-3");
    assert_eq!(answer["version"], answer["base_version"]);
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn a_client_that_disconnects_leaves_no_lock() {
    let (gate, _, memory) = Gate::agent(Role::Learnings).await;
    let request = memory.updating(&dictate(json!({"learnings": learning("never")})));
    let disconnected = tokio::spawn(request.send());
    gate.asked().await;
    disconnected.abort();
    let _ = disconnected.await;

    let next = dictate(json!({"learnings": learning("next")}));
    let answer = meanwhile(&gate, &memory, next, async {}).await;
    let first = json!({"version": 1, "/operations/0/content": "next"});
    has(&answer.is(200).json(), first);
    memory.write("a writer").await;
}

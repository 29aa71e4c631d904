//! The effects of the tools.

use super::{agent, call, done, refused};
use crate::harness::{Service, each, has, holds};
use serde_json::{Value, json};

const TEXT: &str = "# Description\nThe parser.\n";

#[tokio::test]
async fn a_text_is_written_and_read_and_overwritten_only_with_its_version() {
    let service = Service::start().await;
    let written = call(
        &service,
        "memory_write",
        agent(json!({"text": TEXT, "if_version": 0})),
    )
    .await;
    assert_eq!(done(&written)["version"], 1);
    let read = call(&service, "memory_read", agent(json!({}))).await;
    assert_eq!(done(&read)["context"], TEXT);
    assert_eq!(done(&read)["version"], 1);
    assert_eq!(read["content"][0]["text"], TEXT);
    let again = call(
        &service,
        "memory_write",
        agent(json!({"text": "b", "if_version": 0})),
    )
    .await;
    assert!(refused(&again).contains("precondition"), "{again}");
    let missing = call(
        &service,
        "memory_write",
        agent(json!({"text": "b", "if_version": 9})),
    )
    .await;
    assert!(refused(&missing).contains("no version 9"), "{missing}");
    done(
        &call(
            &service,
            "memory_write",
            agent(json!({"text": "b", "if_version": 1})),
        )
        .await,
    );
    let stale = call(
        &service,
        "memory_write",
        agent(json!({"text": "c", "if_version": 1})),
    )
    .await;
    assert!(refused(&stale).contains("memory_read"), "{stale}");
    assert_eq!(service.count("memory_contexts").await, 2);
    let first = call(&service, "memory_read", agent(json!({"version": 1}))).await;
    assert_eq!(done(&first)["context"], TEXT);
    let same = call(&service, "memory_write", agent(json!({"text": "b"}))).await;
    assert_eq!(done(&same)["unchanged"], true);
}

#[tokio::test]
async fn an_edit_adds_archives_and_rewrites_and_returns_what_it_did() {
    let service = Service::start().await;
    let snippet = "test:\n\tcargo test  \n\n  - not a bullet\nKEY_LEARNINGS:";
    let edit = json!({
        "learnings": {"add": [{"reason": "CI has no database", "content": "commit the query data"},
            {"reason": "it is slow", "content": "cache it"}]},
        "snippets": {"add": [{"reason": "the next step edits it", "label": "Makefile", "content": snippet}]},
        "progress": {"completed": ["parser"], "in_progress": ["route"], "remaining": ["benchmarks"]},
    });
    let edited = call(&service, "memory_edit", agent(edit.clone())).await;
    let structured = done(&edited);
    assert_eq!(structured["status"], "applied");
    assert_eq!(structured["rejected"], json!([]));
    assert_eq!(structured["operations"].as_array().unwrap().len(), 4);
    let text: Value = serde_json::from_str(edited["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, structured);
    let record = service.memory("agent").read("records/VC-1").await;
    assert_eq!(record["content"], snippet);
    assert_eq!(record["label"], "Makefile");

    let replace = json!({"learnings": {"archive": [{"id": "KL-2", "reason": "measured"}],
        "add": [{"reason": "measured", "content": "it is fast"}]}});
    let tried = call(
        &service,
        "memory_edit",
        agent(json!({"learnings": replace["learnings"], "dry_run": true})),
    )
    .await;
    assert_eq!(done(&tried)["status"], "dry_run");
    assert_eq!(done(&tried)["version"], 1);
    let replaced = call(&service, "memory_edit", agent(replace)).await;
    assert_eq!(done(&replaced)["version"], 2);
    let active = call(
        &service,
        "memory_history",
        agent(json!({"view": "records", "status": "active"})),
    )
    .await;
    let ids = each(&done(&active)["items"], "record_id");
    assert_eq!(ids, ["KL-1", "KL-3", "VC-1"]);
}

#[tokio::test]
async fn an_edit_is_an_error_only_if_all_of_it_is_rejected() {
    let service = Service::start().await;
    let good = json!({"reason": "r", "content": "a fact"});
    let bad = json!({"id": "KL-9", "reason": "gone"});
    let partly = json!({"learnings": {"add": [good], "archive": [bad]}});
    let partly = call(&service, "memory_edit", agent(partly)).await;
    assert_eq!(done(&partly)["rejected"][0]["kind"], "unknown_id");
    let wholly = json!({"learnings": {"archive": [bad]}});
    let wholly = call(&service, "memory_edit", agent(wholly)).await;
    assert!(refused(&wholly).contains("unknown_id"), "{wholly}");
    let nothing = call(&service, "memory_edit", agent(json!({"learnings": {}}))).await;
    assert!(refused(&nothing).contains("nothing to change"), "{nothing}");
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn tasks_decisions_and_the_status_are_recorded() {
    let service = Service::start().await;
    let task = json!({"kind": "task", "intent": "Add the parser", "summary": "60 tests", "task_id": "P-1", "outcome": {"ok": true}});
    let first = call(&service, "memory_record", agent(task.clone())).await;
    assert_eq!(done(&first)["record_id"], "T-1");
    let again = call(&service, "memory_record", agent(task)).await;
    has(done(&again), json!({"record_id": "T-1", "unchanged": true}));
    let decision = json!({"kind": "decision", "decision": "SQL lives in storage", "reason": "one language"});
    assert_eq!(
        done(&call(&service, "memory_record", agent(decision)).await)["record_id"],
        "D-1"
    );
    let status = json!({"kind": "status", "goal": "ship", "blocker": null});
    assert_eq!(
        done(&call(&service, "memory_record", agent(status)).await)["goal"],
        "ship"
    );
    let mixed = call(
        &service,
        "memory_record",
        agent(json!({"kind": "status", "goal": "g", "intent": "i"})),
    )
    .await;
    assert!(refused(&mixed).contains("intent"), "{mixed}");
    let replaced = json!({"kind": "decision", "decision": "d", "reason": "r", "supersedes": "D-7"});
    let replaced = call(&service, "memory_record", agent(replaced)).await;
    assert!(refused(&replaced).contains("D-1"), "{replaced}");
}

#[tokio::test]
async fn a_handoff_is_created_on_request() {
    let service = Service::start().await;
    service.memory("agent").write(TEXT).await;
    let missing = call(&service, "memory_handoff", agent(json!({}))).await;
    assert!(refused(&missing).contains("refresh: true"), "{missing}");
    let window = call(&service, "memory_handoff", agent(json!({"window": "6h"}))).await;
    assert!(refused(&window).contains("refresh"), "{window}");
    let made = call(
        &service,
        "memory_handoff",
        agent(json!({"refresh": true, "window": "6h"})),
    )
    .await;
    assert_eq!(done(&made)["window"], "PT6H");
    let read = call(&service, "memory_handoff", agent(json!({}))).await;
    assert_eq!(done(&read)["handoff_id"], done(&made)["handoff_id"]);
    assert_eq!(read["content"][0]["text"], done(&read)["markdown"]);
    assert_eq!(done(&read)["freshness"]["status"], "fresh");
}

#[tokio::test]
async fn history_shows_log_diff_blame_and_records() {
    let service = Service::start().await;
    let memory = service.memory("agent");
    memory.write("a\n").await;
    memory.write("a\nb\n").await;
    let log = call(&service, "memory_history", agent(json!({"view": "log"}))).await;
    assert_eq!(done(&log)["items"][0]["version"], 2);
    let newest = call(&service, "memory_history", agent(json!({"view": "diff"}))).await;
    assert!(done(&newest)["diff"].as_str().unwrap().contains("+b"), "{newest}");
    let back = call(
        &service,
        "memory_history",
        agent(json!({"view": "diff", "ref": 1, "base": "2"})),
    )
    .await;
    assert!(done(&back)["diff"].as_str().unwrap().contains("-b"), "{back}");
    let blame = call(
        &service,
        "memory_history",
        agent(json!({"view": "blame", "ref": "1"})),
    )
    .await;
    assert_eq!(done(&blame)["lines"].as_array().unwrap().len(), 1);
    let unknown = call(
        &service,
        "memory_history",
        agent(json!({"view": "diff", "ref": "99"})),
    )
    .await;
    assert!(refused(&unknown).contains("view log"), "{unknown}");
    let wrong = call(
        &service,
        "memory_history",
        agent(json!({"view": "log", "base": "1"})),
    )
    .await;
    assert!(refused(&wrong).contains("base goes with view diff"), "{wrong}");
}

#[tokio::test]
async fn a_prompt_is_assembled_and_memories_are_found_and_listed() {
    let service = Service::start().await;
    done(&call(&service, "memory_write", agent(json!({"text": TEXT}))).await);
    let prompt = json!({"exclude": "datetime", "max_tokens": 1000});
    let prompt = call(&service, "memory_prompt", agent(prompt)).await;
    holds(done(&prompt)["text"].as_str().unwrap(), &["The parser."]);
    assert_eq!(prompt["content"][0]["text"], done(&prompt)["text"]);
    let found = call(
        &service,
        "memory_search",
        json!({"vault": "acme", "query": "parser"}),
    )
    .await;
    assert_eq!(done(&found)["items"][0]["memory_id"], "agent");
    let listed = call(&service, "memory_list", json!({"vault": "acme", "prefix": "ag"})).await;
    assert_eq!(done(&listed)["items"].as_array().unwrap().len(), 1);
}

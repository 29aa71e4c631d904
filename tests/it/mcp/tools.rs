//! The effects of the tools.

use super::{agent, asked, call, done, refused};
use crate::harness::{Service, each, has, holds};
use serde_json::{Value, json};

const TEXT: &str = "# Description\nThe parser.\n";

/// Calls one after another, each with what it answers: a place in the structured content with its value, or, behind `!`, a part
/// of the error.
async fn answers(service: &Service, table: &str) {
    for row in table.trim().lines() {
        let (request, expected) = row.trim().split_once(" → ").unwrap();
        let result = asked(service, request).await;
        if let Some(said) = expected.strip_prefix("! ") {
            assert!(refused(&result).contains(said), "{row}: {result}");
            continue;
        }
        let (place, value) = expected.split_once(' ').unwrap();
        let value: Value = serde_json::from_str(value).unwrap();
        assert_eq!(done(&result).pointer(place), Some(&value), "{row}: {result}");
    }
}

#[tokio::test]
async fn a_text_is_written_and_read_and_overwritten_only_with_its_version() {
    let service = Service::start().await;
    let table = r#"
        memory_write agent {"text": TEXT, "if_version": 0} → /version 1
        memory_read agent {} → /context TEXT
        memory_read agent {} → /version 1
        memory_write agent {"text": "b", "if_version": 0} → ! precondition
        memory_write agent {"text": "b", "if_version": 9} → ! no version 9
        memory_write agent {"text": "b", "if_version": 1} → /version 2
        memory_write agent {"text": "c", "if_version": 1} → ! memory_read
        memory_read agent {"version": 1} → /context TEXT
        memory_write agent {"text": "b"} → /unchanged true"#;
    answers(&service, &table.replace("TEXT", &json!(TEXT).to_string())).await;
    assert_eq!(service.count("memory_contexts").await, 2);
    let read = asked(&service, r#"memory_read agent {"version": 1}"#).await;
    assert_eq!(read["content"][0]["text"], TEXT);
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
    has(
        structured,
        json!({"status": "applied", "rejected": [], "operations#": 4}),
    );
    let text: Value = serde_json::from_str(edited["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, structured);
    let record = service.memory("agent").read("records/VC-1").await;
    has(&record, json!({"content": snippet, "label": "Makefile"}));

    let replace = json!({"learnings": {"archive": [{"id": "KL-2", "reason": "measured"}],
        "add": [{"reason": "measured", "content": "it is fast"}]}});
    let dry_run = json!({"learnings": replace["learnings"], "dry_run": true});
    let tried = call(&service, "memory_edit", agent(dry_run)).await;
    has(done(&tried), json!({"status": "dry_run", "version": 1}));
    let replaced = call(&service, "memory_edit", agent(replace)).await;
    assert_eq!(done(&replaced)["version"], 2);
    let active = r#"memory_history agent {"view": "records", "status": "active"}"#;
    let active = asked(&service, active).await;
    let ids = each(&done(&active)["items"], "record_id");
    assert_eq!(ids, ["KL-1", "KL-3", "VC-1"]);
}

#[tokio::test]
async fn an_edit_is_an_error_only_if_all_of_it_is_rejected() {
    let service = Service::start().await;
    let table = r#"
        memory_edit agent {"learnings": {"add": [{"reason": "r", "content": "a fact"}], "archive": [{"id": "KL-9", "reason": "gone"}]}} → /rejected/0/kind "unknown_id"
        memory_edit agent {"learnings": {"archive": [{"id": "KL-9", "reason": "gone"}]}} → ! unknown_id
        memory_edit agent {"learnings": {}} → ! nothing to change
        memory_edit agent {"learnings": {"add": null, "archive": null}, "snippets": null} → ! nothing to change
        memory_edit agent {"progress": {"completed": null, "in_progress": ["a"], "remaining": null}} → /status "applied""#;
    answers(&service, table).await;
    assert_eq!(service.count("memory_contexts").await, 2);
}

#[tokio::test]
async fn tasks_decisions_and_the_status_are_recorded() {
    let service = Service::start().await;
    let task = r#"{"kind": "task", "intent": "Add the parser", "summary": "60 tests", "task_id": "P-1", "outcome": {"ok": true}}"#;
    let table = r#"
        memory_record agent TASK → /record_id "T-1"
        memory_record agent TASK → /unchanged true
        memory_record agent TASK → /record_id "T-1"
        memory_record agent {"kind": "decision", "decision": "SQL lives in storage", "reason": "one language"} → /record_id "D-1"
        memory_record agent {"kind": "status", "goal": "ship", "blocker": null} → /goal "ship"
        memory_record agent {"kind": "status", "goal": "g", "intent": "i"} → ! intent
        memory_record agent {"kind": "status", "goal": null} → ! the word none clears one
        memory_record agent {"kind": "task", "intent": "i", "summary": "s", "decision": "d"} → ! kind task;
        memory_record agent {"kind": "decision", "decision": "d", "reason": "r", "supersedes": "D-7"} → ! D-1"#;
    answers(&service, &table.replace("TASK", task)).await;
}

#[tokio::test]
async fn a_handoff_is_created_on_request() {
    let service = Service::start().await;
    service.memory("agent").write(TEXT).await;
    let table = r#"
        memory_handoff agent {} → ! refresh: true
        memory_handoff agent {"window": "6h"} → ! refresh"#;
    answers(&service, table).await;
    let refresh = r#"memory_handoff agent {"refresh": true, "window": "6h"}"#;
    let made = asked(&service, refresh).await;
    assert_eq!(done(&made)["window"], "PT6H");
    let read = asked(&service, "memory_handoff agent {}").await;
    let markdown = &read["content"][0]["text"];
    let handoff =
        json!({"handoff_id": done(&made)["handoff_id"], "markdown": markdown, "/freshness/status": "fresh"});
    has(done(&read), handoff);
}

#[tokio::test]
async fn history_shows_log_diff_blame_and_records() {
    let (service, memory) = Service::start().await.agent();
    memory.write("a\n").await;
    memory.write("a\nb\n").await;
    let table = r#"
        memory_history agent {"view": "log"} → /items/0/version 2
        memory_history agent {"view": "diff", "ref": "99"} → ! view log
        memory_history agent {"view": "log", "base": "1"} → ! base goes with view diff"#;
    answers(&service, table).await;
    for (request, expected) in [
        (r#"{"view": "diff"}"#, json!({"diff~": "+b"})),
        (
            r#"{"view": "diff", "ref": 1, "base": "2"}"#,
            json!({"diff~": "-b"}),
        ),
        (r#"{"view": "blame", "ref": "1"}"#, json!({"lines#": 1})),
    ] {
        let shown = asked(&service, &format!("memory_history agent {request}")).await;
        has(done(&shown), expected);
    }
}

#[tokio::test]
async fn a_prompt_is_assembled_and_memories_are_found_and_listed() {
    let service = Service::start().await;
    service.memory("agent").write(TEXT).await;
    let prompt = r#"memory_prompt agent {"exclude": "datetime", "max_tokens": 1000}"#;
    let prompt = asked(&service, prompt).await;
    holds(done(&prompt)["text"].as_str().unwrap(), &["The parser."]);
    assert_eq!(prompt["content"][0]["text"], done(&prompt)["text"]);
    let table = r#"
        memory_search {"vault": "acme", "query": "parser"} → /items/0/memory_id "agent"
        memory_search {"vault": "acme", "query": "parser", "memory": null, "limit": null} → /items/0/memory_id "agent"
        memory_list {"vault": "acme", "prefix": "ag"} → /items/0/memory_id "agent""#;
    answers(&service, table).await;
}

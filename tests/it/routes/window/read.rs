//! `GET M/window`

use super::{decide, record, set, task};
use crate::harness::{Answer, Service, has};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn the_window_is_markdown_or_json_and_is_not_sent_twice() {
    let (_, memory) = Service::start().await.agent();
    memory.get("window").await.missing();
    set(&memory, json!({"goal": "ship"})).await.is(201);
    let mut recorded = task(1);
    recorded["summary"] = json!("Two lines.\n# Not a heading");
    recorded["outcome"] = json!({"tests": 60});
    recorded["epic"] = json!("DSL");
    record(&memory, recorded.clone()).await.is(201);
    decide(
        &memory,
        json!({"decision": "SQL in storage", "reason": "one language"}),
    )
    .await
    .is(201);

    let text = memory.get("window").await.is(200);
    assert_eq!(text.header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(
        text.text(),
        "# Status\nGoal: ship\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n\n# Recent Tasks\n\n## T-1 \
         [2026-11-21T02:00:00Z] Step 1\nTask: task-1\nEpic: DSL\n\n> Two lines.\n> # Not a heading\n\nOutcome: \
         `{\"tests\":60}`\n\n# Decisions\n- D-1 [2026-11-21T02:00:00Z] because one language: SQL in storage\n"
    );
    let json = memory.get_json("window").await.is(200);
    let window = json.json();
    assert_eq!(window["status"]["goal"], "ship");
    assert_eq!(window["status"]["updated"], "2026-11-21T02:00:00Z");
    for field in ["task_id", "intent", "summary", "outcome", "epic"] {
        assert_eq!(window["tasks"][0][field], recorded[field], "{field}");
    }
    assert_eq!(window["decisions"][0]["reason"], "one language");
    assert_ne!(json.header("etag"), text.header("etag"));
    for (answer, accept) in [(&text, "*/*"), (&json, "application/json")] {
        let again = memory.request(Method::GET, "window").header("Accept", accept);
        let again = again.header("If-None-Match", answer.header("etag"));
        Answer::to(again).await.is(304);
    }
    record(&memory, task(2)).await.is(201);
    memory
        .get_with("window", "If-None-Match", text.header("etag"))
        .await
        .is(200);
}

#[tokio::test]
async fn no_text_of_a_writer_forms_a_heading() {
    let (_, memory) = Service::start().await.agent();
    let mut recorded = task(1);
    recorded["summary"] = json!("One.\r# Two\r\n# Three\n# Four");
    record(&memory, recorded).await.is(201);
    let document = memory.text().await;
    let document = document.replace("Goal: none", "Goal: ship\r# Five");
    memory
        .write(&(document + "\n# Decisions\n- D-1 because it\r# is: so\n"))
        .await;
    let window = memory.get("window").await.is(200);
    let headings = window
        .text()
        .split(['\n', '\r'])
        .filter(|line| line.starts_with('#'));
    let headings: Vec<&str> = headings.map(|line| line.split(" [").next().unwrap()).collect();
    assert_eq!(headings, ["# Status", "# Recent Tasks", "## T-1", "# Decisions"]);
    assert!(window.text().contains("\n> One.\n> # Two\n> # Three\n> # Four\n"));
}

#[tokio::test]
async fn a_line_that_was_edited_by_hand_is_returned() {
    let (_, memory) = Service::start().await.agent();
    record(&memory, task(1)).await.is(201);
    let document = memory
        .text()
        .await
        .replace("Step 1: Done.", "Step one: Almost done.");
    memory.write(document + "- by hand: also\n").await;
    let window = memory.get_json("window").await.is(200).json();
    assert_eq!(window["tasks"][0]["intent"], "Step one");
    assert_eq!(window["tasks"][0]["task_id"], "task-1");
    let read = memory.read("records/T-1").await;
    has(
        &read,
        json!({"intent": "Step one", "summary": "Almost done. All of it."}),
    );
    record(&memory, task(2)).await.is(201);
    let window = memory.get_json("window").await.is(200).json();
    assert_eq!(window["tasks"][2]["intent"], "by hand");
}

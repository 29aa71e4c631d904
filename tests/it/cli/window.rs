//! The commands that write tasks, decisions, status and items, and the one that reads the prompt: the requests that they send.

use super::program::User;
use super::stub::Stub;
use serde_json::{Value, json};

const MEMORY: &str = "/v1/vaults/acme/memories/agent";

/// A command, the request that it sends below the memory, and what it prints.
const COMMANDS: [(&str, &str, &str); 5] = [
    (
        "task Parser --summary Built --task-id abc --epic dsl --outcome report.json",
        r#"POST tasks {"intent": "Parser", "summary": "Built", "task_id": "abc", "epic": "dsl", "outcome": {"tests": 12}}"#,
        "recorded T-7 version 9\n",
    ),
    (
        "decision SQL --because speed --supersedes D-3",
        r#"POST decisions {"decision": "SQL", "reason": "speed", "supersedes": "D-3"}"#,
        "",
    ),
    ("set-status --goal ship", r#"PUT status {"goal": "ship"}"#, ""),
    (
        "prompt --max-tokens 900 --include rules,workflow --timezone Europe/Berlin",
        "GET prompt?include=rules%2Cworkflow&max_tokens=900&timezone=Europe%2FBerlin ",
        "the prompt",
    ),
    ("prompt --json --exclude rules", "GET prompt?exclude=rules ", ""),
];

#[tokio::test]
async fn a_command_sends_its_request() {
    let dropped = json!([{"name": "decisions", "whole": true}, {"name": "recent_tasks", "records": ["T-1", "T-2"]},
        {"name": "key_learnings", "records": []}]);
    let answer = json!({"record_id": "T-7", "version": 9, "text": "the prompt", "dropped": dropped});
    let stub = Stub::by(move |sent| {
        let status = if sent.method == "GET" { 200 } else { 201 };
        (status, "application/json", answer.to_string())
    })
    .await;
    let user = User::of(&stub.url);
    user.file("report.json", "{\"tests\": 12}");
    for (number, (line, expected, printed)) in COMMANDS.into_iter().enumerate() {
        let done = user.done(line).await;
        assert!(done.out.starts_with(printed), "{line}: {done:?}");
        let request = stub.asked()[number].clone();
        let is_read = request.method == "GET";
        assert_eq!(request.header("idempotency-key").is_none(), is_read, "{line}");
        let (target, body) = expected.split_once(" {").unwrap_or((expected.trim_end(), ""));
        let sent = format!("{} {}", request.method, request.uri);
        assert_eq!(sent, target.replacen(' ', &format!(" {MEMORY}/"), 1), "{line}");
        if !is_read {
            let body: Value = serde_json::from_str(&format!("{{{body}")).unwrap();
            assert_eq!(request.json(), body, "{line}");
        }
        if line.contains("--max-tokens") {
            let left_out = "decisions, recent_tasks (T-1 T-2), key_learnings (bullets without an id)";
            assert_eq!(done.err, format!("left out for --max-tokens: {left_out}\n"));
        }
    }
    user.file("report.json", "{");
    user.ends(2, "task x --summary y --outcome report.json").await;
    user.ends(2, "decision x --because y --supersedes 3").await;
    assert_eq!(stub.asked().len(), COMMANDS.len());
}

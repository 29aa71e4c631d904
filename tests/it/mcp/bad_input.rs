//! Invalid input is a tool error that says what to do, and saves nothing.

use super::{ask, asked, call, message, posting, refused};
use crate::harness::{Answer, Service, holds};
use reqwest::{Method, RequestBuilder};
use serde_json::json;

/// A tool with its arguments (`agent`: beside those of the memory `agent`), and what the error says.
const WRONG: &str = r#"memory_read {} → argument vault is missing
memory_read {"vault": "acme"} → argument memory is missing
memory_read {"vault": 7, "memory": "agent"} → vault must be a string
memory_read {"vault": "../x", "memory": "agent"} → vault
memory_read {"vault": "acme", "memory": "none"} → memory_list
memory_search {"vault": "acme"} → query
memory_search {"vault": "acme", "query": "a", "limit": 0} → limit
memory_list {"vault": "acme", "prefix": "/"} → prefix
memory_read agent {"version": "one"} → version
memory_read agent {"version": -1} → version
memory_read agent {"nothing": 1} → nothing
memory_read agent {"section": "No such"} → without section
memory_read agent {"version": 1, "as_of": "2026-11-22T00:00:00Z"} → together
memory_read agent {"as_of": "yesterday"} → as_of
memory_write agent {} → text
memory_write agent {"text": 1} → text
memory_write agent {"text": " \n"} → Next
memory_write agent {"text": "a\u0000b"} → NUL
memory_edit agent {"learnings": {"add": [{"content": "c"}]}} → learnings.add[0]
memory_edit agent {"learnings": "KL-1"} → learnings
memory_edit agent {"progress": {"completed": ["a"]}} → missing_in_progress
memory_record agent {} → kind
memory_record agent {"kind": "note"} → `task`, `decision`, `status`
memory_record agent {"kind": "task", "intent": "i"} → summary
memory_update agent {} → task
memory_update agent {"task": " ", "wait": true} → task
memory_update agent {"task": "t", "messages": "hello"} → messages
memory_prompt agent {"max_tokens": 0} → max_tokens
memory_prompt agent {"exclude": [1]} → a text or a list of texts
memory_prompt agent {"timezone": "Mars/Base"} → timezone
memory_history agent {} → view
memory_history agent {"view": "all"} → view
memory_history agent {"view": "log", "cursor": "x"} → next_cursor"#;

#[tokio::test]
async fn wrong_arguments_are_named() {
    let service = Service::start().await;
    service.memory("agent").write("a").await;
    for row in WRONG.lines() {
        let (request, error_text) = row.split_once(" → ").unwrap();
        let result = asked(&service, request).await;
        assert!(refused(&result).contains(error_text), "{row}: {result}");
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_number_that_would_be_rounded_is_refused_in_the_words_of_the_route() {
    let (service, memory) = Service::start().await.agent();
    for (tool, below, arguments, field) in [
        (
            "memory_record",
            "tasks",
            r#""intent": "i", "summary": "s", "outcome": {"n": NUMBER}"#,
            "outcome",
        ),
        (
            "memory_update",
            "update",
            r#""task": "t", "record": {"intent": "i", "summary": "s", "outcome": [NUMBER]}"#,
            "record.outcome",
        ),
    ] {
        let arguments = arguments.replace("NUMBER", "12345678901234567890123");
        let send = |request: RequestBuilder, body: String| {
            Answer::to(request.header("Content-Type", "application/json").body(body))
        };
        let route = memory.request(Method::POST, below);
        let problem = send(route, format!("{{{arguments}}}")).await.invalid(field);
        let kind = if below == "tasks" {
            r#""kind": "task", "#
        } else {
            ""
        };
        let arguments = format!(r#"{{"vault": "acme", "memory": "agent", {kind}{arguments}}}"#);
        let params = format!(r#"{{"name": "{tool}", "arguments": {arguments}}}"#);
        let message = format!(r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}"#);
        let answer = send(posting(&service, ""), message).await.is(200).json();
        let correct = format!("Correct {field} ");
        let parts = ["more digits", problem["detail"].as_str().unwrap(), &correct];
        holds(refused(&answer["result"]), &parts);
    }
    assert_eq!(service.count("memory_contexts").await, 0);
}

#[tokio::test]
async fn an_unknown_tool_and_arguments_that_are_no_object_are_errors_for_the_model() {
    let service = Service::start().await;
    let unknown = call(&service, "memory_forget", json!({})).await;
    holds(refused(&unknown), &["memory_read"]);
    let no_object = json!({"name": "memory_read", "arguments": [1]});
    let no_object = ask(&service, "tools/call", no_object).await;
    holds(refused(&no_object["result"]), &["object"]);
    for (method, params, code) in [
        ("tools/call", json!({"arguments": {}}), -32602),
        ("resources/read", json!({"uri": 1}), -32602),
        ("prompts/get", json!({"name": 1}), -32602),
        ("resources/read", json!({}), -32602),
        ("tools/forget", json!({}), -32601),
    ] {
        let faulty = ask(&service, method, params).await;
        assert_eq!(faulty["error"]["code"], code, "{faulty}");
    }
}

#[tokio::test]
async fn an_invalid_message_is_a_json_rpc_error() {
    let service = Service::start().await;
    let send = |media_type: &'static str, body: String| {
        Answer::to(
            posting(&service, "")
                .header("Content-Type", media_type)
                .body(body),
        )
    };
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("[]", -32600),
        ("{\"id\": 7}", -32600),
        ("\"tools/list\"", -32600),
    ] {
        let answer = send("application/json", body.to_owned()).await.is(400).json();
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
    }
    let plain = send("text/plain", "{}".to_owned()).await;
    plain.problem(415, "unsupported-media-type", None);
    let large = send("application/json", " ".repeat(2 << 20)).await;
    large.problem(413, "too-large", None);
    let list = message("tools/list", json!({}));
    for (accept, status) in [
        ("*/*;q=0.5", 200),
        ("application/*, text/event-stream", 200),
        ("application/json", 406),
        ("application/json, text/event-stream;q=0", 406),
    ] {
        let request = service.request(Method::POST, "/mcp").header("Accept", accept);
        let answer = Answer::to(request.json(&list)).await;
        assert_eq!(answer.status, status, "{accept}: {}", answer.text());
        assert!(
            status == 200
                || answer
                    .text()
                    .contains("both application/json and text/event-stream")
        );
    }
    let version = posting(&service, "").json(&list);
    let version = version.header("MCP-Protocol-Version", "1999-01-01");
    assert!(matches!(Answer::to(version).await.status, 200 | 400));
}

//! Invalid input is a tool error that says what to do, and saves nothing.

use super::{agent, ask, call, message, posting, refused};
use crate::harness::{Answer, Service};
use serde_json::{Value, json};

#[tokio::test]
async fn wrong_arguments_are_named() {
    let service = Service::start().await;
    service.memory("agent").put("a").await.is(201);
    for (tool, arguments, error_text) in [
        ("memory_read", json!({}), "argument vault is missing"),
        (
            "memory_read",
            json!({"vault": "acme"}),
            "argument memory is missing",
        ),
        (
            "memory_read",
            json!({"vault": 7, "memory": "agent"}),
            "vault must be a string",
        ),
        (
            "memory_read",
            json!({"vault": "../x", "memory": "agent"}),
            "vault",
        ),
        ("memory_read", agent(json!({"version": "one"})), "version"),
        ("memory_read", agent(json!({"version": -1})), "version"),
        ("memory_read", agent(json!({"nothing": 1})), "nothing"),
        (
            "memory_read",
            agent(json!({"section": "No such"})),
            "without section",
        ),
        (
            "memory_read",
            agent(json!({"version": 1, "as_of": "2026-11-22T00:00:00Z"})),
            "together",
        ),
        ("memory_read", agent(json!({"as_of": "yesterday"})), "as_of"),
        (
            "memory_read",
            json!({"vault": "acme", "memory": "none"}),
            "memory_list",
        ),
        ("memory_write", agent(json!({})), "text"),
        ("memory_write", agent(json!({"text": 1})), "text"),
        ("memory_write", agent(json!({"text": " \n"})), "Next"),
        ("memory_write", agent(json!({"text": "a\u{0}b"})), "NUL"),
        (
            "memory_edit",
            agent(json!({"learnings": {"add": [{"content": "c"}]}})),
            "learnings.add[0]",
        ),
        ("memory_edit", agent(json!({"learnings": "KL-1"})), "learnings"),
        (
            "memory_edit",
            agent(json!({"progress": {"completed": ["a"]}})),
            "missing_in_progress",
        ),
        ("memory_record", agent(json!({})), "kind"),
        (
            "memory_record",
            agent(json!({"kind": "note"})),
            "`task`, `decision`, `status`",
        ),
        (
            "memory_record",
            agent(json!({"kind": "task", "intent": "i"})),
            "summary",
        ),
        ("memory_update", agent(json!({})), "task"),
        ("memory_update", agent(json!({"task": " ", "wait": true})), "task"),
        (
            "memory_update",
            agent(json!({"task": "t", "messages": "hello"})),
            "messages",
        ),
        ("memory_prompt", agent(json!({"max_tokens": 0})), "max_tokens"),
        (
            "memory_prompt",
            agent(json!({"timezone": "Mars/Base"})),
            "timezone",
        ),
        ("memory_history", agent(json!({})), "view"),
        ("memory_history", agent(json!({"view": "all"})), "view"),
        (
            "memory_history",
            agent(json!({"view": "log", "cursor": "x"})),
            "next_cursor",
        ),
        ("memory_search", json!({"vault": "acme"}), "query"),
        (
            "memory_search",
            json!({"vault": "acme", "query": "a", "limit": 0}),
            "limit",
        ),
        ("memory_list", json!({"vault": "acme", "prefix": "/"}), "prefix"),
    ] {
        let result = call(&service, tool, arguments.clone()).await;
        let text = refused(&result);
        assert!(text.contains(error_text), "{tool} {arguments}: {text}");
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn a_text_over_the_limit_is_rejected_with_both_sizes() {
    let service = Service::start().await;
    let text = "x".repeat(102_401);
    let result = call(&service, "memory_write", agent(json!({"text": text}))).await;
    let error_text = refused(&result);
    assert!(
        error_text.contains("102400") && error_text.contains("102401"),
        "{error_text}"
    );
    assert_eq!(result["_meta"]["working-memory/problem"]["status"], 413);
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn an_unknown_tool_and_arguments_that_are_no_object_are_errors_for_the_model() {
    let service = Service::start().await;
    let unknown = call(&service, "memory_forget", json!({})).await;
    assert!(refused(&unknown).contains("memory_read"), "{unknown}");
    let no_object = ask(
        &service,
        "tools/call",
        json!({"name": "memory_read", "arguments": [1]}),
    )
    .await;
    assert!(refused(&no_object["result"]).contains("object"), "{no_object}");
    let nameless = ask(&service, "tools/call", json!({"arguments": {}})).await;
    assert_eq!(nameless["error"]["code"], -32602, "{nameless}");
    let method = ask(&service, "tools/forget", json!({})).await;
    assert_eq!(method["error"]["code"], -32601, "{method}");
}

#[tokio::test]
async fn an_invalid_message_is_a_json_rpc_error() {
    let service = Service::start().await;
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("[]", -32600),
        ("{\"id\": 7}", -32600),
        ("\"tools/list\"", -32600),
    ] {
        let request = posting(&service, "")
            .header("Content-Type", "application/json")
            .body(body);
        let answer = Answer::to(request).await.is(400).json();
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
    }
    let plain = posting(&service, "")
        .header("Content-Type", "text/plain")
        .body("{}");
    Answer::to(plain)
        .await
        .problem(415, "unsupported-media-type", None);
    let large = posting(&service, "")
        .header("Content-Type", "application/json")
        .body(vec![b' '; 2 * 1024 * 1024]);
    Answer::to(large).await.problem(413, "too-large", None);
    let version = posting(&service, "")
        .json(&message("tools/list", json!({})))
        .header("MCP-Protocol-Version", "1999-01-01");
    assert!(matches!(Answer::to(version).await.status, 200 | 400));
}

#[tokio::test]
async fn two_writers_of_one_version_lose_no_text() {
    let service = Service::start().await;
    service.memory("agent").put("start\n").await.is(201);
    let write = |text: &'static str| {
        call(
            &service,
            "memory_write",
            agent(json!({"text": text, "if_version": 1})),
        )
    };
    let (one, other) = tokio::join!(write("one\n"), write("other\n"));
    let failed: Vec<&Value> = [&one, &other]
        .into_iter()
        .filter(|result| result["isError"] == true)
        .collect();
    assert_eq!(failed.len(), 1, "{one} {other}");
    assert!(refused(failed[0]).contains("Read it again"));
    assert_eq!(service.count("memory_contexts").await, 2);
}

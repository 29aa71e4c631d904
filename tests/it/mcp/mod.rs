//! The Model Context Protocol over HTTP, in the messages that clients send.

mod bad_input;
mod pages;
mod protocol;
mod roles;
mod tools;
pub(crate) mod updates;

use crate::harness::{Answer, Service};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// A request with the headers of a client.
pub(super) fn posting(service: &Service, query: &str) -> RequestBuilder {
    service
        .request(Method::POST, &format!("/mcp{query}"))
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2025-11-25")
}

/// A request message.
pub(super) fn message(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// The response to a message: its result or its error.
pub(super) async fn ask(service: &Service, method: &str, params: Value) -> Value {
    let request = posting(service, "").json(&message(method, params));
    Answer::to(request).await.is(200).json()
}

/// The error code of the response to a message.
pub(super) async fn code(service: &Service, method: &str, params: Value) -> Value {
    ask(service, method, params).await["error"]["code"].clone()
}

/// A schema, or the one that it refers to.
pub(super) fn resolved<'s>(whole: &'s Value, schema: &'s Value) -> &'s Value {
    match schema["$ref"].as_str() {
        Some(reference) => whole.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// The result of a tool.
pub(super) async fn call(service: &Service, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let answer = ask(service, "tools/call", params).await;
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].clone()
}

/// The result of a tool in one line: its name, `agent` where the arguments are about the memory `agent` of `acme`, and the others.
pub(super) async fn asked(service: &Service, request: &str) -> Value {
    let (tool, arguments) = request.split_once(' ').unwrap();
    let arguments = match arguments.strip_prefix("agent ") {
        Some(more) => agent(serde_json::from_str(more).unwrap()),
        None => serde_json::from_str(arguments).unwrap(),
    };
    call(service, tool, arguments).await
}

/// The structured content of a successful tool call on the memory `agent` of `acme`.
#[track_caller]
pub(super) fn done(result: &Value) -> &Value {
    assert_eq!(result["isError"], false, "{result}");
    &result["structuredContent"]
}

/// The error text of a failed tool call.
#[track_caller]
pub(super) fn refused(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    assert!(result["structuredContent"].is_null(), "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("\nNext: "), "{text}");
    text
}

/// The arguments of a tool with the memory `agent` of `acme`.
pub(super) fn agent(more: Value) -> Value {
    let mut arguments = json!({"vault": "acme", "memory": "agent"});
    let object = arguments.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    arguments
}

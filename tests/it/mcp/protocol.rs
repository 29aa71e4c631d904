//! Versions, lists, prompts: the protocol around the tools.

use super::{ask, code, message, posting};
use crate::harness::{Answer, Service, each, has, holds};
use reqwest::Method;
use serde_json::{Value, json};

/// The headers and metadata of every request of the newest protocol version.
fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    message(method, params)
}

async fn ask_modern(service: &Service, method: &str, params: Value) -> Value {
    let mut request = service
        .request(Method::POST, "/mcp")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", method);
    if let Some(name) = params.get("name").or(params.get("uri")).and_then(Value::as_str) {
        request = request.header("Mcp-Name", name);
    }
    Answer::to(request.json(&modern(method, params))).await.json()
}

#[tokio::test]
async fn every_version_is_served_without_a_session() {
    let service = Service::start().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let request = service.request(Method::POST, "/mcp");
        let request = request.header("Accept", "application/json, text/event-stream");
        let answer = Answer::to(request.json(&message("initialize", params)))
            .await
            .is(200);
        assert!(!answer.headers.contains_key("mcp-session-id"));
        let answer = answer.json();
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        let capabilities = &answer["result"]["capabilities"];
        for name in ["tools", "resources", "prompts"] {
            assert!(capabilities[name].is_object(), "{version}: {capabilities}");
        }
        has(
            capabilities,
            json!({"/resources/subscribe": null, "completions": null}),
        );
        has(&answer["result"], json!({"instructions~": "memory_edit"}));
    }
    let reply = posting(&service, "").json(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    Answer::to(reply).await.is(202);
    assert_eq!(ask(&service, "ping", json!({})).await["result"], json!({}));
    let get = service.get("/mcp").await;
    get.problem(405, "method-not-allowed", None);
}

#[tokio::test]
async fn the_newest_version_discovers_lists_and_calls_in_single_requests() {
    let service = Service::start().await;
    let discovered = ask_modern(&service, "server/discover", json!({})).await;
    let versions = discovered["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{discovered}");
    let tools = ask_modern(&service, "tools/list", json!({})).await;
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 11);
    let arguments = json!({"vault": "acme", "memory": "agent", "text": "a"});
    let write = json!({"name": "memory_write", "arguments": arguments});
    let written = ask_modern(&service, "tools/call", write).await;
    assert_eq!(written["result"]["structuredContent"]["version"], 1, "{written}");
}

#[tokio::test]
async fn the_tools_have_annotations_and_plain_schemas() {
    let service = Service::start().await;
    let list = ask(&service, "tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    let hints = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["annotations"].clone()
    };
    for name in "memory_read memory_prompt memory_history memory_search memory_list".split(' ') {
        assert_eq!(hints(name)["readOnlyHint"], true, "{name}");
    }
    for name in ["memory_edit", "memory_write", "memory_update", "memory_record"] {
        assert_eq!(hints(name)["readOnlyHint"], false, "{name}");
        assert_eq!(hints(name)["destructiveHint"], false, "{name}");
    }
    assert_eq!(hints("memory_write")["idempotentHint"], true);
    assert_eq!(hints("memory_handoff")["idempotentHint"], true);
    assert_eq!(hints("memory_update")["openWorldHint"], true);
    // Strict clients refuse what is not standard, or is nothing for arguments.
    let unwanted =
        ["\"format\"", "\"const\"", "writeOnly", "$ref"].map(|word| list.to_string().contains(word));
    assert_eq!(unwanted, [false; 4], "{list}");
    let beyond = json!({"cursor": "x"});
    assert_eq!(code(&service, "tools/list", beyond).await, -32602);
}

#[tokio::test]
async fn prompts_contain_the_text_of_the_memory() {
    let service = Service::start().await;
    let text = "# Description\nThe parser.\n";
    service.memory("agent").write(text).await;
    let list = ask(&service, "prompts/list", json!({})).await;
    let names = each(&list["result"]["prompts"], "name");
    assert_eq!(names, ["resume", "wrap_up", "review_memory"]);
    for name in names {
        let arguments = json!({"vault": "acme", "memory": "agent"});
        let prompt = json!({"name": name, "arguments": arguments});
        let prompt = ask(&service, "prompts/get", prompt).await;
        holds(
            prompt["result"].to_string(),
            &["The parser.", "acme", "\"description\":\""],
        );
    }
    let fresh = json!({"name": "resume", "arguments": {"vault": "acme", "memory": "new", "task": "begin"}});
    let fresh = ask(&service, "prompts/get", fresh).await["result"].to_string();
    holds(&fresh, &["there is none yet", "begin"]);
    for bad in [
        json!({"name": "resume"}),
        json!({"name": "none", "arguments": {}}),
        json!({"name": "wrap_up", "arguments": {"vault": "acme", "memory": "agent", "x": "y"}}),
        json!({"name": "resume", "arguments": {"vault": "acme", "memory": "agent", "task": 5}}),
    ] {
        assert_eq!(code(&service, "prompts/get", bad).await, -32602);
    }
}

#[tokio::test]
async fn no_message_begins_something_that_lasts() {
    let service = Service::start().await;
    service.memory("agent").write("a").await;
    let uri = "memory://acme/agent/context";
    let subscribed = code(&service, "resources/subscribe", json!({"uri": uri})).await;
    assert_eq!(subscribed, -32601);
    let filter = json!({"notifications": {"resourceSubscriptions": [uri]}});
    let listening = ask_modern(&service, "subscriptions/listen", filter).await;
    assert_eq!(listening["error"]["code"], -32601, "{listening}");
}

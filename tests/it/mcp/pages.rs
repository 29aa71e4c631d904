//! Resources and pages.

use super::{agent, ask, call, done};
use crate::harness::{Memory, Service, each, has};
use serde_json::{Value, json};

async fn read(service: &Service, uri: &str) -> Value {
    ask(service, "resources/read", json!({"uri": uri})).await
}

#[tokio::test]
async fn all_resources_of_a_memory_can_be_read() {
    let service = Service::start().await;
    let edit = json!({"learnings": {"add": [{"reason": "r", "content": "a fact"}]}});
    done(&call(&service, "memory_edit", agent(edit)).await);
    done(&call(&service, "memory_handoff", agent(json!({"refresh": true}))).await);
    for (uri, media_type, holds) in [
        ("memory://guidance", "text/markdown", "Keep one concise document"),
        (
            "memory://guidance/managed",
            "text/markdown",
            "A line that you leave out is archived",
        ),
        ("memory://acme/agent/context", "text/markdown", "a fact"),
        ("memory://acme/agent/prompt", "text/markdown", "a fact"),
        ("memory://acme/agent/window", "text/markdown", ""),
        ("memory://acme/agent/handoff", "text/markdown", "KL-1"),
        ("memory://acme/agent/contexts/1", "text/markdown", "a fact"),
        ("memory://acme/agent/records/KL-1", "application/json", "a fact"),
    ] {
        let contents = read(&service, uri).await["result"]["contents"][0].clone();
        has(
            &contents,
            json!({"uri": uri, "mimeType": media_type, "text~": holds}),
        );
        assert!(contents["text"].is_string(), "{uri}: {contents}");
    }
    for uri in [
        "memory://acme/none/context",
        "memory://acme/agent/contexts/9",
        "memory://acme/agent/records/KL-9",
    ] {
        let answer = read(&service, uri).await;
        assert_eq!(answer["error"]["code"], -32002, "{uri}: {answer}");
    }
    for uri in ["memory://acme", "file:///etc/passwd", "memory://../agent/context"] {
        let answer = read(&service, uri).await;
        assert_eq!(answer["error"]["code"], -32602, "{uri}: {answer}");
    }
    let templates = ask(&service, "resources/templates/list", json!({})).await;
    has(&templates, json!({"/result/resourceTemplates#": 6}));
}

#[tokio::test]
async fn lists_continue_after_their_cursor() {
    let service = Service::start().await;
    for number in 0..60 {
        let (vault, id) = (format!("v{}", number % 3), format!("m{number:02}"));
        Memory::new(&service, &vault, &id).write("a").await;
    }
    let (mut uris, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = match cursor {
            Value::Null => json!({}),
            cursor => json!({ "cursor": cursor }),
        };
        let page = ask(&service, "resources/list", params).await["result"].clone();
        for resource in page["resources"].as_array().unwrap() {
            uris.push(resource["uri"].as_str().unwrap().to_owned());
        }
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(uris.len(), 62);
    assert_eq!(uris[..2], ["memory://guidance", "memory://guidance/managed"]);
    let bad = ask(&service, "resources/list", json!({"cursor": "zz"})).await;
    assert_eq!(bad["error"]["code"], -32602, "{bad}");

    for number in 0..60 {
        service.memory(&format!("m{number:02}")).write("a word").await;
    }
    let first = call(&service, "memory_list", json!({"vault": "acme"})).await;
    let second = json!({"vault": "acme", "cursor": done(&first)["next_cursor"]});
    let second = call(&service, "memory_list", second).await;
    has(done(&first), json!({"items#": 50}));
    has(done(&second), json!({"items#": 10}));
    let found = json!({"vault": "acme", "query": "word", "limit": 40});
    let found = call(&service, "memory_search", found).await;
    let rest = json!({"vault": "acme", "query": "word", "limit": 40, "cursor": done(&found)["next_cursor"]});
    let rest = call(&service, "memory_search", rest).await;
    has(done(&rest), json!({"items#": 20}));
}

#[tokio::test]
async fn a_memory_without_a_document_is_listed_and_is_no_resource() {
    let service = Service::start().await;
    service.memory("written").write("a word").await;
    let items = json!([{"content": "x"}]);
    service.memory("items").put_json("items/a", items).await.is(200);
    let listed = call(&service, "memory_list", json!({"vault": "acme"})).await;
    has(
        done(&listed),
        json!({"/items/*/memory_id": ["items", "written"], "/items/*/version": [0, 1]}),
    );
    let page = ask(&service, "resources/list", json!({})).await["result"].clone();
    let uris = each(&page["resources"], "uri").join(" ");
    let expected = "memory://guidance memory://guidance/managed memory://acme/written/context";
    assert_eq!(uris, expected);
}

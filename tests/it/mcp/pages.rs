//! Resources and pages.

use super::{agent, ask, call, code, done};
use crate::harness::{Memory, Service, each, has};
use serde_json::{Value, json};

async fn read(service: &Service, uri: &str) -> Value {
    ask(service, "resources/read", json!({"uri": uri})).await
}

/// The resources of a memory, with their media types and a part of their texts.
const RESOURCES: &str = "memory://guidance | text/markdown | Keep one concise document
memory://guidance/managed | text/markdown | A line that you leave out is archived
memory://acme/agent/context | text/markdown | a fact
memory://acme/agent/prompt | text/markdown | a fact
memory://acme/agent/window | text/markdown | 
memory://acme/agent/handoff | text/markdown | KL-1
memory://acme/agent/contexts/1 | text/markdown | a fact
memory://acme/agent/records/KL-1 | application/json | a fact";

#[tokio::test]
async fn all_resources_of_a_memory_can_be_read() {
    let service = Service::start().await;
    let edit = json!({"learnings": {"add": [{"reason": "r", "content": "a fact"}]}});
    done(&call(&service, "memory_edit", agent(edit)).await);
    done(&call(&service, "memory_handoff", agent(json!({"refresh": true}))).await);
    for row in RESOURCES.lines() {
        let [uri, media_type, holds] = row.split(" | ").collect::<Vec<_>>().try_into().unwrap();
        let contents = read(&service, uri).await["result"]["contents"][0].clone();
        has(
            &contents,
            json!({"uri": uri, "mimeType": media_type, "text~": holds}),
        );
        assert!(contents["text"].is_string(), "{uri}: {contents}");
    }
    for (below, code) in [
        ("acme/none/context", -32002),
        ("acme/agent/contexts/9", -32002),
        ("acme/agent/records/KL-9", -32002),
        ("acme", -32602),
        ("../agent/context", -32602),
    ] {
        let answer = read(&service, &format!("memory://{below}")).await;
        assert_eq!(answer["error"]["code"], code, "{below}: {answer}");
    }
    let file = read(&service, "file:///etc/passwd").await;
    assert_eq!(file["error"]["code"], -32602);
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
    // More vaults than a page of them has.
    service
        .execute(
            "INSERT INTO memories (vault_id, memory_id, head_version, head_context_id, created_at, changed_at)
             SELECT 'w' || number, 'm', 1, 'c', now(), now() FROM generate_series(1, 500) AS number;
             INSERT INTO memory_contexts (vault_id, memory_id, context_id, actor_id, context, creation_time, version,
                                          source, bytes, log)
             SELECT 'w' || number, 'm', 'c', 'a', 'x', now(), 1, 'put', 1, '' FROM generate_series(1, 500) AS number",
        )
        .await;
    let (mut uris, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = match cursor {
            Value::Null => json!({}),
            cursor => json!({ "cursor": cursor }),
        };
        let page = ask(&service, "resources/list", params).await["result"].clone();
        uris.extend(each(&page["resources"], "uri").into_iter().map(str::to_owned));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(uris.len(), 562);
    assert_eq!(uris[..2], ["memory://guidance", "memory://guidance/managed"]);
    let bad = json!({"cursor": "zz"});
    assert_eq!(code(&service, "resources/list", bad).await, -32602);

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
    let items = json!({"/items/*/memory_id": ["items", "written"], "/items/*/version": [0, 1]});
    has(done(&listed), items);
    let page = ask(&service, "resources/list", json!({})).await["result"].clone();
    let uris = each(&page["resources"], "uri").join(" ");
    let expected = "memory://guidance memory://guidance/managed memory://acme/written/context";
    assert_eq!(uris, expected);
}

//! Keys: a reader views, a writer edits, and another tenant sees nothing.

use crate::access::first_admin;
use crate::harness::{Answer, Service};
use reqwest::Method;
use serde_json::json;

const TOOL: &str = "/v1/vaults/acme/memory-tool?root=agent";

#[tokio::test]
async fn a_reader_views_and_does_not_edit() {
    let service = Service::start().await;
    let admin = first_admin(&service).await;
    let create = json!({"command": "create", "path": "/memories/a", "file_text": "x"});
    Answer::to(admin.request(Method::POST, TOOL).json(&create))
        .await
        .is(200);
    let reader = admin
        .make(json!({"name": "r", "role": "reader", "vaults": ["acme"]}))
        .await;
    let send = async |command| Answer::to(reader.request(Method::POST, TOOL).json(&command)).await;
    let view = send(json!({"command": "view", "path": "/memories/a"}))
        .await
        .is(200)
        .json();
    assert_eq!(view["is_error"], false, "{view}");
    let unknown = send(json!({"command": "undo"})).await.is(200).json();
    assert_eq!(unknown["is_error"], true, "{unknown}");
    for edit in [
        create,
        json!({"command": "create"}),
        json!({"command": "str_replace", "path": "/memories/a", "old_str": "x", "new_str": "y"}),
        json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "y"}),
        json!({"command": "delete", "path": "/memories/a"}),
        json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"}),
    ] {
        send(edit).await.problem(403, "forbidden", None);
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

#[tokio::test]
async fn the_actor_of_an_edit_is_the_key_and_a_vault_of_another_tenant_is_not_found() {
    let service = Service::start().await;
    let admin = first_admin(&service).await;
    let writer = admin
        .make(json!({"name": "w", "role": "writer", "vaults": ["acme"]}))
        .await;
    let create = json!({"command": "create", "path": "/memories/a", "file_text": "x"});
    let made = Answer::to(writer.request(Method::POST, TOOL).json(&create))
        .await
        .is(200)
        .json();
    let id = made["memory_id"].as_str().unwrap();
    let path = format!("/v1/vaults/acme/memories/{id}/contexts");
    let versions = Answer::to(writer.request(Method::GET, &path))
        .await
        .is(200)
        .json();
    assert_eq!(versions["items"][0]["actor_id"], "w");
    let spoken = writer
        .request(Method::POST, TOOL)
        .header("X-Actor-Id", "somebody");
    Answer::to(spoken.json(&create))
        .await
        .problem(403, "forbidden", Some("X-Actor-Id"));
    let foreign = writer.request(Method::POST, "/v1/vaults/other/memory-tool?root=agent");
    Answer::to(foreign.json(&create))
        .await
        .problem(404, "not-found", None);
}

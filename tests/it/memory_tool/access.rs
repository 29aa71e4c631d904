//! Keys: a reader views, a writer edits, and another tenant sees nothing.

use crate::access::with_admin;
use crate::harness::Answer;
use reqwest::Method;
use serde_json::json;

const TOOL: &str = "/v1/vaults/acme/memory-tool?root=agent";

#[tokio::test]
async fn a_reader_views_and_does_not_edit() {
    let (service, admin) = with_admin().await;
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
        send(edit).await.forbidden();
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

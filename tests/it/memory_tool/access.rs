//! Keys: a reader views, a writer edits, and another tenant sees nothing.

use crate::access::with_admin;
use serde_json::json;

const TOOL: &str = "/v1/vaults/acme/memory-tool?root=agent";

#[tokio::test]
async fn a_reader_views_and_does_not_edit() {
    let (service, admin) = with_admin().await;
    let create = json!({"command": "create", "path": "/memories/a", "file_text": "x"});
    admin.post(TOOL, &create).await.is(200);
    let reader = json!({"name": "r", "role": "reader", "vaults": ["acme"]});
    let reader = admin.make(reader).await;
    for (command, is_error) in [
        (json!({"command": "view", "path": "/memories/a"}), false),
        (json!({"command": "undo"}), true),
    ] {
        let answer = reader.post(TOOL, &command).await.is(200).json();
        assert_eq!(answer["is_error"], is_error, "{answer}");
    }
    for edit in [
        create,
        json!({"command": "create"}),
        json!({"command": "str_replace", "path": "/memories/a", "old_str": "x", "new_str": "y"}),
        json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "y"}),
        json!({"command": "delete", "path": "/memories/a"}),
        json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"}),
    ] {
        reader.post(TOOL, &edit).await.forbidden();
    }
    assert_eq!(service.count("memory_contexts").await, 1);
}

//! Paths: normalized, limited, and never outside the root.

use super::Files;
use serde_json::json;

#[tokio::test]
async fn a_name_is_normalized_to_nfc() {
    let (_, files) = Files::start("agent").await;
    files.create("/memories/cafe\u{301}.md", "x").await;
    assert!(files.view("/memories/caf\u{e9}.md").await.ends_with("     1\tx"));
    assert!(
        files
            .view("/memories/cafe\u{301}.md")
            .await
            .ends_with("     1\tx")
    );
    files
        .refused(json!({"command": "create", "path": "/memories/caf\u{e9}.md", "file_text": ""}))
        .await;
    assert!(files.view("/memories").await.contains("\t/memories/caf\u{e9}.md"));
}

#[tokio::test]
async fn a_trailing_slash_is_removed() {
    let (_, files) = Files::start("agent").await;
    assert_eq!(
        files
            .told(json!({"command": "create", "path": "/memories/a/", "file_text": "x"}))
            .await,
        "File created successfully at: /memories/a"
    );
    assert!(
        files
            .view("/memories/")
            .await
            .ends_with("1B\t/memories\n1B\t/memories/a")
    );
}

#[tokio::test]
async fn paths_outside_the_root_and_ambiguous_ones_are_rejected_by_every_command() {
    let (service, files) = Files::start("agent").await;
    let long = format!("/memories/{}", "x".repeat(1_015));
    let deep = format!("/memories{}", "/d".repeat(21));
    for path in [
        "",
        "/",
        "memories/a",
        "/memoriesx/a",
        "/memories.txt",
        "/Memories/a",
        "//memories/a",
        "/etc/passwd",
        "/memories/..",
        "/memories/a/../../etc",
        "/memories/./a",
        "/memories/a//b",
        "/memories/a//",
        "/memories/a\\b",
        "/memories/..\\..\\etc",
        "/memories/%2e%2e/etc",
        "/memories/%2E%2E%2Fetc",
        "/memories/%2E./etc",
        "/memories/a%5Cb",
        "/memories/a%00",
        "/memories/a\u{0}",
        "/memories/a\nb",
        "/memories/\u{7f}",
        "/memories/\u{85}",
        &long,
        &deep,
    ] {
        for command in [
            json!({"command": "view", "path": path}),
            json!({"command": "create", "path": path, "file_text": "x"}),
            json!({"command": "str_replace", "path": path, "old_str": "x", "new_str": "y"}),
            json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"}),
            json!({"command": "delete", "path": path}),
            json!({"command": "rename", "old_path": path, "new_path": "/memories/b"}),
            json!({"command": "rename", "old_path": "/memories/b", "new_path": path}),
        ] {
            files.refused(command).await;
        }
    }
    assert_eq!(service.count("memories").await, 0);
}

#[tokio::test]
async fn the_longest_path_is_accepted_and_a_rename_that_would_exceed_it_is_rejected() {
    let (_, files) = Files::start("agent").await;
    let longest = format!("/memories/d/{}", "é".repeat(506));
    assert_eq!(longest.len(), 1_024);
    files.create(&longest, "x").await;
    assert!(files.view(&longest).await.ends_with("     1\tx"));
    let deepest = format!("/memories{}/f", "/e".repeat(18));
    files.create(&deepest, "y").await;
    for (from, to) in [("/memories/d", "/memories/dd"), ("/memories/e", "/memories/x/e")] {
        files
            .refused(json!({"command": "rename", "old_path": from, "new_path": to}))
            .await;
    }
    assert!(files.view(&longest).await.ends_with("     1\tx"));
    assert!(files.view(&deepest).await.ends_with("     1\ty"));
    files
        .told(json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/g"}))
        .await;
}

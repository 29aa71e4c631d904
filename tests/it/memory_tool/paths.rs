//! Paths: normalized, limited, and never outside the root.

use super::Files;
use serde_json::json;

#[tokio::test]
async fn a_name_is_normalized_to_nfc_and_a_trailing_slash_is_removed() {
    let (_, files) = Files::start("agent").await;
    files.create("/memories/cafe\u{301}.md", "x").await;
    for name in ["caf\u{e9}.md", "cafe\u{301}.md"] {
        assert!(
            files
                .view(&format!("/memories/{name}"))
                .await
                .ends_with("     1\tx")
        );
    }
    let again = json!({"command": "create", "path": "/memories/caf\u{e9}.md", "file_text": ""});
    files.refused(again).await;
    let slash = r#"{"command": "create", "path": "/memories/a/", "file_text": "x"} → File created successfully at: /memories/a"#;
    files.commands(false, slash).await;
    let all = "2B\t/memories\n1B\t/memories/a\n1B\t/memories/caf\u{e9}.md";
    assert!(files.view("/memories/").await.ends_with(all));
}

#[tokio::test]
async fn paths_outside_the_root_and_ambiguous_ones_are_rejected_by_every_command() {
    let (service, files) = Files::start("agent").await;
    let long = format!("/memories/{}", "x".repeat(1_015));
    let deep = format!("/memories{}", "/d".repeat(21));
    let outside = "||/|memories/a|/memoriesx/a|/memories.txt|/Memories/a|//memories/a|/etc/passwd|/memories/..|\
                   /memories/a/../../etc|/memories/./a|/memories/a//b|/memories/a//";
    let ambiguous = "/memories/a\\b|/memories/..\\..\\etc|/memories/%2e%2e/etc|/memories/%2E%2E%2Fetc|/memories/%2E./etc|\
                     /memories/a%5Cb|/memories/a%00|/memories/a\u{0}|/memories/a\nb|/memories/\u{7f}|/memories/\u{85}";
    for path in outside
        .split('|')
        .chain(ambiguous.split('|'))
        .chain([&*long, &*deep])
    {
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
        let rename = json!({"command": "rename", "old_path": from, "new_path": to});
        files.refused(rename).await;
    }
    assert!(files.view(&longest).await.ends_with("     1\tx"));
    assert!(files.view(&deepest).await.ends_with("     1\ty"));
    let rename = json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/g"});
    files.told(rename).await;
}

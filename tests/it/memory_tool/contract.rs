//! The texts of the reference implementation, and input that it accepts and a service cannot.

use super::Files;
use crate::harness::{Answer, Service};
use reqwest::Method;
use serde_json::{Value, json};

/// Commands in their order, and the answer of each.
const ANSWERS: &str = r#"{"command": "create", "path": "/memories/notes.md", "file_text": "one\ntwo\nthree\n"} → File created successfully at: /memories/notes.md
{"command": "view", "path": "/memories/notes.md"} → Here's the content of /memories/notes.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\t
{"command": "view", "path": "/memories/notes.md", "view_range": [2, 3]} → Here's the content of /memories/notes.md with line numbers:\n     2\ttwo\n     3\tthree
{"command": "str_replace", "path": "/memories/notes.md", "old_str": "two", "new_str": "2"} → The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\t2\n     3\tthree\n     4\t
{"command": "insert", "path": "/memories/notes.md", "insert_line": 0, "insert_text": "zero\n"} → The file /memories/notes.md has been edited.
{"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/d/n.md"} → Successfully renamed /memories/notes.md to /memories/d/n.md"#;

#[tokio::test]
async fn every_command_returns_the_text_of_the_reference() {
    let (_, files) = Files::start("agent").await;
    let head =
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n";
    assert_eq!(files.view("/memories").await, format!("{head}0B\t/memories"));
    files.commands(false, ANSWERS).await;
    files.create("/memories/d/.hidden", "12345").await;
    files.create("/memories/d/e/f", "").await;
    let all = "22B\t/memories\n22B\t/memories/d/\n0B\t/memories/d/e/\n17B\t/memories/d/n.md";
    assert_eq!(files.view("/memories").await, format!("{head}{all}"));
    let delete = r#"{"command": "delete", "path": "/memories/d"} → Successfully deleted /memories/d"#;
    files.commands(false, delete).await;
    assert!(files.view("/memories").await.ends_with("items:\n0B\t/memories"));
}

/// Commands, and the error of each.
const ERRORS: &str = r#"{"command": "view", "path": "/memories/none"} → The path /memories/none does not exist. Please provide a valid path.
{"command": "view", "path": "/memories/a/none"} → The path /memories/a/none does not exist. Please provide a valid path.
{"command": "create", "path": "/memories/d", "file_text": ""} → File /memories/d already exists
{"command": "create", "path": "/memories", "file_text": ""} → File /memories already exists
{"command": "str_replace", "path": "/memories/none", "old_str": "x", "new_str": ""} → The path /memories/none does not exist. Please provide a valid path.
{"command": "str_replace", "path": "/memories/d", "old_str": "x", "new_str": ""} → The path /memories/d is not a file.
{"command": "str_replace", "path": "/memories/a", "old_str": "z", "new_str": ""} → No replacement was performed, old_str `z` did not appear verbatim in /memories/a.
{"command": "str_replace", "path": "/memories/a", "old_str": "x", "new_str": ""} → No replacement was performed. Multiple occurrences of old_str `x` in lines: 1, 2. Please ensure it is unique
{"command": "insert", "path": "/memories", "insert_line": 0, "insert_text": "x"} → The path /memories is not a file.
{"command": "insert", "path": "/memories/a", "insert_line": 3, "insert_text": "x"} → Invalid `insert_line` parameter: 3. It should be within the range [0, 2].
{"command": "delete", "path": "/memories/none"} → The path /memories/none does not exist
{"command": "delete", "path": "/memories/"} → Cannot delete the /memories directory itself
{"command": "rename", "old_path": "/memories/none", "new_path": "/memories/m"} → The path /memories/none does not exist
{"command": "rename", "old_path": "/memories/a", "new_path": "/memories/d/b"} → The destination /memories/d/b already exists
{"command": "rename", "old_path": "/memories/none", "new_path": "/memories/d"} → The destination /memories/d already exists
{"command": "rename", "old_path": "/memories", "new_path": "/memories/m"} → Cannot rename the /memories directory itself
{"command": "view", "path": "/etc/passwd"} → Path must start with /memories, got: /etc/passwd
{"command": "view", "path": "/memories/../etc/passwd"} → Path /memories/../etc/passwd would escape /memories directory
{} → ~`command`
{"command": 1} → ~`command`
{"command": ["view"], "path": "/memories"} → ~
{"path": "/memories"} → ~
{"command": "view"} → ~`path`
{"command": "view", "path": 1} → ~
{"command": "view", "path": ["/memories"]} → ~`path`
{"command": "create", "path": "/memories/a"} → ~`file_text`
{"command": "create", "path": "/memories/a", "file_text": 1} → ~`file_text`
{"command": "str_replace", "path": "/memories/a"} → ~`old_str`
{"command": "str_replace", "path": "/memories/a", "old_str": "a", "new_str": 1} → ~`new_str`
{"command": "insert", "path": "/memories/a", "insert_line": "1", "insert_text": "a"} → ~`insert_line`
{"command": "insert", "path": "/memories/a", "insert_line": 1.0, "insert_text": "a"} → ~`insert_line`
{"command": "insert", "path": "/memories/a", "insert_line": 1} → ~`insert_text`
{"command": "delete"} → ~`path`
{"command": "rename", "old_path": "/memories/a"} → ~`new_path`
{"command": "undo"} → ~Unknown command: undo
{"command": "undo_edit", "path": "/memories/a"} → ~
{"command": "create", "path": "/memories/a/b", "file_text": ""} → ~
{"command": "create", "path": "/memories/a/b/c", "file_text": ""} → ~
{"command": "rename", "old_path": "/memories/d", "new_path": "/memories/a/b"} → ~
{"command": "rename", "old_path": "/memories/d", "new_path": "/memories/d/e"} → ~
{"command": "create", "path": "/memories/n", "file_text": "a\u0000"} → ~"#;

#[tokio::test]
async fn errors_have_the_text_of_the_reference() {
    let (service, files) = Files::start("agent").await;
    files.create("/memories/a", "x\nx\n").await;
    files.create("/memories/d/b", "y").await;
    files.commands(true, ERRORS).await;
    for command in [
        json!({"command": "create", "path": "/memories/n", "file_text": "x".repeat(102_401)}),
        json!({"command": "str_replace", "path": "/memories/d/b", "old_str": "y", "new_str": "x".repeat(102_401)}),
        json!({"command": "insert", "path": "/memories/d/b", "insert_line": 0, "insert_text": "x".repeat(102_399)}),
    ] {
        files.refused(command).await;
    }
    assert_eq!(service.counts(["memories", "memory_contexts"]).await, [2, 2]);
}

#[tokio::test]
async fn the_error_for_a_range_without_lines_names_the_valid_range() {
    let (_, files) = Files::start("agent").await;
    files.create("/memories/a", "1\n2\n3").await;
    for range in r#"[4, 5]/[3, 2]/[1, -2]/[1]/[1, 2, 3]/["1", 2]/[1.5, 2]/[]/1/"1-2"/{}"#.split('/') {
        let range: Value = serde_json::from_str(range).unwrap();
        let view = json!({"command": "view", "path": "/memories/a", "view_range": range});
        let refused = files.refused(view).await;
        assert!(refused.contains("[1, 3]"), "{range}: {refused}");
    }
    for range in [json!(null), json!([1, -1]), json!([0, 99])] {
        let view = json!({"command": "view", "path": "/memories/a", "view_range": range});
        assert!(files.told(view).await.ends_with("     3\t3"));
    }
}

#[tokio::test]
async fn optional_members_may_be_omitted_and_unknown_ones_are_ignored() {
    let (_, files) = Files::start("agent").await;
    files.create("/memories/a", "xyz").await;
    let table = r#"
        {"command": "str_replace", "path": "/memories/a", "old_str": "x"} → ~edited
        {"command": "str_replace", "path": "/memories/a", "old_str": "y", "new_str": null, "reason": "tidy"} → ~edited"#;
    files.commands(false, table).await;
    assert!(files.view("/memories/a").await.ends_with("\n     1\tz"));
}

#[tokio::test]
async fn only_an_unreadable_request_is_a_problem() {
    let service = Service::start().await;
    let tool = "POST /v1/vaults/acme/memory-tool";
    let view = r#"{"command": "view", "path": "/memories"}"#;
    service
        .requests(&format!(
            "
            {tool} < {view} → 422 invalid root
            {tool}?root= < {view} → 422 invalid root
            {tool}?root=a/b < {view} → 422 invalid root
            {tool}?root=a&root=b < {view} → 422 invalid root
            {tool}?root=a&more=1 < {view} → 422 invalid more
            {tool}?root=a | Content-Type: application/json < {{ → 400 malformed body
            {tool}?root=a < [] → 422 invalid body
            {tool}?root=a | Content-Type: application/json < null → 422 invalid body
            {tool}?root=a < {{}} → 200
            POST /v1/vaults/.a/memory-tool?root=a < {{}} → 422 invalid vault_id
            POST /v1/vaults/acme/memory-tool?root=a < {view} → 200"
        ))
        .await;
    let untyped = service.request(Method::POST, "/v1/vaults/acme/memory-tool?root=a");
    Answer::to(untyped.body(view)).await.is(415);
}

#[tokio::test]
async fn roots_and_vaults_are_separate() {
    let (service, files) = Files::start("one").await;
    let other = Files::of(&service, "two");
    let first = files.create("/memories/a", "one").await;
    assert_ne!(other.create("/memories/a", "two").await, first);
    let delete = json!({"command": "delete", "path": "/memories/a"});
    files.told(delete).await;
    assert!(other.view("/memories/a").await.ends_with("\ttwo"));
    let view = json!({"command": "view", "path": "/memories/a"});
    let foreign = service.post("/v1/vaults/other/memory-tool?root=two", &view).await;
    assert_eq!(foreign.is(200).json()["is_error"], true);
}

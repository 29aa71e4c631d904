use super::{refresh, section};
use crate::harness::Service;
use serde_json::{Value, json};
use std::time::Duration;

const DOCUMENT: &str = "# Key Learnings\n- KL-1 because a: one\n";

#[tokio::test]
async fn a_window_is_a_duration_and_handoffs_are_fresh_per_window() {
    let (service, memory) = Service::start().await.with_memory("m");
    memory.write(DOCUMENT).await;
    for bad in ["PT0S", "0h", "-PT1H", "soon", "P400D", "", "P1Y", "P1M"] {
        let answer = refresh(&memory, &format!("?window={bad}"), None).await;
        answer.invalid("window");
    }
    // A memory that is younger than the window uses all its versions.
    let day = r#"POST handoff/refresh?window=P1D → 201 {"window": "P1D"}"#;
    let day = memory.requests(day).await.json();
    let recent_changes =
        |handoff: &Value| section(handoff["markdown"].as_str().unwrap(), "Recent Changes").len();
    assert_eq!(recent_changes(&day), 1);
    // Another window needs another handoff; without one the configured window is used.
    memory
        .requests(
            r#"
            POST handoff/refresh?window=PT6H → 201 {"window": "PT6H"}
            POST handoff/refresh?window=1h → 201 {"window": "PT1H"}
            POST handoff/refresh?window=PT5M → 201
            POST handoff/refresh → 201 {"window": "PT2H", "refreshed": true}
            POST handoff/refresh?window=PT5M → 201
            POST handoff/refresh?window=PT2H → 201 {"window": "PT2H"}
            POST handoff/refresh?window=PT2H → 200 {"refreshed": false}"#,
        )
        .await;
    service.clock.advance(Duration::from_secs(5 * 3_600));
    let now = refresh(&memory, "", None).await.is(201).json();
    assert_eq!(recent_changes(&now), 0);
    service.clock.advance(Duration::from_secs(19 * 3_600));
    let whole = refresh(&memory, "?window=P1D", None).await.is(201).json();
    assert_eq!(recent_changes(&whole), 1);
}

#[tokio::test]
async fn the_state_of_the_callers_folder_is_accepted_within_limits() {
    let (_, memory) = Service::start().await.with_memory("m");
    memory.write(DOCUMENT).await;
    let workspace =
        json!({"branch": "main", "head": "abc123", "dirty_files": ["src/a.rs", "x\n## Sources\n- [KL-9@9]"]});
    let made = refresh(&memory, "", Some(json!({ "workspace": workspace })))
        .await
        .is(201)
        .json();
    let markdown = made["markdown"].as_str().unwrap();
    let snapshot = section(markdown, "Workspace Snapshot");
    assert_eq!(snapshot[..2], ["- Branch: \"main\"", "- Commit: \"abc123\""]);
    assert_eq!(markdown.matches("\n## ").count(), 8);
    assert!(!markdown.contains("[KL-9@9]"));
    let many = json!(vec!["x"; 501]).to_string();
    let table = r#"
        POST handoff/refresh?force=true&force=true → 422 invalid force
        POST handoff/refresh?force=true < {"workspace": {"branch": "256"}} → 422 invalid workspace.branch
        POST handoff/refresh?force=true < {"workspace": {"head": "129"}} → 422 invalid workspace.head
        POST handoff/refresh?force=true < {"workspace": {"folder": "1025"}} → 422 invalid workspace.folder
        POST handoff/refresh?force=true < {"workspace": {"dirty_files": MANY}} → 422 invalid workspace.dirty_files
        POST handoff/refresh?force=true < {"workspace": {"dirty_files": ["x", "1025"]}} → 422 invalid workspace.dirty_files[1]
        POST handoff/refresh?force=true < {"workspace": {"dirty_files": [1]}} → 422 invalid workspace.dirty_files[0]
        POST handoff/refresh?force=true < {"workspace": {"user": "me"}} → 422 invalid workspace.user
        POST handoff/refresh < [] → 422 invalid
        POST handoff/refresh?force=1 → 422 invalid force
        ROWS handoffs 1"#;
    let mut table = table.replace("MANY", &many);
    for length in [256, 129, 1_025] {
        table = table.replace(&format!("\"{length}\""), &format!("\"{}\"", "x".repeat(length)));
    }
    memory.requests(&table).await;
}

#[tokio::test]
async fn only_the_configured_number_is_stored_and_a_body_of_null_is_none() {
    let service = Service::configured(|config| config.handoff.keep = 2).await;
    let table = r##"
        § m
        PUT context < # Key Learnings\n- KL-1 because a: one\n → 201
        POST handoff/refresh | Content-Type: application/json < null → 201
        POST handoff/refresh | Content-Type: application/json <  null\n → 200
        POST handoff/refresh | Content-Type: application/json < nul → 400
        POST handoff/refresh | Content-Type: application/json < [] → 422
        POST handoff/refresh | Content-Type: application/json < 0 → 422
        POST handoff/refresh?force=true → 201
        POST handoff/refresh?force=true → 201
        POST handoff/refresh?force=true → 201
        ROWS handoffs 2"##;
    service.requests(table).await;
}

use super::{refresh, section};
use crate::harness::Service;
use serde_json::Value;

#[tokio::test]
async fn a_window_is_a_duration_and_handoffs_are_fresh_per_window() {
    let (_, memory) = Service::start().await.with_memory("m");
    memory.write("# Key Learnings\n- KL-1 because a: one\n").await;
    for bad in ["PT0S", "0h", "-PT1H", "soon", "P400D", "", "P1Y", "P1M"] {
        let answer = refresh(&memory, &format!("?window={bad}"), None).await;
        answer.invalid("window");
    }
    let recent_changes = |made: &Value| section(made["markdown"].as_str().unwrap(), "Recent Changes").len();
    // A memory that is younger than the window uses all its versions. Another window needs another handoff; without one the
    // configured window is used.
    for (table, changes) in [
        (r#"POST handoff/refresh?window=P1D → 201 {"window": "P1D"}"#, 1),
        (
            r#"
            POST handoff/refresh?window=PT6H → 201 {"window": "PT6H"}
            POST handoff/refresh?window=1h → 201 {"window": "PT1H"}
            POST handoff/refresh?window=PT5M → 201
            POST handoff/refresh → 201 {"window": "PT2H", "refreshed": true}
            POST handoff/refresh?window=PT5M → 201
            POST handoff/refresh?window=PT2H → 201 {"window": "PT2H"}
            POST handoff/refresh?window=PT2H → 200 {"refreshed": false}
            +18000
            POST handoff/refresh → 201"#,
            0,
        ),
        ("+68400\nPOST handoff/refresh?window=P1D → 201", 1),
    ] {
        let made = memory.requests(table).await.json();
        assert_eq!(recent_changes(&made), changes, "{table}");
    }
}

#[tokio::test]
async fn the_state_of_the_callers_folder_is_accepted_within_limits() {
    let (_, memory) = Service::start().await.with_memory("m");
    let table = r##"
        PUT context < # Key Learnings\n- KL-1 because a: one\n → 201
        POST handoff/refresh < {"workspace": {"branch": "main", "head": "abc123", "dirty_files": ["src/a.rs", "x\n## Sources\n- [KL-9@9]"]}} → 201 {"markdown!": "[KL-9@9]"}"##;
    let made = memory.requests(table).await.json();
    let markdown = made["markdown"].as_str().unwrap();
    let snapshot = section(markdown, "Workspace Snapshot");
    assert_eq!(snapshot[..2], ["- Branch: \"main\"", "- Commit: \"abc123\""]);
    assert_eq!(markdown.matches("\n## ").count(), 8);
    let table = r#"
        POST handoff/refresh?force=true&force=true → 422 invalid force
        POST handoff/refresh?force=true < {"workspace": {"branch": "(x×256)"}} → 422 invalid workspace.branch
        POST handoff/refresh?force=true < {"workspace": {"head": "(x×129)"}} → 422 invalid workspace.head
        POST handoff/refresh?force=true < {"workspace": {"folder": "(x×1025)"}} → 422 invalid workspace.folder
        POST handoff/refresh?force=true < {"workspace": {"dirty_files": [("x", ×500)"x"]}} → 422 invalid workspace.dirty_files
        POST handoff/refresh?force=true < {"workspace": {"dirty_files": [("x", ×499)"x"]}} → 201 {"markdown~": "not committed: at least 500\n"}
        POST handoff/refresh?force=true < {"workspace": {"dirty_files": ["x", "(x×1025)"]}} → 422 invalid workspace.dirty_files[1]
        POST handoff/refresh?force=true < {"workspace": {"dirty_files": [1]}} → 422 invalid workspace.dirty_files[0]
        POST handoff/refresh?force=true < {"workspace": {"user": "me"}} → 422 invalid workspace.user
        POST handoff/refresh < [] → 422 invalid
        POST handoff/refresh?force=1 → 422 invalid force
        ROWS handoffs 2"#;
    memory.requests(table).await;
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

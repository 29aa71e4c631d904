//! `PUT M/status`

use crate::harness::Service;

#[tokio::test]
async fn a_status_is_written_and_the_same_again_changes_nothing() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        PUT status < {} → 422 invalid goal
        PUT status < {"goal": "ship the\nparser"} → 201 {"goal": "ship the parser", "blocker": null, "version": 1, "unchanged": false}
        GET context → 200 =# Active Context\nGoal: ship the parser\nBlocker: none\nUpdated: 2026-11-21T02:00:00Z\n
        +60
        PUT status < {"goal": "ship the parser", "blocker": null} → 200 {"unchanged": true, "version": 1}
        PUT status < {"blocker": "review"} → 201 {"goal": "ship the parser", "blocker": "review"}
        PUT status < {"goal": " "} → 422 invalid goal
        PUT status < {"goal": "LONG"} → 422 invalid goal
        PUT status < {"goal": "x", "blocker": "a\u0000"} → 422 invalid blocker
        PUT status < [] → 422 invalid body
        GET log → 200 {"/items/0/source": "status"}"##;
    memory.requests(&table.replace("LONG", &"x".repeat(1_001))).await;
}

#[tokio::test]
async fn an_absent_member_is_unchanged_and_null_clears_it() {
    let (_, memory) = Service::start().await.agent();
    let table = r#"
        PUT status < {"blocker": "the net"} → 201 {"goal": null, "blocker": "the net"}
        PUT status < {"goal": "ship"} → 201 {"goal": "ship", "blocker": "the net"}
        PUT status < {"blocker": null} → 201 {"goal": "ship", "blocker": null}
        PUT status < {"blocker": "review"} → 201 {"goal": "ship", "blocker": "review"}
        PUT status < {"goal": null} → 201 {"goal": null, "blocker": "review"}
        PUT status < {"goal": "rest", "blocker": "none"} → 201 {"goal": "rest", "blocker": null}"#;
    memory.requests(table).await;
}

#[tokio::test]
async fn updated_is_set_by_every_change_and_free_text_stays() {
    let (_, memory) = Service::start().await.agent();
    let table = r##"
        PUT context < # Active Context\nGoal: ship\n* a note\n\n# Facts\n\ttab  \r\n```\n# no heading\n```\n → 201
        +61
        POST tasks < {"task_id": "task-1", "intent": "Step 1", "summary": "Done. All of it."} → 201
        GET context → 200 =# Active Context\nGoal: ship\nBlocker: none\nUpdated: 2026-11-21T02:01:01Z\n* a note\n\n# Facts\n\ttab  \r\n```\n# no heading\n```\n\n# Recent Tasks\n- T-1 [2026-11-21T02:01:01Z] task-1: Step 1: Done. All of it.\n"##;
    memory.requests(table).await;
}
